//! What a back-off learns about parks: whether to park, and when to try it again.

use super::tick::Tick;

/// A park that timed out.
#[derive(Clone, Copy, Debug)]
pub struct Park {
    /// Its request.
    pub requested_ns: u64,
    /// How much longer than that it took.
    pub lateness_ns: u64,
    /// When it ended, on the clock that [`LearnedParks::probes`] is told.
    pub end_ns: u64,
}

/// Whether parks are late here.
///
/// A park that takes longer than allowed either met a disturbance (throttling, a suspend, another thread) or shows that the
/// machine's timer is coarse. After a disturbance the worker should park on, because yields would only burn CPU time; on a
/// coarse timer it should yield. What tells them apart: two parks that end within the time allowed are certain proof that
/// the timer isn't coarse, however many others are late, and on a coarse timer late parks end on a grid, its tick.
///
/// While parking is refused, probes find out whether it is still late. On a tick, a probe begins shortly before one, so
/// it takes little longer than allowed.
#[derive(Clone, Debug)]
pub struct LearnedParks {
    /// How late parks are: the longest recent lateness of those that took no longer than allowed, or of the others while
    /// parking is refused.
    lateness_ns: Option<u64>,
    /// The longest request: half of the last one that was late, and twice as much after each park that was on time.
    longest_ns: u64,
    /// How much more lateness is taken for a disturbance. Negative: parking is refused.
    trust_ns: i64,
    /// What a proof restores.
    full_trust_ns: i64,
    /// When the timer last proved not to be coarse. Zero: never.
    fine_ns: u64,
    /// When the last park ended.
    end_ns: u64,
    /// When the next probe is due. Zero: not known yet.
    due_ns: u64,
    /// How long before a tick that is, and whether the tick before was missed.
    ahead_ns: u64,
    is_postponed: bool,
    /// From a late probe to the next.
    interval_ns: u64,
    /// How many late probes more may follow each other quickly if no park ever was on time.
    quick_probes: u32,
    tick: Tick,
}

impl Default for LearnedParks {
    fn default() -> Self {
        Self {
            lateness_ns: None,
            longest_ns: u64::MAX,
            trust_ns: 0,
            full_trust_ns: Self::TRUST_AT_FIRST_NS,
            fine_ns: 0,
            end_ns: 0,
            due_ns: 0,
            ahead_ns: 0,
            is_postponed: false,
            interval_ns: Self::FIRST_INTERVAL_NS,
            quick_probes: Self::QUICK_PROBES,
            tick: Tick::default(),
        }
    }
}

impl LearnedParks {
    const FIRST_INTERVAL_NS: u64 = 500_000;
    /// Parking begins again within 100 ms after a disturbance.
    const QUICK_INTERVAL_NS: u64 = 90_000_000;
    /// A probe that is later than on a tick takes a hundredth of the time in the end.
    const INTERVALS_PER_PROBE: u64 = 100;
    /// How many late probes make a coarse timer certain if no park was ever on time.
    const QUICK_PROBES: u32 = 128;
    /// For how long a timer that was fine may be so again at any moment: 10 minutes.
    const FINE_FOR_NS: u64 = 600_000_000_000;
    /// Two late parks.
    const TRUST_AT_FIRST_NS: i64 = 2 * Self::LATE_NS as i64;
    /// Where parks were on time, parks that are late for a second in all are taken for a disturbance; for longer, if that
    /// was wrong before.
    const TRUST_NS: i64 = 1_000_000_000;
    const LONGEST_TRUST_NS: i64 = 8 * Self::TRUST_NS;
    /// What a park that is on time is worth if it proves nothing.
    const UNPROVED_NS: i64 = 4_000_000;
    /// A longer lateness counts as this much, so that it is their number that counts.
    const LATE_NS: u64 = 20_000_000;

    /// How much of `absence_ns` is left for a park of at least `first_ns`, if parking isn't refused.
    pub fn affordable_ns(&self, first_ns: u64, absence_ns: u64) -> Option<u64> {
        let affordable_ns = absence_ns.saturating_sub(self.lateness_ns.unwrap_or(0));
        (self.trust_ns >= 0 && affordable_ns >= first_ns).then_some(affordable_ns.min(self.longest_ns.max(first_ns)))
    }

    /// Whether a turn that may not park is a probe.
    pub fn probes(&mut self, now_ns: u64) -> bool {
        if self.due_ns == 0 {
            self.due_ns = now_ns.saturating_add(Self::FIRST_INTERVAL_NS);
        } else if self.due_ns.saturating_add(self.ahead_ns / 16) < now_ns && !self.is_postponed {
            self.due_ns = self.tick.before(now_ns, self.ahead_ns).unwrap_or(now_ns);
            self.is_postponed = true;
        }
        self.due_ns <= now_ns
    }

