//! Times that damage made impossible. A file has the records of a CPU nearly in the order of time, so a record whose time is
//! far from that of those before and behind it is damaged: it is left out and counted, whatever kind of file it is in.

use std::collections::{BTreeMap, VecDeque};

/// Times are told with so little delay that none of them is earlier by more than this than the one before.
pub const SLIP_NS: u64 = 10_000_000;
/// Once so many times more records in a row came too early than confirm a jump, it is those before that were damaged.
const EARLY: usize = 2;
/// So many records at the begin of a file are believed if they are in order.
const FIRST: usize = 4;
/// The most seconds whose records are counted.
const SECONDS_MAX: usize = 1 << 16;
/// So few records that are far from all others are damaged, if the others are so many.
const FEW: u64 = 2;
const MANY: u64 = 64;
/// Far is as many seconds, and as many times as long as the others lasted.
const FAR: u64 = 10;

/// The records of a CPU as the file has them. A record whose time jumps ahead is held until later ones confirm it.
#[derive(Debug)]
pub struct Order<T> {
    slip: u64,
    /// How many records in a row are believed when they jump ahead.
    confirm: usize,
    last: Option<u64>,
    /// The time before one that was passed on without being confirmed.
    sure: Option<u64>,
    /// Each with the number of those left out before it.
    held: VecDeque<(u64, T, u64)>,
    /// What is held was held before already.
    is_old: bool,
    early: usize,
    dropped: u64,
    has_dropped: bool,
}

impl<T> Order<T> {
    /// Times are in units of which so many are [`SLIP_NS`].
    pub fn new(slip: u64, confirm: usize) -> Order<T> {
        Order {
            slip,
            confirm,
            last: None,
            sure: None,
            held: VecDeque::new(),
            is_old: false,
            early: 0,
            dropped: 0,
            has_dropped: false,
        }
    }

    /// Whether a record was left out.
    pub fn has_dropped(&self) -> bool {
        self.has_dropped
    }

    /// The earliest time that is held.
    pub fn earliest_held(&self) -> Option<u64> {
        self.held.front().map(|(t, ..)| *t)
    }

    /// Takes the next record. Those whose time is right are passed on, each with the number of those left out before it.
    pub fn push(&mut self, t: u64, item: T, mut f: impl FnMut(T, u64)) {
        if self.held.is_empty() && self.last.is_some_and(|last| t <= last.saturating_add(self.slip)) {
            return self.next(t, item, &mut f);
        }
        let is_before = |other: u64| t.saturating_add(self.slip) < other;
        if self.last.is_some_and(is_before) {
            return self.drop_one();
        }
        // Of several that agree at the begin of a file, none is wrong for one that is earlier.
        let is_first = self.last.is_none() && self.held.len() > 1 && self.earliest_held().is_some_and(is_before);
        if is_first && self.early < EARLY * self.confirm {
            self.early += 1;
            return self.drop_one();
        }
        // Those that are ahead of what follows them were wrong.
        let is_after = self.held.back().is_some_and(|(held, ..)| *held > t.saturating_add(self.slip));
        while is_after && self.held.back().is_some_and(|(held, ..)| *held > t) {
            self.dropped += self.held.pop_back().map_or(0, |(.., dropped)| dropped);
            self.drop_one();
        }
        if self.held.is_empty() && self.last.is_some_and(|last| t <= last.saturating_add(self.slip)) {
            return self.next(t, item, &mut f);
        }
        self.early = 0;
        if self.last.is_none() && self.held.back().is_some_and(|(held, ..)| t > held.saturating_add(self.slip)) {
            self.flush(&mut f);
        }
        let dropped = std::mem::take(&mut self.dropped);
        self.held.push_back((t, item, dropped));
        if self.held.len() >= if self.last.is_none() { FIRST } else { self.confirm } {
            self.flush(&mut f);
            self.sure = self.last;
        }
    }

