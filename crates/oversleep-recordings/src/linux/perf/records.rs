//! The records of perf.data: samples, losses, names, ends of rounds.

use super::super::format::{Raw, name};
use super::super::point::{Point, What};
use super::attrs::Attr;
use super::{CONFIRM, F_TRACING_DATA, FINISHED_ROUND, HEADER_ATTR, HEADER_FEATURE, Perf, attr_of, clock};
use crate::cursor::Bytes;
use crate::order::{Order, SLIP_NS};
use crate::{CPUS_MAX, packed};

/// Kinds of records.
const LOST: u32 = 2;
const COMM: u32 = 3;
const SAMPLE: u32 = 9;
const LOST_SAMPLES: u32 = 13;
/// What the head of such a record says of samples that a filter of perf's left out.
const LEFT_OUT: u16 = 1 << 15;

/// What a sample has, by its bits.
const S_IP: u64 = 1;
const S_TID: u64 = 1 << 1;
const S_TIME: u64 = 1 << 2;
const S_ADDR: u64 = 1 << 3;
const S_READ: u64 = 1 << 4;
const S_CALLCHAIN: u64 = 1 << 5;
const S_ID: u64 = 1 << 6;
const S_CPU: u64 = 1 << 7;
const S_PERIOD: u64 = 1 << 8;
const S_STREAM: u64 = 1 << 9;
const S_RAW: u64 = 1 << 10;
const S_IDENTIFIER: u64 = 1 << 16;

