//! Counts wake-ups in a stream of every switch: which idle CPUs were woken for whom by what, and how far apart the wake-ups
//! of a thread by its timers are.

use std::collections::BTreeMap;

use oversleep_record::observed::wakes::{IdleWakes, ROWS_MAX, Rhythm, Wakes, WokenBy};
use oversleep_record::{Distribution, Nanos};

use crate::event::{Name, text};
use crate::machine::Map;
use crate::wait::signed;

/// The most threads whose wake-ups are remembered, and the most rows before they are summed up.
const THREADS_MAX: usize = 4_096;
const ROWS_KEPT_MAX: usize = 16_384;
/// The fewest distances of a rhythm; nine tenths of them differ by no more than this share of the median from the tenth.
const DISTANCES_MIN: u64 = 8;
const STEADY_WITHIN: i64 = 2;

/// A thread that wakes up.
#[derive(Clone, Copy, Debug)]
pub struct Woken {
    /// The thread, and its process; itself if that is unknown.
    pub tid: u32,
    /// See `tid`.
    pub tgid: u32,
    /// The names of both.
    pub thread: Name,
    /// See `thread`.
    pub program: Name,
}

/// What woke it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// A timer with that function; 0 if it is unknown.
    Timer(u64),
    /// No timer.
    Other,
    /// That isn't recorded.
    Unseen,
}

#[derive(Clone, Debug)]
struct Sleeper {
    woken: Woken,
    last: u64,
    distances: Distribution,
}

/// See the module.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    first: Option<u64>,
    last: u64,
    gap_until: u64,
    gap_ns: u64,
    idle: Map<(u32, WokenBy, u64), u64>,
    programs: Map<u32, Name>,
    idle_beyond: u64,
    threads: Map<u32, Sleeper>,
}

impl Tally {
    /// Something was recorded at that time.
    pub fn saw(&mut self, t: u64) {
        self.first.get_or_insert(t);
        self.last = self.last.max(t);
    }

    /// From the first thing that was recorded to the last one.
    pub fn span_ns(&self) -> u64 {
        self.last.saturating_sub(self.first.unwrap_or(self.last))
    }

    /// Something is missing in that time: nobody knows who woke up.
    pub fn gap(&mut self, from: u64, until: u64) {
        let from = from.max(self.gap_until);
        self.gap_ns = self.gap_ns.saturating_add(until.saturating_sub(from));
        self.gap_until = self.gap_until.max(until);
        self.threads.values_mut().for_each(|thread| thread.last = 0);
    }

    /// A CPU that idled runs a thread, whether that slept or not.
    pub fn ended_idle(&mut self, woken: Woken, cause: Cause) {
        self.count(woken.tgid, woken.program, cause);
    }

    /// A thread that slept has a CPU.
    pub fn woke(&mut self, t: u64, woken: Woken, cause: Cause) {
        // What another thread wakes it for is no rhythm of its own.
        if cause == Cause::Other {
            return;
        }
        if self.threads.len() >= THREADS_MAX && !self.threads.contains_key(&woken.tid) {
            return;
        }
        let new = || Sleeper { woken, last: 0, distances: Distribution::growing() };
        let thread = self.threads.entry(woken.tid).or_insert_with(new);
        // The number of a thread that ended may be another's.
        if thread.woken.tgid != woken.tgid {
            *thread = new();
        }
        thread.woken = woken;
        if let Some(distance) = t.checked_sub(thread.last).filter(|_| thread.last != 0) {
            thread.distances.record(signed(distance));
        }
        thread.last = t;
    }

    /// A timer of the kernel woke an idle CPU, and no thread.
    pub fn ticked(&mut self, function: u64) {
        self.count(0, Name::default(), Cause::Timer(function));
    }

    fn count(&mut self, tgid: u32, program: Name, cause: Cause) {
        let (by, function) = match cause {
            Cause::Timer(function) => (WokenBy::Timer, function),
            Cause::Other => (WokenBy::Other, 0),
            Cause::Unseen => (WokenBy::Unseen, 0),
        };
        let key = (tgid, by, function);
        if self.idle.len() >= ROWS_KEPT_MAX && !self.idle.contains_key(&key) {
            self.idle_beyond += 1;
            return;
        }
        *self.idle.entry(key).or_default() += 1;
        self.programs.insert(tgid, program);
    }

