//! Decides whether the next idle turn spins, yields or parks, and for how long. Pure, so that the tests take no time.

use std::time::Duration;

use super::Limits;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Spin,
    Yield,
    Park(u64),
}

/// Decides the next step.
///
/// A park that takes longer than allowed either met a disturbance (throttling, a suspend, another thread) or shows that the
/// machine's timer is coarse. After a disturbance the worker should park on, because yields would only burn CPU time; on a
/// coarse timer it should yield. What tells them apart is how many parks in a row are late: on a coarse timer it is all.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    /// Idle turns in a row.
    pub(super) turn: u32,
    /// How late parks are: the longest recent lateness of those that took no longer than allowed, or of the others while
    /// parking is refused.
    lateness_ns: Option<u64>,
    /// How much more lateness is taken for a disturbance. Negative: parking is refused.
    trust_ns: i64,
    /// Yields before the next probe, which is a park while parking is refused.
    yields_left: u64,
    /// Yields between the next late probe and the one after it.
    interval: u64,
    /// How many late probes more may follow each other quickly.
    quick_probes: u32,
}

impl Default for Plan {
    fn default() -> Self {
        Self {
            turn: 0,
            lateness_ns: None,
            trust_ns: 0,
            yields_left: Self::FIRST_INTERVAL,
            interval: Self::FIRST_INTERVAL,
            quick_probes: Self::QUICK_PROBES_AT_FIRST,
        }
    }
}

impl Plan {
    /// A yield that finds no other thread to run takes half a microsecond, so this is half a millisecond.
    const FIRST_INTERVAL: u64 = 1_024;
    /// 66 ms of yields, so that parking begins again within 100 ms after a disturbance.
    const QUICK_INTERVAL: u64 = 1 << 17;
    /// A park that costs this many ns per yield before it takes a hundredth of the time.
    const NS_PER_YIELD: u64 = 5;
    /// How many late probes make a coarse timer certain if no park was ever on time, and if parks were.
    const QUICK_PROBES_AT_FIRST: u32 = 16;
    const QUICK_PROBES: u32 = 128;
    /// Where parks were on time, parks that are late for a second in all are taken for a disturbance.
    const FULL_TRUST_NS: i64 = 1_000_000_000;
    /// How many parks in a row that are on time restore full trust.
    const ON_TIME_PARKS: i64 = 16;
    /// A longer lateness counts as this much, so that it is their number that counts.
    const LATE_NS: u64 = 20_000_000;

    pub(super) fn next(&mut self, limits: &Limits) -> Step {
        let turn = self.turn;
        self.turn = turn.saturating_add(1);
        let Some(turn) = turn.checked_sub(limits.spins) else { return Step::Spin };
        let Some(turn) = turn.checked_sub(limits.yields) else { return Step::Yield };
        let (first_ns, absence_ns) = bounds(limits);
        let affordable_ns = absence_ns.saturating_sub(self.lateness_ns.unwrap_or(0));
        if self.trust_ns < 0 || affordable_ns < first_ns {
            if let Some(left) = self.yields_left.checked_sub(1) {
                self.yields_left = left;
                return Step::Yield;
            }
            return Step::Park(first_ns.min(absence_ns).max(1));
        }
        let doubled_ns = first_ns.checked_shl(turn).filter(|ns| ns >> turn == first_ns).unwrap_or(u64::MAX);
        Step::Park(doubled_ns.min(affordable_ns))
    }

    pub(super) fn learn(&mut self, limits: &Limits, requested_ns: u64, duration_ns: u64) {
        // A park that ended early was unparked, so it says nothing about lateness.
        let Some(lateness_ns) = duration_ns.checked_sub(requested_ns) else { return };
        let (first_ns, absence_ns) = bounds(limits);
        if first_ns.saturating_add(lateness_ns) > absence_ns {
            self.learn_late(lateness_ns);
        } else {
            self.learn_on_time(lateness_ns);
        }
    }

    fn learn_late(&mut self, lateness_ns: u64) {
        let counted_ns = counted_ns(lateness_ns);
        self.trust_ns = (self.trust_ns - counted_ns).max(-2 * counted_ns);
        if self.trust_ns >= 0 {
            return;
        }
        let longest_ns = lateness_ns.max(self.remembered_ns());
        self.lateness_ns = Some(longest_ns);
        self.yields_left = self.interval;
        self.quick_probes = self.quick_probes.saturating_sub(1);
        let hundredth = Self::FIRST_INTERVAL.max(longest_ns / Self::NS_PER_YIELD);
        self.interval = match self.quick_probes {
            0 => hundredth,
            _ => hundredth.min(2 * self.interval).min(Self::QUICK_INTERVAL),
        };
    }

