//! The grid on which the parks of a coarse timer end.

/// A tick, as far as late parks show one.
#[derive(Clone, Debug, Default)]
pub(super) struct Tick {
    /// Its length, or a multiple of it. Zero: not known.
    pub(super) ns: u64,
    /// When a park ended on it.
    at_ns: u64,
    /// How many parks in a row ended on it; one that didn't counts against two that did.
    hits: u8,
    /// How many late parks it was told.
    pub(super) seen: u32,
}

impl Tick {
    /// A probe before a longer tick would come too late, 100 ms after a disturbance.
    const LONGEST_NS: u64 = 110_000_000;
    const CERTAIN: u8 = 2;
    const MOST_HITS: u8 = 8;

    /// How far from a tick a park may end: an eighth of the longest absence, but no less than a park is usually late.
    pub(super) fn leeway_ns(absence_ns: u64) -> u64 {
        (absence_ns / 8).max(100_000)
    }

    /// The time between the ends of two late parks, as a guess.
    pub(super) fn assumed(last_ns: u64, end_ns: u64) -> Tick {
        let mut tick = Tick { at_ns: last_ns, ..Tick::default() };
        tick.learn(end_ns, 0);
        if last_ns == 0 { Tick { at_ns: end_ns, ..Tick::default() } } else { tick }
    }

    /// Whether late parks do end on it.
    pub(super) fn is_certain(&self) -> bool {
        self.hits >= Self::CERTAIN
    }

    /// Learns from the end of a late park that began when [`before`](Tick::before) or
    /// [`last_before`](Tick::last_before) said.
    pub(super) fn learn(&mut self, end_ns: u64, leeway_ns: u64) {
        self.seen = self.seen.wrapping_add(1);
        let since_ns = end_ns.saturating_sub(self.at_ns);
        if self.ns == 0 {
            (self.ns, self.at_ns) = (if since_ns <= Self::LONGEST_NS { since_ns } else { 0 }, end_ns);
            return;
        }
        let ticks = (since_ns.saturating_add(self.ns / 2) / self.ns).max(1);
        if since_ns.abs_diff(ticks.saturating_mul(self.ns)) < leeway_ns {
            (self.ns, self.at_ns) = (since_ns / ticks, end_ns);
            self.hits = (self.hits + 1).min(Self::MOST_HITS);
        } else if self.is_certain() {
            self.hits -= 2;
        } else {
            (self.ns, self.at_ns, self.hits) = (0, end_ns, 0);
        }
    }

    /// The first time from `now_ns` on that is so long before a tick.
    pub(super) fn before(&self, now_ns: u64, ahead_ns: u64) -> Option<u64> {
        let since_ns = self.since_ns(now_ns, ahead_ns)?;
        Some(self.at(since_ns.div_ceil(self.ns), ahead_ns))
    }

    /// The last such time up to `due_ns`, or the first one after `now_ns`.
    pub(super) fn last_before(&self, now_ns: u64, due_ns: u64, ahead_ns: u64) -> Option<u64> {
        let ticks = self.since_ns(due_ns, ahead_ns)? / self.ns;
        let least = self.since_ns(now_ns, ahead_ns)? / self.ns + 1;
        Some(self.at(ticks.max(least), ahead_ns))
    }

    /// A tick as short as a probe isn't worth waiting for.
    fn since_ns(&self, now_ns: u64, ahead_ns: u64) -> Option<u64> {
        (self.ns > ahead_ns).then(|| now_ns.saturating_add(ahead_ns).saturating_sub(self.at_ns))
    }

    fn at(&self, ticks: u64, ahead_ns: u64) -> u64 {
        self.at_ns.saturating_add(ticks.saturating_mul(self.ns)).saturating_sub(ahead_ns)
    }
}