    /// What was counted. Functions have the names that `timer` knows, and processes those that `program` knows.
    pub fn finish(self, timer: impl Fn(u64) -> Option<String>, program: impl Fn(u32) -> Option<String>) -> Wakes {
        let name = |tgid: u32, short: &Name| match program(tgid) {
            Some(name) => name,
            None if short[0] == 0 && tgid != 0 => format!("process {tgid}"),
            None => text(short),
        };
        let span = self.span_ns().saturating_sub(self.gap_ns);
        // Processes of one program are one row.
        let mut rows: BTreeMap<(String, WokenBy, Option<String>), (u32, u64)> = BTreeMap::new();
        for ((tgid, by, function), count) in self.idle {
            let short = self.programs.get(&tgid).copied().unwrap_or_default();
            let timer = (function != 0).then(|| timer(function)).flatten();
            let row = rows.entry((name(tgid, &short), by, timer)).or_insert((tgid, 0));
            *row = (row.0.min(tgid), row.1.saturating_add(count));
        }
        let row = |((program, by, timer), (tgid, count))| IdleWakes { program, tgid, by, timer, count };
        let mut idle: Vec<IdleWakes> = rows.into_iter().map(row).collect();
        idle.sort_by_key(|row| std::cmp::Reverse(row.count));
        let beyond = idle.split_off(idle.len().min(ROWS_MAX));
        let idle_beyond = beyond.iter().fold(self.idle_beyond, |sum, row| sum.saturating_add(row.count));
        let mut rhythms: Vec<Rhythm> = self.threads.into_values().filter_map(|of| of.rhythm(name)).collect();
        rhythms.sort_by(|one, other| (other.count, one.tid).cmp(&(one.count, other.tid)));
        rhythms.truncate(ROWS_MAX);
        Wakes { span_ns: Nanos(signed(span)), idle, idle_beyond, rhythms }
    }
}

impl Sleeper {
    /// Its rhythm, if it has one.
    fn rhythm(&self, name: impl Fn(u32, &Name) -> String) -> Option<Rhythm> {
        let count = self.distances.count();
        let at = |share| self.distances.quantile(share).map(Nanos);
        let (p10_ns, p50_ns, p90_ns) = (at(0.1)?, at(0.5)?, at(0.9)?);
        let is_steady = p90_ns.0.saturating_sub(p10_ns.0) <= p50_ns.0 / STEADY_WITHIN;
        (count >= DISTANCES_MIN && is_steady).then(|| Rhythm {
            program: name(self.woken.tgid, &self.woken.program),
            thread: text(&self.woken.thread),
            tid: self.woken.tid,
            count,
            p10_ns,
            p50_ns,
            p90_ns,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn woken(tid: u32) -> Woken {
        let mut name = Name::default();
        name[..3].copy_from_slice(b"app");
        Woken { tid, tgid: 7, thread: name, program: name }
    }

    fn finish(tally: Tally) -> Wakes {
        tally.finish(|function| (function == 5).then(|| "tick".to_owned()), |_| None)
    }

    #[test]
    fn idle_wake_ups_are_counted_by_program_and_timer() {
        let mut tally = Tally::default();
        tally.saw(1_000);
        (1..=6_u64).for_each(|n| tally.woke(n * 1_000, woken(7), Cause::Timer(9)));
        (1..=3).for_each(|_| tally.ended_idle(woken(7), Cause::Timer(9)));
        tally.ended_idle(woken(8), Cause::Other);
        (0..5).for_each(|_| tally.ticked(5));
        tally.saw(2_000_001_000);
        let wakes = finish(tally);
        let rows: Vec<(&str, WokenBy, Option<&str>, u64)> =
            wakes.idle.iter().map(|row| (&*row.program, row.by, row.timer.as_deref(), row.count)).collect();
        let expected =
            [("", WokenBy::Timer, Some("tick"), 5), ("app", WokenBy::Timer, None, 3), ("app", WokenBy::Other, None, 1)];
        assert_eq!(rows, expected);
        assert_eq!((wakes.span_ns, wakes.per_second(5), wakes.idle_count()), (Nanos(2_000_000_000), Some(2.5), 9));
    }

    #[test]
    fn a_thread_s_rhythm_is_that_of_its_timers_and_ends_in_a_gap() {
        let mut tally = Tally::default();
        for n in 1..=20_u64 {
            tally.woke(n * 10_000_000, woken(7), Cause::Timer(9));
            tally.woke(n * 10_000_000 + 3_000, woken(7), Cause::Other);
        }
        tally.gap(200_000_000, 700_000_000);
        tally.woke(900_000_000, woken(7), Cause::Timer(9));
        // Without a rhythm.
        (1..=20_u64).for_each(|n| tally.woke(n * n * 1_000_000, woken(8), Cause::Unseen));
        let wakes = finish(tally);
        assert_eq!(wakes.rhythms.len(), 1, "{wakes:?}");
        let rhythm = &wakes.rhythms[0];
        assert_eq!((rhythm.tid, rhythm.count, rhythm.p50_ns, rhythm.jitter()), (7, 19, Nanos(10_000_000), Nanos(0)));
    }

    #[test]
    fn rows_beyond_the_bound_are_counted() {
        let mut tally = Tally::default();
        (1..=100).for_each(|tid| {
            tally.ended_idle(Woken { tgid: tid, thread: [0; 16], program: [0; 16], tid }, Cause::Unseen);
        });
        let wakes = finish(tally);
        assert_eq!((wakes.idle.len(), wakes.idle_beyond, wakes.idle_count()), (ROWS_MAX, 36, 100));
        assert!(wakes.idle.iter().all(|row| row.program.starts_with("process ")));
    }
}
