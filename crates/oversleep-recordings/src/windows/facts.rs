//! The first pass over a trace: what it holds, when each buffer's records are, whose threads and names there are, which
//! timer resolutions, and where records are missing.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use foldhash::fast::RandomState;
use oversleep_why::calls::Arch;
use oversleep_why::etw::{Period, Record, Timeline};
use oversleep_why::event::Name;

use super::event::Raw;
use super::file::{Buffer, Buffers, Clock, HEAD, Header};
use super::needed::{KINDS, Needed, Timed, arch, each_needed};
use crate::Fault;
use crate::order::{Plausible, Seconds};
use crate::source::Source;

type Map<K, V> = HashMap<K, V, RandomState>;

/// The most threads, processes and gaps that are kept.
const KEPT_MAX: usize = 65_536;

/// A buffer with needed records, by the file's clock.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    pub buffer: Buffer,
    pub first: u64,
    last: u64,
    /// When its first switch is and which thread leaves the CPU there, and the same for the thread that its last one brings.
    left: Option<(u64, u32)>,
    brought: Option<(u64, u32)>,
}

impl Part {
    /// Leaves out what is outside.
    fn limit(&mut self, plausible: &Plausible) {
        (self.first, self.last) = (self.first.max(plausible.from), self.last.min(plausible.until));
        self.left = self.left.filter(|(t, _)| plausible.has(*t));
        self.brought = self.brought.filter(|(t, _)| plausible.has(*t));
    }
}

/// From when to when records of a CPU are missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Gap {
    pub from: u64,
    pub until: u64,
    pub cpu: u16,
}

/// See the module.
pub struct Facts {
    pub header: Header,
    pub arch: Option<Arch>,
    pub clock: Clock,
    /// From the first needed record to the last one.
    pub span_ns: u64,
    pub counts: [u64; KINDS.len()],
    pub records: u64,
    pub parts: Vec<Part>,
    pub gaps: Vec<Gap>,
    /// By thread: its process and its own name, as first told.
    pub threads: Map<u32, (u64, u32, Option<Name>)>,
    pub programs: BTreeMap<u32, (u64, String)>,
    pub timeline: Timeline,
    /// When its records can be.
    pub plausible: Plausible,
    pub is_truncated: bool,
}

impl Facts {
    /// Of a whole file.
    pub fn of(source: &dyn Source) -> Result<Facts, Fault> {
        let mut head = vec![0; HEAD + 512];
        let read = source.read_at(0, &mut head)?;
        head.truncate(read);
        let header = Header::of(&head).ok_or(Fault::CutOff)?;
        let mut learnt = Learnt::new(header);
        let mut buffers = Buffers::new(source);
        let mut sequences: BTreeMap<u16, Vec<u64>> = BTreeMap::new();
        let mut is_first = true;
        while let Some((buffer, bytes)) = buffers.next()? {
            // The first buffer is about the file, and has no number.
            if !std::mem::take(&mut is_first) {
                sequences.entry(buffer.logger).or_default().push(buffer.sequence);
            }
            learnt.see(buffer, &bytes);
        }
        let is_truncated = buffers.is_truncated || learnt.is_damaged;
        learnt.into_facts(&missing(sequences), is_truncated)
    }

    pub fn count(&self, kind: &str) -> u64 {
        KINDS.iter().zip(self.counts).find(|(name, _)| **name == kind).map_or(0, |(_, count)| count)
    }
}

/// The numbers of buffers that a session wrote and that aren't there.
fn missing(sequences: BTreeMap<u16, Vec<u64>>) -> BTreeSet<u64> {
    let mut all = BTreeSet::new();
    for mut numbers in sequences.into_values() {
        numbers.sort_unstable();
        for two in numbers.windows(2) {
            all.extend((two[0] + 1..two[1]).take(KEPT_MAX.saturating_sub(all.len())));
        }
    }
    all
}

