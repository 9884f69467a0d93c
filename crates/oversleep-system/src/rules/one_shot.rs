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
}

impl OneShot {
    /// When a timer ends that is due then: never early, whatever the grid.
    pub fn end(&self, due: Nanos, happens: impl FnOnce(f64) -> bool) -> Nanos {
        if self.grid_ns.0 <= 1 {
            return due;
        }
        let end = Grid { origin: Nanos::ZERO, period: self.grid_ns }.at_or_after(due);
        if happens(self.p_late) { end + self.grid_ns } else { end }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_shot_timers_of_a_grid_round_up_to_it() {
        let one_shot = OneShot { grid_ns: Nanos(500_000), p_late: 0.0 };
        let end = |now: i64, span: i64| one_shot.end(Nanos(now + span), |_| false).0;
        assert_eq!(end(2_000, 1_000_000), 1_500_000);
        assert_eq!(end(2_000, 1_000), 500_000);
        assert_eq!(end(2_000, 498_001), 1_000_000, "a moment that misses it by a hair is not taken");
        assert_eq!(one_shot.end(Nanos(1), |_| true).0, 1_000_000);
    }
}