    /// Passes on what was held at the last call already: others must not wait longer for it.
    pub fn age(&mut self, f: impl FnMut(T, u64)) {
        let is_old = std::mem::replace(&mut self.is_old, !self.held.is_empty());
        if is_old {
            self.flush(f);
        }
    }

    /// Passes on what is held.
    pub fn flush(&mut self, mut f: impl FnMut(T, u64)) {
        self.sure = self.last;
        self.is_old = false;
        while let Some((t, item, dropped)) = self.held.pop_front() {
            self.last = Some(self.last.map_or(t, |last| last.max(t)));
            f(item, dropped);
        }
    }

    /// A record that doesn't jump ahead.
    fn next(&mut self, t: u64, item: T, f: &mut impl FnMut(T, u64)) {
        let last = self.last.unwrap_or(t);
        if t.saturating_add(self.slip) < last {
            self.early += 1;
            let is_sure = self.sure.is_none_or(|sure| t.saturating_add(self.slip) < sure);
            if is_sure && self.early < EARLY * self.confirm {
                return self.drop_one();
            }
            self.last = None;
        }
        self.early = 0;
        self.last = Some(self.last.map_or(t, |last| last.max(t)));
        self.sure = self.last;
        f(item, std::mem::take(&mut self.dropped));
    }

    fn drop_one(&mut self) {
        self.dropped += 1;
        self.has_dropped = true;
    }
}

/// How many records there are in each second of a file, in any order.
#[derive(Clone, Debug)]
pub struct Seconds {
    unit: u64,
    counts: BTreeMap<u64, u64>,
    /// When the second began whose records were counted last, and how many they are.
    begin: u64,
    count: u64,
}

impl Seconds {
    /// Times are in units of which a second has so many.
    pub fn new(unit: u64) -> Seconds {
        Seconds { unit: unit.max(1), counts: BTreeMap::new(), begin: 0, count: 0 }
    }

    /// Counts a record.
    pub fn see(&mut self, t: u64) {
        if t.wrapping_sub(self.begin) >= self.unit {
            self.keep();
            self.begin = t / self.unit * self.unit;
        }
        self.count += 1;
    }

    fn keep(&mut self) {
        let second = self.begin / self.unit;
        let count = std::mem::take(&mut self.count);
        if count != 0 && (self.counts.len() < SECONDS_MAX || self.counts.contains_key(&second)) {
            *self.counts.entry(second).or_default() += count;
        }
    }

    /// The seconds, from the first to the last one, in which records can be: without a few that are far from all others.
    pub fn plausible(&mut self) -> Plausible {
        self.keep();
        // Each run of seconds: the first one, the last one, and how many records they have.
        let mut runs: Vec<(u64, u64, u64)> = Vec::new();
        for (&second, &count) in &self.counts {
            match runs.last_mut() {
                Some(run) if second - run.1 <= FAR => (run.1, run.2) = (second, run.2 + count),
                _ => runs.push((second, second, count)),
            }
        }
        let all = Plausible { from: 0, until: u64::MAX, has_dropped: false };
        let Some(&(from, until, count)) = runs.iter().max_by_key(|run| run.2) else { return all };
        let far = FAR + FAR * (until - from + 1);
        let is_right =
            |run: &&(u64, u64, u64)| run.2 > FEW || count < MANY || from.max(run.0) - until.min(run.1) <= far;
        let (kept, count) = (runs.iter().filter(is_right), runs.iter().filter(is_right).count());
        if count == runs.len() {
            return all;
        }
        let (from, until) = kept.fold((from, until), |(from, until), run| (from.min(run.0), until.max(run.1)));
        Plausible { from: from * self.unit, until: (until + 1).saturating_mul(self.unit), has_dropped: true }
    }
}

/// From when to when records can be.
#[derive(Clone, Copy, Debug)]
pub struct Plausible {
    pub from: u64,
    pub until: u64,
    /// Some are outside.
    pub has_dropped: bool,
}

