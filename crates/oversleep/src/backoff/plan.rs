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
#[derive(Clone, Debug, Default)]
pub(super) struct Plan {
    /// Idle turns in a row.
    pub(super) turn: u32,
    /// Idle turns that would have parked if parking weren't too expensive.
    refused: u64,
    pub(super) lateness_ns: Option<u64>,
}

impl Plan {
    const PROBE_EVERY: u64 = 1_024;
    /// A yield that finds no other thread to run takes half a microsecond, so a park that costs this many ns per turn
    /// takes a hundredth of the time.
    const PROBE_NS_PER_TURN: u64 = 5;

    pub(super) fn next(&mut self, limits: &Limits) -> Step {
        let turn = self.turn;
        self.turn = turn.saturating_add(1);
        let Some(turn) = turn.checked_sub(limits.spins) else { return Step::Spin };
        let Some(turn) = turn.checked_sub(limits.yields) else { return Step::Yield };
        let first_ns = nanos(limits.park).max(1);
        let affordable_ns = nanos(limits.absence).saturating_sub(self.lateness_ns.unwrap_or(0));
        if affordable_ns < first_ns {
            self.refused += 1;
            let probe_every = Self::PROBE_EVERY.max(self.lateness_ns.unwrap_or(0) / Self::PROBE_NS_PER_TURN);
            if self.refused < probe_every {
                return Step::Yield;
            }
            self.refused = 0;
            return Step::Park(first_ns.min(nanos(limits.absence)).max(1));
        }
        let doubled_ns = first_ns.checked_shl(turn).filter(|ns| ns >> turn == first_ns).unwrap_or(u64::MAX);
        Step::Park(doubled_ns.min(affordable_ns))
    }

    pub(super) fn learn(&mut self, requested_ns: u64, duration_ns: u64) {
        // A park that ended early was unparked, so it says nothing about lateness.
        let Some(lateness_ns) = duration_ns.checked_sub(requested_ns) else { return };
        // The longest lateness decays by an eighth per park, so that one stall doesn't end parking for good.
        let remembered_ns = self.lateness_ns.map_or(0, |ns| ns - ns / 8);
        self.lateness_ns = Some(lateness_ns.max(remembered_ns));
    }
}

fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
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
        plan.learn(1_000, 61_000);
        assert_eq!(plan.next(&LIMITS), Step::Park(940_000));
    }

    #[test]
    fn a_coarse_tick_ends_parking_except_for_probes() {
        let mut plan = Plan { turn: 3, ..Plan::default() };
        plan.learn(1_000, 1_001_000);
        let steps = steps(&mut plan, &LIMITS, 2 * 200_000);
        let parks: Vec<_> = steps.iter().filter(|&&step| step != Step::Yield).collect();
        assert_eq!(parks, [&Step::Park(1_000), &Step::Park(1_000)]);
        // The tick has become finer, and the next probes find out.
        for _ in 0..40 {
            plan.learn(1_000, 60_000);
        }
        assert!(matches!(plan.next(&LIMITS), Step::Park(ns) if ns > 900_000));
    }

    #[test]
    fn probes_take_a_hundredth_of_the_time_at_most() {
        // A yield that finds no other thread to run returns in half a microsecond.
        let mut plan = Plan { turn: 3, ..Plan::default() };
        plan.learn(1_000, 15_626_000);
        let (mut yielding_ns, mut parking_ns) = (0, 0);
        while yielding_ns < 20_000_000_000_u64 {
            match plan.next(&LIMITS) {
                Step::Park(requested_ns) => {
                    parking_ns += 15_625_000 + requested_ns;
                    plan.learn(requested_ns, 15_625_000 + requested_ns);
                }
                _ => yielding_ns += 500,
            }
        }
        assert!(parking_ns > 0 && parking_ns * 100 <= yielding_ns, "{parking_ns} ns of {yielding_ns}");
    }

    #[test]
    fn an_unparked_park_teaches_nothing() {
        let mut plan = Plan::default();
        plan.learn(1_000, 200);
        assert_eq!(plan.lateness_ns, None);
    }

    #[test]
    fn absurd_limits_hold() {
        let limits = Limits { spins: 0, yields: 0, park: Duration::MAX, absence: Duration::ZERO };
        let mut plan = Plan::default();
        assert_eq!(plan.next(&limits), Step::Yield);
        // The probe is no longer than the limit on a park's total duration.
        let parks = (0..2_000).map(|_| plan.next(&limits)).filter(|step| *step != Step::Yield).collect::<Vec<_>>();
        assert_eq!(parks, [Step::Park(1)]);
        let limits = Limits { park: Duration::ZERO, absence: Duration::MAX, ..limits };
        let mut plan = Plan::default();
        assert_eq!(plan.next(&limits), Step::Park(1));
        plan.turn = u32::MAX;
        assert_eq!(plan.next(&limits), Step::Park(u64::MAX));
    }
}