    /// Learns from a park.
    pub fn learn(&mut self, first_ns: u64, absence_ns: u64, park: Park) {
        if first_ns.saturating_add(park.lateness_ns) > absence_ns {
            self.longest_ns = park.requested_ns / 2;
            self.learn_late(absence_ns, park);
        } else {
            self.longest_ns = self.longest_ns.max(park.requested_ns).saturating_mul(2);
            let since_last_ns = park.end_ns.saturating_sub(self.end_ns).saturating_sub(park.requested_ns);
            let is_proof = self.end_ns > 0 && first_ns.saturating_add(since_last_ns) <= absence_ns;
            self.learn_on_time(park, is_proof);
        }
        self.end_ns = park.end_ns;
    }

    /// How late parks are, as far as they were made.
    #[cfg(feature = "std")]
    pub(crate) fn lateness_ns(&self) -> Option<u64> {
        self.lateness_ns
    }

    /// When the next probe is due, while parking is refused.
    #[cfg(test)]
    pub(crate) fn due_ns(&self) -> Option<u64> {
        (self.trust_ns < 0).then_some(self.due_ns)
    }

    fn learn_late(&mut self, absence_ns: u64, park: Park) {
        let is_probe = self.trust_ns < 0;
        let counted_ns = counted_ns(park.lateness_ns);
        self.trust_ns = (self.trust_ns - counted_ns).max(-2 * counted_ns);
        let leeway_ns = Tick::leeway_ns(absence_ns);
        if is_probe || self.tick.is_certain() {
            self.tick.learn(park.end_ns, leeway_ns);
        } else {
            // It may have followed the one before at once, and then shows no tick but how late parks are.
            self.tick = Tick::assumed(self.end_ns, park.end_ns);
        }
        if self.trust_ns >= 0 {
            return;
        }
        let usual_ns = if self.tick.is_certain() { self.tick.ns } else { self.remembered_ns() };
        let longest_ns = park.lateness_ns.max(usual_ns);
        self.lateness_ns = Some(longest_ns);
        self.quick_probes = self.quick_probes.saturating_sub(1);
        let is_recent = self.fine_ns > 0 && park.end_ns.saturating_sub(self.fine_ns) < Self::FINE_FOR_NS;
        let interval_ns = self.interval_ns;
        self.interval_ns = match is_recent || self.tick.is_certain() || self.quick_probes > 0 {
            true => (2 * interval_ns.min(Self::QUICK_INTERVAL_NS)).min(Self::QUICK_INTERVAL_NS),
            false => longest_ns.saturating_mul(Self::INTERVALS_PER_PROBE).max(Self::FIRST_INTERVAL_NS),
        };
        let interval_ns = interval_ns.min(self.interval_ns);
        // A park of another length than the last one: what is always as late isn't taken for a tick.
        let odd = u64::from(self.tick.seen % 2);
        (self.ahead_ns, self.is_postponed) = (absence_ns.saturating_add((2 + 2 * odd) * leeway_ns), false);
        let due_ns = park.end_ns.saturating_add(interval_ns);
        self.due_ns = self.tick.last_before(park.end_ns, due_ns, self.ahead_ns).unwrap_or(due_ns);
    }

    fn learn_on_time(&mut self, park: Park, is_proof: bool) {
        let lateness_ns = park.lateness_ns;
        let is_probe = self.trust_ns < 0;
        self.lateness_ns = Some(if is_probe { lateness_ns } else { lateness_ns.max(self.remembered_ns()) });
        if is_proof {
            self.full_trust_ns = self.full_trust_ns.max(Self::TRUST_NS);
            self.trust_ns = self.full_trust_ns;
            self.fine_ns = park.end_ns;
            self.interval_ns = Self::FIRST_INTERVAL_NS;
            self.tick = Tick::default();
        } else if !is_probe {
            self.trust_ns = (self.trust_ns + Self::UNPROVED_NS).min(self.full_trust_ns);
        } else if self.tick.is_certain() {
            // It just met the tick, or the timer has become fine: two more parks tell.
            self.trust_ns = counted_ns(self.tick.ns);
        } else {
            self.full_trust_ns = (4 * self.full_trust_ns).min(Self::LONGEST_TRUST_NS);
            self.trust_ns = self.full_trust_ns;
        }
    }

    /// What is left of the longest lateness: it decays by an eighth per park.
    fn remembered_ns(&self) -> u64 {
        self.lateness_ns.map_or(0, |ns| ns - ns.div_ceil(8))
    }
}

fn counted_ns(lateness_ns: u64) -> i64 {
    lateness_ns.clamp(1, LearnedParks::LATE_NS) as i64
}
