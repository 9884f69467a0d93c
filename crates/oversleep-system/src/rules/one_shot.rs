//! Timers that are programmed for one moment.

use oversleep_record::Nanos;

use super::Grid;

/// Timers that are programmed for one moment.
#[derive(Clone, Copy, Debug)]
pub struct OneShot {
    /// They end on multiples of this; one nanosecond where they end when they are due.
    pub grid_ns: Nanos,
    /// Share of waits that end one grid step later.
    pub p_late: f64,
    /// The longest span for which the grid is the same as for the timers before it; a longer one may begin anywhere in a
    /// step. Zero: all have one grid.
    pub aligned_max_ns: Nanos,
}

impl OneShot {
    /// When a timer of that span ends that is due then: never early, whatever the grid.
    pub fn end(&self, due: Nanos, span: Nanos, happens: impl FnOnce(f64) -> bool) -> Nanos {
        if self.grid_ns.0 <= 1 {
            return due;
        }
        let origin = if self.is_aligned(span) { Nanos::ZERO } else { self.anywhere(due) };
        let end = Grid { origin, period: self.grid_ns }.at_or_after(due);
        if happens(self.p_late) { end + self.grid_ns } else { end }
    }

    /// Whether timers of that span end on the same grid as those before.
    pub fn is_aligned(&self, span: Nanos) -> bool {
        self.aligned_max_ns <= Nanos::ZERO || span <= self.aligned_max_ns
    }

    /// A moment of a step that differs from one due moment to the next without a pattern.
    fn anywhere(&self, due: Nanos) -> Nanos {
        // Fibonacci hashing: the moments of one run differ by nanoseconds.
        let scattered = (due.0 as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
        Nanos(scattered as i64 % self.grid_ns.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_shot_timers_of_a_grid_round_up_to_it() {
        let one_shot = OneShot { grid_ns: Nanos(500_000), p_late: 0.0, aligned_max_ns: Nanos(2_000_000) };
        let end = |now: i64, span: i64| one_shot.end(Nanos(now + span), Nanos(span), |_| false).0;
        assert_eq!(end(2_000, 1_000_000), 1_500_000);
        assert_eq!(end(2_000, 1_000), 500_000);
        assert_eq!(end(2_000, 498_001), 1_000_000, "a moment that misses it by a hair is not taken");
        assert_eq!(one_shot.end(Nanos(1), Nanos(1), |_| true).0, 1_000_000);
    }

    #[test]
    fn a_long_wait_ends_anywhere_in_a_step_and_never_early() {
        let one_shot = OneShot { grid_ns: Nanos(500_000), p_late: 0.0, aligned_max_ns: Nanos(2_000_000) };
        let span = Nanos(5_000_000);
        let late: Vec<i64> =
            (0..1_000).map(|now| (one_shot.end(Nanos(now) + span, span, |_| false) - Nanos(now) - span).0).collect();
        assert!(late.iter().all(|late| (0..500_000).contains(late)));
        let mean = late.iter().sum::<i64>() / 1_000;
        assert!((240_000..260_000).contains(&mean), "{mean}");
    }
}