    fn learn_on_time(&mut self, lateness_ns: u64) {
        if self.trust_ns < 0 {
            // Enough for the next park. A probe that just met the tick of a coarse timer is followed by late parks.
            self.trust_ns += 3 * counted_ns(self.lateness_ns.unwrap_or(0));
            self.lateness_ns = Some(lateness_ns);
            return;
        }
        self.lateness_ns = Some(lateness_ns.max(self.remembered_ns()));
        self.trust_ns += Self::FULL_TRUST_NS / Self::ON_TIME_PARKS;
        if self.trust_ns >= Self::FULL_TRUST_NS {
            self.trust_ns = Self::FULL_TRUST_NS;
            self.quick_probes = Self::QUICK_PROBES;
            self.interval = Self::FIRST_INTERVAL;
        }
    }

    /// What is left of the longest lateness: it decays by an eighth per park.
    fn remembered_ns(&self) -> u64 {
        self.lateness_ns.map_or(0, |ns| ns - ns / 8)
    }

    /// Skips the yields before the next probe, and returns how many they are.
    #[cfg(test)]
    pub(super) fn skip_yields(&mut self) -> u64 {
        if self.trust_ns < 0 { std::mem::take(&mut self.yields_left) } else { 0 }
    }

    pub(super) fn lateness_ns(&self) -> Option<u64> {
        self.lateness_ns
    }
}

fn counted_ns(lateness_ns: u64) -> i64 {
    lateness_ns.clamp(1, Plan::LATE_NS) as i64
}

/// The first park and the longest absence.
fn bounds(limits: &Limits) -> (u64, u64) {
    let ns = |duration: Duration| u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
    (ns(limits.park).max(1), ns(limits.absence))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits =
        Limits { spins: 2, yields: 1, park: Duration::from_micros(1), absence: Duration::from_millis(1) };

    fn steps(plan: &mut Plan, limits: &Limits, n: usize) -> Vec<Step> {
        (0..n).map(|_| plan.next(limits)).collect()
    }

    #[test]
    fn spins_then_yields_then_parks_longer_and_longer() {
        use Step::{Park, Spin, Yield};
        let mut plan = Plan::default();
        assert_eq!(steps(&mut plan, &LIMITS, 6), [Spin, Spin, Yield, Park(1_000), Park(2_000), Park(4_000)]);
        assert_eq!(*steps(&mut plan, &LIMITS, 100).last().unwrap(), Park(1_000_000));
        plan.turn = 0;
        assert_eq!(plan.next(&LIMITS), Spin);
    }

    #[test]
    fn a_park_never_takes_longer_than_the_absence() {
        let mut plan = Plan { turn: 40, ..Plan::default() };
        plan.learn(&LIMITS, 1_000, 61_000);
        assert_eq!(plan.next(&LIMITS), Step::Park(940_000));
    }

    #[test]
    fn an_unparked_park_teaches_nothing() {
        let mut plan = Plan::default();
        plan.learn(&LIMITS, 1_000, 200);
        assert_eq!(plan.lateness_ns(), None);
    }

    #[test]
    fn absurd_limits_hold() {
        let limits = Limits { spins: 0, yields: 0, park: Duration::MAX, absence: Duration::ZERO };
        let mut plan = Plan::default();
        assert_eq!(plan.next(&limits), Step::Yield);
        // The probe is no longer than the limit on a park's total duration.
        let mut parks = Vec::new();
        for _ in 0..3_000 {
            if let step @ Step::Park(ns) = plan.next(&limits) {
                parks.push(step);
                plan.learn(&limits, ns, u64::MAX);
            }
        }
        assert_eq!(parks, [Step::Park(1), Step::Park(1)]);
        let limits = Limits { park: Duration::ZERO, absence: Duration::MAX, ..limits };
        let mut plan = Plan::default();
        assert_eq!(plan.next(&limits), Step::Park(1));
        plan.turn = u32::MAX;
        assert_eq!(plan.next(&limits), Step::Park(u64::MAX));
    }
}
