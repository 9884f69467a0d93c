//! Timers that are programmed for a single moment.

use oversleep_record::Nanos;

use super::Grid;

/// Timers that are programmed for a single moment.
#[derive(Clone, Copy, Debug)]
pub struct OneShot {
    /// They end on multiples of this; one nanosecond where they end when they are due.
    pub grid_ns: Nanos,
    /// Whether they normally end when they are due, and the grid only determines how late the late ones are.
    pub ends_when_due: bool,
    /// Share of waits that end one grid step later.
    pub p_late: f64,
    /// The longest delay for ending together with other timers.
    pub slack_ns: Nanos,
    /// The longest span whose grid is aligned with that of earlier timers; a longer one may begin anywhere in a step.
    /// Zero: all share one grid.
    pub aligned_max_ns: Nanos,
}

impl OneShot {
    /// When a timer of that span ends that is due then: never early, whatever the grid.
    pub fn end(&self, due: Nanos, span: Nanos, happens: impl FnOnce(f64) -> bool) -> Nanos {
        if self.grid_ns.0 <= 1 {
            return due;
        }
        let late = if happens(self.p_late) { self.grid_ns } else { Nanos::ZERO };
        if self.ends_when_due {
            return due + late;
        }
        let origin = if self.is_aligned(span) { Nanos::ZERO } else { self.anywhere(due) };
        Grid { origin, period: self.grid_ns }.at_or_after(due) + late
    }

    /// Whether timers of that span end on the same grid as those before.
    pub fn is_aligned(&self, span: Nanos) -> bool {
        self.aligned_max_ns <= Nanos::ZERO || span <= self.aligned_max_ns
    }

    /// A moment within a step that varies between due moments without a pattern.
    fn anywhere(&self, due: Nanos) -> Nanos {
        // Fibonacci hashing: the moments of one run differ by nanoseconds.
        let scattered = (due.0 as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
        Nanos(scattered as i64 % self.grid_ns.0)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Steps of 0.5 ms, to which timers of up to 2 ms are aligned.
    pub fn grid() -> OneShot {
        let grid_ns = Nanos(500_000);
        OneShot { grid_ns, aligned_max_ns: Nanos(2_000_000), ..exact() }
    }

    /// Each ends when it is due.
    pub fn exact() -> OneShot {
        OneShot {
            grid_ns: Nanos(1),
            ends_when_due: false,
            p_late: 0.0,
            slack_ns: Nanos::ZERO,
            aligned_max_ns: Nanos::ZERO,
        }
    }

    #[test]
    fn one_shot_timers_of_a_grid_round_up_to_it() {
        let end = |now: i64, span: i64| grid().end(Nanos(now + span), Nanos(span), |_| false).0;
        assert_eq!(end(2_000, 1_000_000), 1_500_000);
        assert_eq!(end(2_000, 1_000), 500_000);
        assert_eq!(end(2_000, 498_001), 1_000_000, "a moment that misses it by a hair is not taken");
        assert_eq!(grid().end(Nanos(1), Nanos(1), |_| true).0, 1_000_000);
    }

    #[test]
    fn where_timers_end_when_due_only_the_late_ones_know_a_grid() {
        let timer = OneShot { ends_when_due: true, ..grid() };
        assert_eq!(timer.end(Nanos(1_002_000), Nanos(1_000_000), |_| false).0, 1_002_000);
        assert_eq!(timer.end(Nanos(1_002_000), Nanos(1_000_000), |_| true).0, 1_502_000);
    }

    #[test]
    fn a_long_wait_ends_anywhere_in_a_step_and_never_early() {
        let span = Nanos(5_000_000);
        let late: Vec<i64> =
            (0..1_000).map(|now| (grid().end(Nanos(now) + span, span, |_| false) - Nanos(now) - span).0).collect();
        assert!(late.iter().all(|late| (0..500_000).contains(late)));
        let mean = late.iter().sum::<i64>() / 1_000;
        assert!((240_000..260_000).contains(&mean), "{mean}");
    }
}
