//! Pages of the kernel's ring buffer, as trace.dat has them.

use super::format::{Described, Raw};
use super::point::{Counts, Point};
use crate::cursor::Bytes;

/// Bits of a page's fill level: events before it are missing; and their number follows its data.
const MISSED: u64 = 1 << 31;
const MISSED_STORED: u64 = 1 << 30;
const SIZE: u64 = (1 << 27) - 1;

/// A page that is being read.
#[derive(Debug, Default)]
pub struct Page {
    bytes: Vec<u8>,
    at: usize,
    end: usize,
    t: u64,
    /// How many events are missing before it; 0 if none is.
    pub missed: u64,
}

impl Page {
    /// Begins with these bytes; whether they are a page.
    pub fn load(&mut self, bytes: &[u8], long_size: usize) -> bool {
        self.bytes.clear();
        self.bytes.extend_from_slice(bytes);
        let mut head = Bytes(&self.bytes);
        let read = |head: &mut Bytes<'_>| {
            let t = head.u64()?;
            let commit = if long_size == 4 { head.u32()?.into() } else { head.u64()? };
            Some((t, commit))
        };
        let Some((t, commit)) = read(&mut head) else { return false };
        let start = 8 + long_size;
        let end = start.saturating_add((commit & SIZE & !MISSED_STORED) as usize);
        if end > self.bytes.len() {
            return false;
        }
        let stored = self.bytes.get(end..end + 8).filter(|_| commit & MISSED_STORED != 0);
        let stored = stored.and_then(|bytes| bytes.try_into().ok()).map_or(1, u64::from_le_bytes);
        self.missed = if commit & MISSED != 0 { stored.max(1) } else { 0 };
        (self.t, self.at, self.end) = (t, start, end);
        true
    }

    /// The next event that is needed.
    pub fn next(&mut self, cpu: u16, described: &Described, counts: &mut Counts) -> Option<Point> {
        loop {
            let mut bytes = Bytes(self.bytes.get(self.at..self.end)?);
            let before = bytes.0.len();
            let head = bytes.u32()?;
            let (kind, delta) = (head & 31, u64::from(head >> 5));
            let data = match kind {
                29 if delta == 0 => return None,
                29 => {
                    let length = bytes.u32()? as usize;
                    bytes.take(length.checked_sub(4)?)?;
                    None
                }
                30 => {
                    self.t = self.t.wrapping_add(delta | u64::from(bytes.u32()?) << 27);
                    None
                }
                31 => {
                    // It has 59 bits; the highest ones stay.
                    let stamp = delta | u64::from(bytes.u32()?) << 27;
                    self.t = stamp | self.t & (0x1f << 59);
                    None
                }
                0 => {
                    let length = bytes.u32()? as usize;
                    Some(bytes.take(length.checked_sub(4)?.next_multiple_of(4))?)
                }
                words => Some(bytes.take(words as usize * 4)?),
            };
            let used = before - bytes.0.len();
            if matches!(kind, 0..=29) {
                self.t = self.t.wrapping_add(delta);
            }
            let from = self.at + used - data.map_or(0, <[u8]>::len);
            let to = self.at + used;
            self.at = to;
            if data.is_none() {
                continue;
            }
            let record = self.bytes.get(from..to)?;
            let mut common = Bytes(record);
            let (Some(id), Some(_), Some(tid)) = (common.u16(), common.u16(), common.u32()) else { continue };
            if let Some(layout) = described.layout(id) {
                counts.add(layout.place);
                let what = Raw::what(record, layout);
                return Some(Point { t: self.t, cpu, tid, tgid: None, what });
            }
        }
    }
}
