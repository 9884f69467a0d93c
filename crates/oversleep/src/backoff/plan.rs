//! Decides whether the next idle turn spins, yields or parks, and for how long. Pure, so that the tests take no time.

use std::time::Duration;

use super::Limits;
use crate::algorithm::{LearnedParks, Park};

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
    pub(super) parks: LearnedParks,
}

impl Plan {
    /// `now_ns` says what time it is, if that matters.
    pub(super) fn next(&mut self, limits: &Limits, now_ns: impl FnOnce() -> u64) -> Step {
        let turn = self.turn;
        self.turn = turn.saturating_add(1);
        let Some(turn) = turn.checked_sub(limits.spins) else { return Step::Spin };
        let Some(turn) = turn.checked_sub(limits.yields) else { return Step::Yield };
        let (first_ns, absence_ns) = bounds(limits);
        match self.parks.affordable_ns(first_ns, absence_ns) {
            Some(affordable_ns) => {
                let doubled_ns = first_ns.checked_shl(turn).filter(|ns| ns >> turn == first_ns).unwrap_or(u64::MAX);
                Step::Park(doubled_ns.min(affordable_ns))
            }
            None if self.parks.probes(now_ns()) => Step::Park(first_ns.min(absence_ns).max(1)),
            None => Step::Yield,
        }
    }

    pub(super) fn learn(&mut self, limits: &Limits, requested_ns: u64, duration_ns: u64, end_ns: u64) {
        // A park that ended early was unparked, so it says nothing about lateness.
        let Some(lateness_ns) = duration_ns.checked_sub(requested_ns) else { return };
        let (first_ns, absence_ns) = bounds(limits);
        self.parks.learn(first_ns, absence_ns, Park { requested_ns, lateness_ns, end_ns });
    }
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
        (0..n).map(|_| plan.next(limits, || 0)).collect()
    }

    #[test]
    fn spins_then_yields_then_parks_longer_and_longer() {
        use Step::{Park, Spin, Yield};
        let mut plan = Plan::default();
        assert_eq!(steps(&mut plan, &LIMITS, 6), [Spin, Spin, Yield, Park(1_000), Park(2_000), Park(4_000)]);
        assert_eq!(*steps(&mut plan, &LIMITS, 100).last().unwrap(), Park(1_000_000));
        plan.turn = 0;
        assert_eq!(plan.next(&LIMITS, || 0), Spin);
    }

    #[test]
    fn a_park_never_takes_longer_than_the_absence() {
        let mut plan = Plan { turn: 40, ..Plan::default() };
        plan.learn(&LIMITS, 1_000, 61_000, 61_000);
        assert_eq!(plan.next(&LIMITS, || 0), Step::Park(940_000));
    }

    #[test]
    fn an_unparked_park_teaches_nothing() {
        let mut plan = Plan::default();
        plan.learn(&LIMITS, 1_000, 200, 200);
        assert_eq!(plan.parks.lateness_ns(), None);
    }

    #[test]
    fn absurd_limits_hold() {
        let limits = Limits { spins: 0, yields: 0, park: Duration::MAX, absence: Duration::ZERO };
        let mut plan = Plan::default();
        assert_eq!(plan.next(&limits, || 0), Step::Yield);
        // The probe is no longer than the limit on a park's total duration.
        let mut parks = Vec::new();
        for now_us in 1..=3_000 {
            if let step @ Step::Park(ns) = plan.next(&limits, || now_us * 1_000) {
                parks.push(step);
                plan.learn(&limits, ns, u64::MAX, u64::MAX);
            }
        }
        assert_eq!(parks, [Step::Park(1)]);
        let limits = Limits { park: Duration::ZERO, absence: Duration::MAX, ..limits };
        let mut plan = Plan::default();
        assert_eq!(plan.next(&limits, || 0), Step::Park(1));
        plan.turn = u32::MAX;
        assert_eq!(plan.next(&limits, || 0), Step::Park(u64::MAX));
    }
}
