//! perf.data: files, streams (`perf record -o -`), and both compressed by zstd (`-z`).

mod attrs;
mod order;
mod records;

use std::collections::VecDeque;

use ruzstd::decoding::FrameDecoder;

use self::attrs::{Attrs, attr_of, clock};
use self::order::Waiting;
use super::format::Described;
use super::point::{Counts, Point};
use super::{Head, Stream, printable, stated_arch};
use crate::cursor::{Bytes, Cursor};
use crate::order::Order;
use crate::source::Source;
use crate::{Fault, Format, packed};

pub const FORMAT: Format = Format {
    name: "perf.data",
    way: "linux",
    knows: |head| MAGICS.iter().any(|magic| head.starts_with(&magic[..])),
    open: |source, way| super::opened(source, way, open),
};

/// Of today, the same of a big-endian machine, and of perf before Linux 3.4.
const MAGICS: [&[u8; 8]; 3] = [b"PERFILE2", b"2ELIFREP", b"PERFFILE"];
/// The size of the head of a stream; that of a file is longer.
const PIPE_HEAD: u64 = 16;
/// The most that is read of a section of the head.
const HEAD_MAX: u64 = 64 << 20;
/// The most points that wait for earlier ones.
const WAITING_MAX: usize = 1 << 18;
/// How many records in a row are believed when they jump ahead: each has a time of its own.
const CONFIRM: usize = 4;

/// Kinds of records.
const HEADER_ATTR: u32 = 64;
const TRACING_DATA: u32 = 66;
const FINISHED_ROUND: u32 = 68;
const AUXTRACE: u32 = 71;
const HEADER_FEATURE: u32 = 80;
const COMPRESSED: u32 = 81;
const COMPRESSED2: u32 = 83;
/// Records from here on are of simpleperf, Android's own perf, and may have more than 64 KB.
const SIMPLEPERF: u32 = 32_768;
const SIMPLEPERF_TRACING_DATA: u32 = SIMPLEPERF + 9;

/// Parts of the head, by their bits.
const F_TRACING_DATA: u32 = 1;
const F_OSRELEASE: u32 = 4;
const F_VERSION: u32 = 5;
const F_ARCH: u32 = 6;

struct Perf<'a> {
    head: Head,
    described: Described,
    attrs: Attrs,
    cursor: Cursor<'a>,
    end: u64,
    /// The record that is taken.
    record: Vec<u8>,
    packed: Option<Packed>,
    /// By CPU: what isn't in `waiting` yet, since its time may be damaged.
    orders: Vec<Order<Point>>,
    waiting: Waiting,
    /// Events up to that time have all come: it is the latest one of the round before the last.
    complete: u64,
    round_max: u64,
    last_max: u64,
    /// By CPU: the time of its last event.
    last: Vec<u64>,
    counts: Counts,
    is_over: bool,
    /// Nothing is held any more.
    is_told: bool,
    is_broken: bool,
    /// What describes the events was read whole.
    is_described: bool,
    /// Losses that have a place, and those that were counted at the end, which may be the same ones.
    lost: [u64; 2],
}

/// A compressed stream that never ends, and what came out of it so far.
struct Packed {
    decoder: FrameDecoder,
    input: Vec<u8>,
    /// What comes out at once.
    piece: Vec<u8>,
    output: Vec<u8>,
    used: usize,
    total_in: u64,
    total_out: u64,
    /// Rounds that ended when so much had come out: what they have may come out a window later.
    rounds: VecDeque<u64>,
}

fn open<'a>(source: &'a dyn Source) -> Result<Box<dyn Stream + 'a>, Fault> {
    let mut cursor = Cursor::new(source, 0);
    let mut head = Bytes(cursor.peek(16)?.ok_or(Fault::CutOff)?);
    head.take(8);
    let size = head.u64().ok_or(Fault::CutOff)?;
    if size > u64::from(u32::MAX) {
        return Err(Fault::Unread("it is of a big-endian machine".to_owned()));
    }
    let mut file = Perf {
        head: Head::of("perf"),
        described: Described::default(),
        attrs: Attrs::default(),
        cursor: Cursor::new(source, PIPE_HEAD),
        end: source.size(),
        record: Vec::new(),
        packed: None,
        orders: Vec::new(),
        waiting: Waiting::default(),
        complete: 0,
        round_max: 0,
        last_max: 0,
        last: Vec::new(),
        counts: Counts::default(),
        is_over: false,
        is_told: false,
        is_broken: false,
        is_described: false,
        lost: [0; 2],
    };
    if size != PIPE_HEAD {
        file.sections(&mut cursor)?;
    }
    Ok(Box::new(file))
}

