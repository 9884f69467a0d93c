//! The second pass: records of all CPUs in the order of time. A buffer is read when its first record is due, so memory
//! doesn't grow with the file.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

use oversleep_why::etw::{Record, Stamped};

use super::facts::{Facts, Gap, Part};
use super::file::{Buffers, Clock};
use super::needed::{Needed, Timed, each_needed, short};
use crate::Fault;
use crate::order::Plausible;
use crate::source::Source;

/// So many records may be in open buffers, whatever the number of CPUs. Each CPU has a buffer at any time, of the kernel's
/// session and perhaps of others, and any of them may be full of switches. A file that has many more buffers of one time is
/// no recording.
const RECORDS_MAX: usize = 1 << 21;
const BUFFERS_OF_A_CPU_MAX: usize = 8;

/// See the module.
pub struct Merged<'a> {
    buffers: Buffers<'a>,
    parts: std::iter::Peekable<std::vec::IntoIter<Part>>,
    gaps: std::iter::Peekable<std::vec::IntoIter<Gap>>,
    pointer: usize,
    clock: Clock,
    ticks: u64,
    plausible: Plausible,
    /// The records of open buffers, and the next one of each by its time and its buffer's place.
    open: Vec<std::vec::IntoIter<(u64, Stamped)>>,
    next: BinaryHeap<Reverse<(u64, usize)>>,
    held: Vec<Option<Stamped>>,
    free: Vec<usize>,
    count: usize,
    cpus: usize,
}

fn is_too_much(records: usize, buffers: usize, cpus: usize) -> bool {
    records > RECORDS_MAX && buffers > BUFFERS_OF_A_CPU_MAX * cpus
}

impl<'a> Merged<'a> {
    pub fn new(source: &'a dyn Source, facts: &Facts) -> Merged<'a> {
        Merged {
            buffers: Buffers::new(source),
            parts: facts.parts.clone().into_iter().peekable(),
            gaps: facts.gaps.clone().into_iter().peekable(),
            pointer: facts.header.pointer,
            clock: facts.clock,
            ticks: facts.header.ticks(),
            plausible: facts.plausible,
            open: Vec::new(),
            next: BinaryHeap::new(),
            held: Vec::new(),
            free: Vec::new(),
            count: 0,
            cpus: facts.parts.iter().map(|part| part.buffer.cpu).collect::<BTreeSet<_>>().len(),
        }
    }

    /// The next one.
    pub fn next(&mut self) -> Result<Option<Stamped>, Fault> {
        loop {
            let due = self.next.peek().map(|Reverse((t, _))| *t);
            let is_due = |part: &Part| due.is_none_or(|due| part.first <= due);
            if let Some(part) = self.parts.next_if(is_due) {
                self.begin(&part)?;
                continue;
            }
            if let Some(gap) = self.gaps.next_if(|gap| due.is_none_or(|due| gap.from < due)) {
                let [t, until] = [gap.from, gap.until].map(|t| self.clock.ns(t));
                let record = Record::Lost { until, count: 1 };
                return Ok(Some(Stamped { t, cpu: gap.cpu, thread: 0, record }));
            }
            let Some(Reverse((_, place))) = self.next.pop() else { return Ok(None) };
            let stamped = self.held[place].take();
            self.hold(place);
            return Ok(stamped);
        }
    }

    fn begin(&mut self, part: &Part) -> Result<(), Fault> {
        let Some(bytes) = self.buffers.records(&part.buffer)? else { return Ok(()) };
        let mut records = Vec::new();
        each_needed(
            &bytes,
            self.pointer,
            self.ticks,
            |_| {},
            |Timed { t, thread, found }, _| {
                let Some(record) = self.record(found).filter(|_| self.plausible.has(t)) else { return };
                records.push((t, Stamped { t: self.clock.ns(t), cpu: part.buffer.cpu, thread, record }));
            },
        );
        self.count += records.len();
        if is_too_much(self.count, self.open.len() - self.free.len() + 1, self.cpus) {
            return Err(Fault::Damaged("too many of its buffers are of one time".to_owned()));
        }
        records.sort_by_key(|(t, _)| *t);
        let place = self.free.pop().unwrap_or(self.open.len());
        if place == self.open.len() {
            self.open.push(Vec::new().into_iter());
            self.held.push(None);
        }
        self.open[place] = records.into_iter();
        self.hold(place);
        Ok(())
    }

    /// Holds the next record of a buffer, or ends it.
    fn hold(&mut self, place: usize) {
        match self.open[place].next() {
            Some((t, stamped)) => {
                self.held[place] = Some(stamped);
                self.next.push(Reverse((t, place)));
                self.count -= 1;
            }
            None => {
                self.open[place] = Vec::new().into_iter();
                self.free.push(place);
            }
        }
    }

    fn record(&self, found: Needed) -> Option<Record> {
        Some(match found {
            Needed::Record(Record::Handler { began, is_interrupt }) => {
                Record::Handler { began: self.clock.ns(began), is_interrupt }
            }
            Needed::Record(record) => record,
            Needed::Process { process, name } => Record::Process { process, name: short(&name) },
            Needed::ThreadName { process, thread, name } => Record::ThreadName { process, thread, name },
            Needed::Period { .. } | Needed::Clock { .. } | Needed::Compact => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_of_many_cpus_may_have_a_full_buffer_on_each() {
        // A record of a switch has 48 bytes, and a buffer usually 1 MB.
        let full = (1 << 20) / 48;
        for cpus in [8, 96, 128, 1_024] {
            assert!(!is_too_much(2 * cpus * full, 2 * cpus, cpus), "{cpus}");
        }
        assert!(is_too_much(100 * full, 100, 8) && !is_too_much(1_000, 100, 8));
    }
}
