//! Version 7 that is cut off: the options that say where each CPU's events are lie behind them. Sections state how long they
//! are, so the events are found from the first one on.

use super::{BUFFER, SECTIONS_MAX, TraceDat};
use crate::cursor::{Bytes, Cursor};
use crate::linux::What;
use crate::linux::point::{Counts, Point};
use crate::source::Source;
use crate::{CPUS_MAX, Fault};

/// How many pages of a CPU are read for its number.
const PAGES_MAX: usize = 256;

impl<'a> TraceDat<'a> {
    /// Finds the first buffer's events from the first section on.
    pub fn buffer_from(&mut self, source: &'a dyn Source, mut at: u64) -> Result<(), Fault> {
        for _ in 0..SECTIONS_MAX {
            let mut cursor = Cursor::with_window(source, at, 16);
            let mut head = Bytes(cursor.peek(16)?.ok_or(Fault::CutOff)?);
            let (id, flags, _) = (head.u16(), head.u16().unwrap_or(0), head.u32());
            let size = head.u64().ok_or(Fault::CutOff)?;
            let end = (at + 16).saturating_add(size);
            if id == Some(BUFFER) {
                // Its size is written when it ends.
                let end = if size == 0 { source.size() } else { end.min(source.size()) };
                return self.cpus_within(source, at + 16, end, flags & 1 != 0);
            }
            at = end;
        }
        Err(Fault::CutOff)
    }

    /// Each CPU's events begin with a page.
    fn cpus_within(&mut self, source: &'a dyn Source, at: u64, end: u64, is_compressed: bool) -> Result<(), Fault> {
        let page = self.page_size as u64;
        let mut number = 0;
        let mut at = at.next_multiple_of(page);
        while at < end && number < CPUS_MAX {
            let size =
                if is_compressed { size_of_chunks(source, at, end)? } else { size_of_pages(source, at, end, page)? };
            if size == 0 {
                break;
            }
            // One without events leaves no trace.
            self.add_cpu(source, number, at, size, is_compressed)?;
            number = self.number_of_last()?.unwrap_or(number);
            self.cpus.pop();
            self.add_cpu(source, number, at, size, is_compressed)?;
            number += 1;
            at = (at + size).next_multiple_of(page);
        }
        Ok(())
    }

    /// The number of the last CPU, by the name of its idle task; its events are used up.
    fn number_of_last(&mut self) -> Result<Option<u32>, Fault> {
        let mut counts = Counts::default();
        let Some(cpu) = self.cpus.last_mut() else { return Ok(None) };
        for _ in 0..PAGES_MAX {
            if !cpu.load(self.page_size, self.long_size)? {
                break;
            }
            while let Some(point) = cpu.page.next(cpu.number, &self.described, &mut counts) {
                if let Some(number) = number_by(&point) {
                    return Ok(Some(number));
                }
            }
        }
        Ok(None)
    }
}

fn number_by(point: &Point) -> Option<u32> {
    let What::Switch { from, to, .. } = point.what else { return None };
    let idle = [from, to].into_iter().find(|task| task.tid == 0)?;
    let name = str::from_utf8(&idle.name).ok()?.trim_end_matches('\0');
    name.strip_prefix("swapper/")?.parse().ok().filter(|&number| number < CPUS_MAX)
}

/// How much a CPU's compressed events take, up to the end of what is there.
fn size_of_chunks(source: &dyn Source, at: u64, end: u64) -> Result<u64, Fault> {
    let mut cursor = Cursor::with_window(source, at, 16);
    let count = cursor.peek(4)?.map(Bytes).and_then(|mut count| count.u32()).unwrap_or(0);
    cursor.pass(4);
    for _ in 0..count {
        let packed = cursor.peek(8)?.map(Bytes).and_then(|mut sizes| sizes.u32()).filter(|&packed| packed != 0);
        let Some(packed) = packed.filter(|_| cursor.at() < end) else { return Ok(end - at) };
        cursor.pass(8);
        cursor.pass(packed as usize);
    }
    Ok(if count == 0 { 0 } else { cursor.at().min(end) - at })
}

/// The same of plain ones: a page that is older than the one before it is another CPU's.
fn size_of_pages(source: &dyn Source, at: u64, end: u64, page: u64) -> Result<u64, Fault> {
    let (mut to, mut before) = (at, 0);
    while to < end {
        let mut t = [0; 8];
        source.read_at(to, &mut t)?;
        let t = u64::from_le_bytes(t);
        if t < before {
            break;
        }
        (to, before) = (to.saturating_add(page), t);
    }
    Ok(to.min(end) - at)
}