impl Perf<'_> {
    /// Reads what surrounds the records of a file.
    fn sections(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Fault> {
        let mut head = Bytes(cursor.peek(104)?.ok_or(Fault::CutOff)?);
        head.take(16);
        let numbers: Vec<u64> = std::iter::from_fn(|| head.u64()).collect();
        let [attr_size, attrs, attrs_size, data, data_size, _, _, features @ ..] = &numbers[..] else {
            return Err(Fault::CutOff);
        };
        let (attr_size, bits) = (*attr_size, features.first().copied().unwrap_or(0));
        if !(64 + 16..=4096).contains(&attr_size) || *attrs_size > HEAD_MAX {
            return Err(Fault::Damaged("its head states impossible sizes".to_owned()));
        }
        self.cursor = Cursor::new_at(&self.cursor, *data);
        self.end = data.saturating_add(*data_size);
        let mut at = *attrs;
        for _ in 0..(attrs_size / attr_size).min(attrs::ATTRS_MAX as u64) {
            cursor.seek(at);
            let attr = cursor.peek(attr_size as usize)?.ok_or(Fault::CutOff)?;
            let (attr, mut ids) = attr.split_at(attr.len() - 16);
            let (attr, clock_id) = attr_of(attr).ok_or(Fault::CutOff)?;
            self.head.clock = clock(clock_id).unwrap_or(&self.head.clock).to_owned();
            let place = Bytes(ids).u64().ok_or(Fault::CutOff)?;
            ids = &ids[8..];
            let size = Bytes(ids).u64().ok_or(Fault::CutOff)?.min(8 * self.attrs.room() as u64) as usize;
            cursor.seek(place);
            self.attrs.push(attr, Bytes(cursor.peek(size)?.unwrap_or_default()));
            at = at.saturating_add(attr_size);
        }
        let mut table = self.end;
        for bit in (0..64).filter(|bit| bits >> bit & 1 != 0) {
            cursor.seek(table);
            // A recorder that was killed has written none of them.
            let place = cursor.peek(16)?.map(Bytes).and_then(|mut place| Some((place.u64()?, place.u64()?)));
            let Some((at, size)) = place else {
                self.is_broken = true;
                break;
            };
            table += 16;
            if size > HEAD_MAX || ![F_TRACING_DATA, F_OSRELEASE, F_VERSION, F_ARCH].contains(&bit) {
                continue;
            }
            cursor.seek(at);
            let Some(bytes) = cursor.peek(size as usize)? else {
                self.is_broken = true;
                break;
            };
            self.feature(bit, bytes);
        }
        Ok(())
    }

    fn feature(&mut self, bit: u32, bytes: &[u8]) {
        let text = || printable(bytes.get(4..).unwrap_or_default().split(|&byte| byte == 0).next().unwrap_or_default());
        match bit {
            F_TRACING_DATA => self.tracing_data(bytes),
            F_OSRELEASE => self.head.kernel = text(),
            F_VERSION => self.head.recorder = format!("perf {}", text()),
            F_ARCH => self.head.arch = stated_arch(&text()).or(self.head.arch),
            _ => {}
        }
    }

    fn tracing_data(&mut self, bytes: &[u8]) {
        let mut bytes = Bytes(bytes);
        let mut read = || {
            (bytes.take(10)? == b"\x17\x08\x44tracing").then_some(())?;
            let version = bytes.text()?;
            let is_big = bytes.take(1)? != [0];
            bytes.take(5)?;
            (!is_big).then_some(())?;
            self.described.all(&mut bytes, *version > *b"0.5".as_slice())
        };
        self.is_described = read().is_some();
        self.is_broken |= !self.is_described;
        self.head.names.append(&mut self.described.names);
    }

    /// Takes the next record; whether there was one.
    fn next_record(&mut self) -> Result<bool, Fault> {
        let mut record = std::mem::take(&mut self.record);
        record.clear();
        let is_more = self.next_record_in(&mut record);
        self.record = record;
        is_more
    }

    fn next_record_in(&mut self, record: &mut Vec<u8>) -> Result<bool, Fault> {
        if let Some(packed) = &mut self.packed {
            let rest = packed.output.get(packed.used..).unwrap_or_default();
            if let Some(whole) = size_of(rest).filter(|&size| size >= 8).and_then(|size| rest.get(..size)) {
                record.extend_from_slice(whole);
                packed.used += whole.len();
                self.take(record);
                return Ok(true);
            }
        }
        if self.cursor.at() >= self.end {
            return Ok(self.last_of_packed());
        }
        let Some(head) = self.cursor.peek(8)? else {
            self.is_broken = true;
            return Ok(self.last_of_packed());
        };
        let (kind, size) = (Bytes(head).u32().unwrap_or(0), size_of(head).unwrap_or(0));
        let Some(whole) = (if size < 8 { None } else { self.cursor.peek(size)? }) else {
            (self.is_broken, self.end) = (true, 0);
            return Ok(self.last_of_packed());
        };
        record.extend_from_slice(whole);
        self.cursor.pass(size);
        match kind {
            COMPRESSED => self.unpack(&record[8..])?,
            COMPRESSED2 => {
                let mut rest = Bytes(&record[8..]);
                let size = rest.u64().and_then(|size| usize::try_from(size).ok()).unwrap_or(0);
                let data = rest.take(size.min(rest.0.len())).unwrap_or_default();
                self.unpack(data)?;
            }
            TRACING_DATA => {
                let size = u64::from(Bytes(&record[8..]).u32().unwrap_or(0));
                let padded = size.next_multiple_of(8);
                match self.cursor.peek(size.min(HEAD_MAX) as usize)?.map(<[u8]>::to_vec) {
                    Some(bytes) => self.tracing_data(&bytes),
                    None => self.is_broken = true,
                }
                self.cursor.seek(self.cursor.at().saturating_add(padded));
            }
            SIMPLEPERF_TRACING_DATA => self.tracing_data(record.get(12..).unwrap_or_default()),
            AUXTRACE => {
                let size = Bytes(&record[8..]).u64().unwrap_or(0);
                self.cursor.seek(self.cursor.at().saturating_add(size));
            }
            _ => self.take(record),
        }
        Ok(true)
    }

    /// Decompresses a further piece of the stream.
    fn unpack(&mut self, data: &[u8]) -> Result<(), Fault> {
        let packed = self.packed.get_or_insert_with(|| {
            let mut decoder = FrameDecoder::new();
            decoder.set_max_window_size(packed::WINDOW_MAX);
            Packed {
                decoder,
                input: Vec::new(),
                piece: vec![0; 1 << 17],
                output: Vec::new(),
                used: 0,
                total_in: 0,
                total_out: 0,
                rounds: VecDeque::new(),
            }
        });
        packed.input.extend_from_slice(data);
        packed.total_in += data.len() as u64;
        if !packed.decode() {
            (self.is_broken, self.end) = (true, 0);
        }
        self.end_rounds();
        Ok(())
    }

    /// The stream has no end of its own: an empty last block brings out its last window. Whether more came out.
    fn last_of_packed(&mut self) -> bool {
        let Some(packed) = &mut self.packed else { return false };
        if std::mem::replace(&mut self.is_over, true) {
            return false;
        }
        packed.input.extend_from_slice(&[1, 0, 0]);
        packed.decode();
        packed.used < packed.output.len()
    }

    fn end_rounds(&mut self) {
        let Some(packed) = &mut self.packed else { return };
        let mut ended = 0;
        while packed.rounds.front().is_some_and(|&at| packed.total_out >= at) {
            packed.rounds.pop_front();
            ended += 1;
        }
        (0..ended).for_each(|_| self.end_round());
    }

    /// What comes after two ends of rounds is later than all that came before the first one.
    fn end_round(&mut self) {
        let mut complete = self.last_max;
        for cpu in 0..self.orders.len() {
            self.with_order(cpu, |order, f| order.age(f));
            complete = complete.min(self.orders[cpu].earliest_held().map_or(u64::MAX, |t| t.saturating_sub(1)));
        }
        self.complete = self.complete.max(complete);
        self.last_max = self.round_max;
    }
}