impl Perf<'_> {
    pub(super) fn take(&mut self, record: &[u8]) {
        let kind = Bytes(record).u32().unwrap_or(0);
        let rest = record.get(8..).unwrap_or_default();
        match kind {
            SAMPLE => {
                self.sample(rest);
            }
            FINISHED_ROUND => match &mut self.packed {
                Some(packed) => packed.rounds.push_back(packed.total_out.saturating_add(packed::WINDOW_MAX)),
                None => self.end_round(),
            },
            // A filter left those out: they aren't lost.
            LOST_SAMPLES if record.get(4..6).is_some_and(|misc| Bytes(misc).u16() == Some(LEFT_OUT)) => {}
            LOST | LOST_SAMPLES => {
                let at = if kind == LOST { 8 } else { 0 };
                let count = rest.get(at..).and_then(|rest| Bytes(rest).u64()).unwrap_or(1).max(1);
                match self.trailer(rest) {
                    None | Some((0, _)) => self.lost[1] = self.lost[1].saturating_add(count),
                    Some((t, cpu)) => {
                        self.lost[0] = self.lost[0].saturating_add(count);
                        self.push(Point { t, cpu, tid: 0, tgid: None, what: What::Gap { until: t, count } });
                    }
                }
            }
            COMM => {
                let mut bytes = Bytes(rest);
                if let (Some(tgid), Some(tid)) = (bytes.u32(), bytes.u32()) {
                    let what = What::Named { tid, tgid, name: name(bytes.0) };
                    // Names of tasks that ran before have the time 0.
                    let (t, cpu) = self.trailer(rest).unwrap_or((0, 0));
                    self.push(Point { t, cpu, tid, tgid: Some(tgid), what });
                }
            }
            HEADER_ATTR => {
                let size = rest.get(4..8).and_then(|size| Bytes(size).u32()).unwrap_or(0) as usize;
                let Some((attr, ids)) = rest.split_at_checked(size) else { return };
                if let Some((attr, clock_id)) = attr_of(attr) {
                    self.head.clock = clock(clock_id).unwrap_or(&self.head.clock).to_owned();
                    self.attrs.push(attr, Bytes(ids));
                }
            }
            HEADER_FEATURE => {
                if let Some((bit, bytes)) = rest.split_at_checked(8) {
                    let bit = Bytes(bit).u64().unwrap_or(0);
                    if bit != u64::from(F_TRACING_DATA) {
                        self.feature(u32::try_from(bit).unwrap_or(0), bytes);
                    }
                }
            }
            _ => {}
        }
    }

    /// perf (Linux 6.1 and later) counts at its end what was lost, without a time. The kernel tells of a loss when there is
    /// room again; what it hasn't told of was lost last.
    pub(super) fn end_losses(&mut self) {
        let [told, counted] = std::mem::take(&mut self.lost);
        let last = self.last.iter().enumerate().max_by_key(|(_, last)| **last);
        if let (Some((cpu, &until)), Some(count @ 1..)) = (last, counted.checked_sub(told)) {
            let what = What::Gap { until, count };
            self.waiting.push(Point { t: until, cpu: cpu as u16, tid: 0, tgid: None, what });
        }
    }

    /// Time and CPU of a record that is no sample: they are at its end.
    fn trailer(&self, rest: &[u8]) -> Option<(u64, u16)> {
        let attr = self.attrs.of(None).filter(|attr| attr.has_ids)?;
        let has = |bit: u64| attr.samples & bit != 0;
        let bits = [S_TID, S_TIME, S_ID, S_STREAM, S_CPU, S_IDENTIFIER];
        let size = bits.iter().filter(|&&bit| has(bit)).count() * 8;
        let mut bytes = Bytes(rest.get(rest.len().checked_sub(size)?..)?);
        if has(S_TID) {
            bytes.u64()?;
        }
        let t = if has(S_TIME) { bytes.u64()? } else { 0 };
        for _ in [S_ID, S_STREAM].iter().filter(|&&bit| has(bit)) {
            bytes.u64()?;
        }
        let cpu = if has(S_CPU) { bytes.u32()? } else { 0 };
        (cpu < CPUS_MAX).then_some((t, cpu as u16))
    }

    fn sample(&mut self, rest: &[u8]) -> Option<()> {
        let first = self.attrs.of(None)?;
        // Samples of different kinds begin with the id of theirs.
        let id = (first.samples & S_IDENTIFIER != 0).then(|| Bytes(rest).u64()).flatten();
        let Attr { samples, read_format, .. } = self.attrs.of(id)?;
        let has = |bit: u64| samples & bit != 0;
        let mut bytes = Bytes(rest);
        for _ in [S_IDENTIFIER, S_IP].iter().filter(|&&bit| has(bit)) {
            bytes.u64()?;
        }
        let (tgid, tid) = if has(S_TID) { (Some(bytes.u32()?), bytes.u32()?) } else { (None, 0) };
        let t = if has(S_TIME) { bytes.u64()? } else { return None };
        for _ in [S_ADDR, S_ID, S_STREAM].iter().filter(|&&bit| has(bit)) {
            bytes.u64()?;
        }
        let cpu = if has(S_CPU) { bytes.u64()? as u32 } else { 0 };
        if has(S_PERIOD) {
            bytes.u64()?;
        }
        if has(S_READ) {
            // Each value may have an id and a count of losses; a group has their number first.
            let more = (read_format >> 2 & 1) + (read_format >> 4 & 1);
            let times = (read_format & 1) + (read_format >> 1 & 1);
            let count = if read_format >> 3 & 1 != 0 { bytes.u64()? } else { 1 };
            let size = times.checked_add(count.checked_mul(1 + more)?)?.checked_mul(8)?;
            bytes.take(usize::try_from(size).ok()?)?;
        }
        if has(S_CALLCHAIN) {
            let size = bytes.u64()?.checked_mul(8)?;
            bytes.take(usize::try_from(size).ok()?)?;
        }
        if !has(S_RAW) || cpu >= CPUS_MAX {
            return None;
        }
        let size = bytes.u32()? as usize;
        let record = bytes.take(size)?;
        let id = Bytes(record).u16()?;
        let layout = self.described.layout(id)?;
        self.counts.add(layout.place);
        // A task that has exited has no id any more.
        let tgid = tgid.filter(|&tgid| tgid != u32::MAX);
        let tid = if tid == u32::MAX { 0 } else { tid };
        self.push(Point { t, cpu: cpu as u16, tid, tgid, what: Raw::what(record, layout) });
        Some(())
    }

    fn push(&mut self, point: Point) {
        // Names that were told of no time come first; nothing else is of that time.
        if point.t == 0 {
            if matches!(point.what, What::Named { .. }) {
                self.waiting.push(point);
            }
            return;
        }
        let cpu = usize::from(point.cpu);
        if self.orders.len() <= cpu {
            self.orders.resize_with(cpu + 1, || Order::new(SLIP_NS, CONFIRM));
            self.last.resize(cpu + 1, 0);
        }
        self.with_order(cpu, |order, f| order.push(point.t, point, f));
    }

    /// Does something with what may be held of a CPU; what isn't any more is taken.
    pub(super) fn with_order(&mut self, cpu: usize, mut f: impl FnMut(&mut Order<Point>, &mut dyn FnMut(Point, u64))) {
        let Perf { orders, last, waiting, round_max, .. } = self;
        let last = &mut last[cpu];
        f(&mut orders[cpu], &mut |mut point, dropped| {
            if dropped != 0 {
                waiting.push(point.gap_before(*last, dropped));
            }
            match &point.what {
                What::Gap { until, .. } => {
                    point.t = Some(*last).filter(|&last| last != 0).unwrap_or(*until).min(*until)
                }
                What::Named { .. } => {}
                _ => *last = point.t,
            }
            *round_max = (*round_max).max(point.t);
            waiting.push(point);
        });
    }
}