struct Learnt {
    header: Header,
    arch: Option<Arch>,
    counts: [u64; KINDS.len()],
    records: u64,
    parts: Vec<Part>,
    gaps: Vec<Gap>,
    threads: Map<u32, (u64, u32, Option<Name>)>,
    programs: BTreeMap<u32, (u64, String)>,
    periods: Vec<(u64, Needed)>,
    longest: u32,
    seconds: Seconds,
    is_damaged: bool,
}

impl Learnt {
    fn new(header: Header) -> Learnt {
        Learnt {
            header,
            arch: None,
            counts: [0; KINDS.len()],
            records: 0,
            parts: Vec::new(),
            gaps: Vec::new(),
            threads: Map::default(),
            programs: BTreeMap::new(),
            periods: Vec::new(),
            longest: 0,
            seconds: Seconds::new(header.ticks()),
            is_damaged: false,
        }
    }

    fn see(&mut self, buffer: Buffer, bytes: &[u8]) {
        let mut part: Option<Part> = None;
        let pointer = self.header.pointer;
        let (mut records, mut told) = (0, self.arch);
        let see = |raw: &Raw<'_>| {
            records += 1;
            told = told.or_else(|| arch(raw, pointer));
        };
        let is_whole = each_needed(bytes, pointer, self.header.ticks(), see, |Timed { t, found, .. }, dropped| {
            self.counts[found.kind()] += 1;
            self.seconds.see(t);
            let part = part.get_or_insert(Part { buffer, first: t, last: t, left: None, brought: None });
            if dropped != 0 {
                self.gaps.push(Gap { from: part.last.min(t), until: t, cpu: buffer.cpu });
            }
            (part.first, part.last) = (part.first.min(t), part.last.max(t));
            if let Needed::Record(Record::Switch { new, old, .. }) = found {
                if let Some((from, _)) = part.brought.filter(|(_, brought)| *brought != old) {
                    self.gaps.push(Gap { from, until: t, cpu: buffer.cpu });
                }
                part.left.get_or_insert((t, old));
                part.brought = Some((t, new));
            }
            self.learn(t, found);
        });
        (self.records, self.arch) = (self.records + records, told);
        self.is_damaged |= !is_whole;
        if self.gaps.len() > KEPT_MAX {
            self.gaps = joined(&self.gaps);
        }
        self.parts.extend(part);
    }

    fn learn(&mut self, t: u64, found: Needed) {
        match found {
            Needed::Record(Record::Thread { process, thread }) => self.thread(t, thread, process, None),
            Needed::ThreadName { process, thread, name } => self.thread(t, thread, process, Some(name)),
            Needed::Process { process, name } => {
                let has_room = self.programs.len() < KEPT_MAX;
                if self.programs.get(&process).map_or(has_room, |(known, _)| t < *known) {
                    self.programs.insert(process, (t, name));
                }
            }
            Needed::Period { .. } | Needed::Clock { .. } => {
                if let Needed::Period { of: Period::Process(process), name: Some(name), .. } = &found {
                    // The kernel's own name of the process, if there is one, is from the same file.
                    self.programs.entry(*process).or_insert_with(|| (u64::MAX, name.clone()));
                }
                if let Needed::Clock { longest, .. } = found {
                    self.longest = longest;
                }
                if self.periods.len() < KEPT_MAX {
                    self.periods.push((t, found));
                }
            }
            _ => {}
        }
    }

    fn thread(&mut self, t: u64, thread: u32, process: u32, name: Option<Name>) {
        let has_room = self.threads.len() < KEPT_MAX;
        match self.threads.get_mut(&thread) {
            Some(known) if known.1 == process => known.2 = name.or(known.2),
            Some(known) if t < known.0 => *known = (t, process, name),
            None if has_room => drop(self.threads.insert(thread, (t, process, name))),
            _ => {}
        }
    }

    fn into_facts(mut self, missing: &BTreeSet<u64>, is_truncated: bool) -> Result<Facts, Fault> {
        let plausible = self.seconds.plausible();
        self.parts.iter_mut().for_each(|part| part.limit(&plausible));
        self.parts.retain(|part| part.first <= part.last);
        self.gaps.iter_mut().for_each(|gap| gap.until = gap.until.min(plausible.until));
        self.gaps.retain(|gap| gap.from <= gap.until);
        self.periods.retain(|(t, _)| plausible.has(*t));
        let first = self.parts.iter().map(|part| part.first).min().unwrap_or(0);
        let spans = (first, self.parts.iter().map(|part| part.last).max().unwrap_or(0));
        let clock = self.header.clock(spans.0, spans.1)?;
        self.parts.sort_by_key(|part| (part.buffer.cpu, part.first));
        for of_cpu in self.parts.chunk_by(|one, other| one.buffer.cpu == other.buffer.cpu) {
            self.gaps.extend(between(of_cpu, missing, spans));
        }
        self.parts.sort_by_key(|part| part.first);
        let mut timeline = Timeline::default();
        timeline.longest(self.longest);
        for (t, period) in &self.periods {
            let t = clock.ns(*t);
            match *period {
                Needed::Period { of, period, is_rundown, .. } => timeline.add(t, of, period, is_rundown),
                Needed::Clock { period, kernel, .. } => {
                    timeline.add(t, Period::Tick, period, true);
                    timeline.add(t, Period::Kernel, kernel, true);
                }
                _ => {}
            }
        }
        Ok(Facts {
            header: self.header,
            arch: self.arch,
            clock,
            span_ns: clock.ns(spans.1) - clock.ns(spans.0),
            counts: self.counts,
            records: self.records,
            gaps: joined(&self.gaps),
            parts: self.parts,
            threads: self.threads,
            programs: self.programs,
            timeline,
            plausible,
            is_truncated: is_truncated || plausible.has_dropped,
        })
    }
}