/// The size that a record's head states.
fn size_of(head: &[u8]) -> Option<usize> {
    let mut head = Bytes(head);
    let (kind, misc, size) = (head.u32()?, head.u16()?, head.u16()?);
    Some(usize::from(size) | if kind >= SIMPLEPERF { usize::from(misc) << 16 } else { 0 })
}

impl Packed {
    /// Decodes what is there; whether that is possible.
    fn decode(&mut self) -> bool {
        self.output.drain(..self.used);
        self.used = 0;
        let mut read_in = 0;
        let is_fine = loop {
            match self.decoder.decode_from_to(&self.input[read_in..], &mut self.piece) {
                Ok((0, 0)) => break true,
                Ok((read, written)) => {
                    read_in = read_in.saturating_add(read).min(self.input.len());
                    self.output.extend_from_slice(&self.piece[..written]);
                    self.total_out += written as u64;
                    if self.total_out > (1 << 20) + self.total_in.saturating_mul(packed::RATIO_MAX as u64) {
                        break false;
                    }
                }
                Err(_) => break false,
            }
        };
        self.input.drain(..read_in);
        is_fine
    }
}

impl Stream for Perf<'_> {
    fn head(&self) -> &Head {
        &self.head
    }

    fn counts(&self) -> Counts {
        self.counts
    }

    fn is_truncated(&self) -> bool {
        self.is_broken || self.orders.iter().any(Order::has_dropped)
    }

    fn may_have(&self, tracepoint: &str) -> bool {
        !self.is_described || self.described.has(tracepoint)
    }

    fn next(&mut self) -> Result<Option<Point>, Fault> {
        loop {
            let is_complete = self.waiting.earliest_t().is_some_and(|t| t <= self.complete);
            if is_complete || self.waiting.count() >= WAITING_MAX {
                break;
            }
            if !self.next_record()? {
                if !std::mem::replace(&mut self.is_told, true) {
                    (0..self.orders.len()).for_each(|cpu| self.with_order(cpu, |order, f| order.flush(f)));
                    self.end_losses();
                }
                break;
            }
        }
        Ok(self.waiting.pop())
    }
}
