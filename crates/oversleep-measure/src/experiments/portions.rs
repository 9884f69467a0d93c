//! The work of each thread in a fork-join.

use oversleep_record::Nanos;
use oversleep_system::split_mix;

use crate::plan::{Plan, WorkSpan};

/// As published: eight threads.
pub const FORK_JOIN_THREADS: u32 = 8;
/// As published: 10 to 20 ms of work each.
const WORK_MIN: Nanos = Nanos::from_millis(10);
/// Shorter runs do a tenth of it, which doesn't change the shape of the result.
const WORK_SHORT_MIN: Nanos = Nanos::from_millis(1);

/// The threads of a fork-join, and the span that the work of each is drawn from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Portions {
    threads: u32,
    work: WorkSpan,
}

impl Portions {
    /// The user's portions, or else the published ones, scaled to the depth of the run.
    pub(super) fn of(plan: &Plan) -> Portions {
        let min = plan.depth.pick(WORK_SHORT_MIN, WORK_SHORT_MIN, WORK_MIN);
        Portions {
            threads: plan.threads.unwrap_or(FORK_JOIN_THREADS),
            work: plan.work.unwrap_or(WorkSpan { min, max: min * 2 }),
        }
    }

    /// The work of one thread alone.
    pub(super) fn of_one(self) -> Portions {
        Portions { threads: 1, ..self }
    }

    /// The number of threads.
    pub(super) fn threads(self) -> u32 {
        self.threads
    }

    /// One thread's work on average.
    pub(super) fn mean(self) -> Nanos {
        Nanos(self.work.min.0 + (self.work.max - self.work.min).0 / 2)
    }

    /// The work of all threads together, on average.
    pub(super) fn mean_total(self) -> Nanos {
        self.mean() * i64::from(self.threads)
    }

    /// The longest total work.
    pub(super) fn total_max(self) -> Nanos {
        self.work.max * i64::from(self.threads)
    }

    /// The work of each thread in one fork-join. Real work varies, so each portion is drawn uniformly from the span.
    /// The same number gives the same work, so that every style of joining does the same.
    pub(super) fn draw(self, number: u64) -> impl Iterator<Item = Nanos> {
        let first = number.wrapping_mul(u64::from(self.threads));
        let width = u128::from((self.work.max - self.work.min).0.unsigned_abs()) + 1;
        (0..self.threads).map(move |thread| {
            let number = first.wrapping_add(u64::from(thread)).wrapping_add(1);
            let drawn = (u128::from(split_mix::mixed(number.wrapping_mul(split_mix::STEP))) * width) >> 64;
            self.work.min + Nanos(i64::try_from(drawn).unwrap_or(i64::MAX))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Depth;

    #[test]
    fn work_is_what_was_asked_for_whatever_the_depth() {
        let work = WorkSpan { min: Nanos::from_millis(10), max: Nanos::from_millis(20) };
        for depth in [Depth::Quick, Depth::Normal, Depth::Thorough] {
            let portions = Portions::of(&Plan { depth, threads: Some(3), work: Some(work), ..Plan::default() });
            assert_eq!((portions.mean(), portions.mean_total()), (Nanos::from_millis(15), Nanos::from_millis(45)));
            assert_eq!(portions.draw(7).count(), 3);
        }
    }

    #[test]
    fn draws_fill_the_span_evenly_and_are_repeatable() {
        let portions = Portions::of(&Plan { depth: Depth::Thorough, ..Plan::default() });
        let all: Vec<Nanos> = (0..1_000).flat_map(|number| portions.draw(number)).collect();
        assert!(all.iter().all(|work| (portions.work.min..=portions.work.max).contains(work)));
        let below = |limit| all.iter().filter(|&&work| work < Nanos::from_millis(limit)).count();
        for tenth in 1..10_u32 {
            let share = below(10 + i64::from(tenth)) * 100 / all.len();
            assert!(share.abs_diff(10 * tenth as usize) <= 1, "{share} % below {} ms", 10 + tenth);
        }
        assert!(portions.draw(42).eq(portions.draw(42)) && !portions.draw(42).eq(portions.draw(43)));
    }

    #[test]
    fn work_without_a_span_never_varies() {
        let ten = Nanos::from_millis(10);
        let portions = Portions::of(&Plan { work: Some(WorkSpan { min: ten, max: ten }), ..Plan::default() });
        assert!(portions.draw(5).all(|work| work == ten));
    }
}