/// Where records of a CPU are missing between its buffers: a buffer says so, one of the numbers between them is missing, or
/// another thread leaves the CPU than the one that was brought.
fn between(parts: &[Part], missing: &BTreeSet<u64>, (begin, end): (u64, u64)) -> Vec<Gap> {
    let mut gaps = Vec::new();
    let cpu = parts[0].buffer.cpu;
    let mut before: Option<&Part> = None;
    for part in parts {
        let numbers = (before.map_or(0, |before| before.buffer.sequence + 1), part.buffer.sequence);
        let lacks = numbers.0 < numbers.1 && missing.range(numbers.0..numbers.1).next().is_some();
        let from = before.map_or(begin, |before| before.last);
        if lacks {
            gaps.push(Gap { from, until: part.first.max(from), cpu });
        }
        if part.buffer.follows_loss() {
            gaps.push(Gap { from, until: part.last.max(from), cpu });
        }
        let switches = before.and_then(|before| before.brought).zip(part.left);
        let broken = switches.filter(|((from, brought), (until, left))| brought != left && from <= until);
        gaps.extend(broken.map(|((from, _), (until, _))| Gap { from, until, cpu }));
        before = Some(part);
    }
    let last = before.map_or(0, |last| last.buffer.sequence);
    if missing.range(last..).next().is_some() {
        gaps.push(Gap { from: before.map_or(begin, |last| last.last), until: end, cpu });
    }
    gaps
}

/// Sorted; those of a CPU that touch are one, and if they are too many, all are one.
fn joined(gaps: &[Gap]) -> Vec<Gap> {
    let mut all = gaps.to_vec();
    all.sort_unstable_by_key(|gap| (gap.cpu, gap.from));
    all.dedup_by(|next, before| {
        let touch = next.cpu == before.cpu && next.from <= before.until;
        before.until = if touch { before.until.max(next.until) } else { before.until };
        touch
    });
    if all.len() > KEPT_MAX {
        let until = all.iter().map(|gap| gap.until).max().unwrap_or(0);
        let from = all.iter().map(|gap| gap.from).min().unwrap_or(0);
        all = vec![Gap { from, until, cpu: 0 }];
    }
    all.sort_unstable();
    all
}