impl Default for Plausible {
    fn default() -> Plausible {
        Plausible { from: 0, until: u64::MAX, has_dropped: false }
    }
}

impl Plausible {
    pub fn has(&self, t: u64) -> bool {
        (self.from..=self.until).contains(&t)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Those that are passed on, each with how many were left out before it.
    fn kept(confirm: usize, all: &[u64]) -> Vec<(u64, u64)> {
        let (mut order, mut kept) = (Order::new(10, confirm), Vec::new());
        for &t in all {
            order.push(t, t, |t, dropped| kept.push((t, dropped)));
        }
        order.flush(|t, dropped| kept.push((t, dropped)));
        kept
    }

    fn all_kept(all: &[u64]) -> bool {
        kept(4, all) == all.iter().map(|&t| (t, 0)).collect::<Vec<_>>()
    }

    #[test]
    fn what_jumps_ahead_of_its_neighbours_or_back_is_left_out() {
        assert_eq!(kept(4, &[100, 105, 900, 110, 112]), [(100, 0), (105, 0), (110, 1), (112, 0)]);
        assert_eq!(kept(4, &[100, 105, 3, 110]), [(100, 0), (105, 0), (110, 1)]);
        assert_eq!(kept(4, &[900, 100, 105]), [(100, 1), (105, 0)]);
        assert_eq!(kept(4, &[100, 900, 901, 105, 106, 107]), [(100, 0), (105, 2), (106, 0), (107, 0)]);
        // Behind a jump that is right, too.
        assert_eq!(kept(4, &[100, 500, 900, 501, 502, 503]), [(100, 0), (500, 0), (501, 1), (502, 0), (503, 0)]);
        assert_eq!(kept(4, &[100, 500, 501, 502, 503, 90, 505]).last(), Some(&(505, 1)));
        // A page of the ring buffer whose begin is damaged.
        let page = [&[100, 105][..], &[900; 300], &[110, 112]].concat();
        assert_eq!(kept(512, &page), [(100, 0), (105, 0), (110, 300), (112, 0)]);
    }

    #[test]
    fn a_pause_and_a_little_disorder_are_right() {
        assert!(all_kept(&[100, 102, 95, 104, 900, 890, 905, 2_000]));
        assert!(all_kept(&[5, 900, 2_000, 3_000, 9_000, 9_001]));
    }

    /// If the clock is set back, what follows is kept soon.
    #[test]
    fn a_clock_that_is_set_back_costs_a_few_records() {
        let all: Vec<u64> = (1_000..1_100).chain(100..300).collect();
        assert_eq!(kept(4, &all).len(), 300 - 7);
    }

    #[test]
    fn what_is_held_for_long_is_passed_on_and_still_may_be_wrong() {
        let (mut order, mut kept) = (Order::new(10, 4), Vec::new());
        for t in [100, 100, 100, 100, 105, 900] {
            order.push(t, t, |t, _| kept.push(t));
        }
        assert_eq!((order.earliest_held(), kept.len()), (Some(900), 5));
        order.age(|t, _| kept.push(t));
        assert_eq!(kept.len(), 5);
        order.age(|t, _| kept.push(t));
        assert_eq!(kept.last(), Some(&900));
        for t in [110, 112] {
            order.push(t, t, |t, _| kept.push(t));
        }
        assert_eq!(kept[6..], [110, 112]);
    }

    #[test]
    fn a_few_records_far_from_all_others_are_outside() {
        let plausible = |few: &[u64]| {
            let mut seconds = Seconds::new(1_000);
            (50_000..50_200).chain(few.iter().copied()).for_each(|t| seconds.see(t));
            let plausible = seconds.plausible();
            few.iter().map(|&t| plausible.has(t)).collect::<Vec<_>>()
        };
        assert_eq!(plausible(&[3, 500_000]), [false, false]);
        assert_eq!(plausible(&[49_000, 60_000]), [true, true]);
        assert_eq!(plausible(&[3, 3, 3, 500_000]), [true, true, true, false]);
    }
}
