//! The timer interrupt of Windows: the period that a request is granted, and the interrupt at which a wait ends.

use oversleep_record::Nanos;

use super::Grid;

/// A timer interrupt whose period programs can shorten.
#[derive(Clone, Debug)]
pub struct Tick {
    /// Period without a request.
    pub default_ns: Nanos,
    /// Shortest period.
    pub shortest_ns: Nanos,
    /// Frequency of the timer behind it: periods are multiples of 128 of its cycles, rounded down. `None`: any multiple
    /// of 100 ns.
    pub timer_hz: Option<u64>,
    /// The start from which a wait counts.
    pub base: TickBase,
    /// Share of waits that an interrupt missed by less than [`Tick::margin_ns`] doesn't end: they take one tick more.
    pub p_two_tick: f64,
    /// The interrupt may come earlier than the wait's end by at most this, and still end it in some cases.
    pub margin_ns: Nanos,
    /// Whether it ends waits at all. Under Wine it is only a period that calls report: the host ends the waits.
    pub ends_waits: bool,
    /// The period that another process holds permanently; zero if none does.
    pub held_ns: Nanos,
    /// The processes that a request affects.
    pub reach: Reach,
    /// Whether requests of programs whose window is hidden are ignored.
    pub drops_hidden: bool,
    /// Whether this program's window is hidden.
    pub is_hidden: bool,
}

/// The start from which a wait on the tick counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TickBase {
    /// The call: never early.
    Call,
    /// The tick before the call: up to one tick early.
    LastTick,
}

/// The processes that a request for a resolution affects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Every process.
    Everyone,
    /// Processes that made a request; the others are served at multiples of the period near the default.
    Requesters,
}

/// Periods of neighbours beside which a process without a request is served unevenly: measurements of Sleep(1) on Windows 10
/// 2004 are noisy there and without noise from 9 ms on.
/// <https://randomascii.wordpress.com/2020/10/04/windows-timer-resolution-the-great-rule-change/>.
const UNEVEN_RANGE: std::ops::RangeInclusive<Nanos> = Nanos(3_900_000)..=Nanos::from_millis(8);
/// Share of waits served a tick sooner, and of those served one later: more than those at the mean, which is not the most
/// frequent delay.
const UNEVEN_SHARE: f64 = 0.35;

impl Tick {
    /// When a wait of `span` that is entered `now` ends on this process's grid, with a tolerated delay of `tolerance`.
    /// `happens` draws whether an event of that probability happens.
    #[inline]
    pub fn end(
        &self,
        grid: Grid,
        now: Nanos,
        span: Nanos,
        tolerance: Nanos,
        happens: impl FnOnce(f64) -> bool,
    ) -> Nanos {
        let due = match self.base {
            TickBase::Call => now + span,
            TickBase::LastTick => grid.at_or_before(now) + span,
        };
        if tolerance >= grid.period + grid.period {
            let coarse = Grid { period: tolerance.round_down_to(grid.period), ..grid };
            return coarse.at_or_after(due);
        }
        let end = self.near_end(grid, now, due, happens);
        // A zero span counted from the last tick is over already: the wait nevertheless ends at the next tick.
        if end > now { end } else { grid.at_or_after(now + Nanos(1)) }
    }

    /// The first tick at or after `due`, or the one before it if that is early by less than the margin and the draw
    /// succeeds.
    fn near_end(&self, grid: Grid, now: Nanos, due: Nanos, happens: impl FnOnce(f64) -> bool) -> Nanos {
        let end = grid.at_or_after(due);
        let before = end - grid.period;
        let is_near = before > now && due - before < self.margin_ns && end > due;
        if is_near && !happens(self.p_two_tick) { before } else { end }
    }

    /// The period that a request is granted: a multiple of 128 cycles of the underlying timer, in units of 100 ns.
    pub fn granted(&self, requested: Nanos) -> Nanos {
        let requested = requested.max(self.shortest_ns).min(self.default_ns);
        let Some(hz) = self.timer_hz else { return requested.round_down_to(Nanos(100)) };
        if requested == self.default_ns {
            return requested;
        }
        let cycles = i128::from(requested.0 / 100) * i128::from(hz);
        let multiple = (cycles - 1) / (128 * 10_000_000);
        Nanos((multiple * 128 * 10_000_000 / i128::from(hz) * 100) as i64)
    }

    /// The period for a process without a request, if requests only affect the processes that made one.
    pub fn period_without_request(&self, hardware: Nanos) -> Nanos {
        if hardware >= self.default_ns {
            return hardware;
        }
        let (default, period) = (self.default_ns.0, hardware.0);
        // For a short period the nearest multiple; for a long one the largest multiple that does not exceed the default.
        let multiple = if period <= 2_000_000 { (default + period / 2) / period } else { default / period };
        Nanos(period * multiple.max(1))
    }

    /// Whether a process without a request is served unevenly while the hardware has that period and the process the other:
    /// at neighbours' periods of 4 to 8 ms measured delays vary by a tick of the hardware, and at 7 ms the mean of two ticks
    /// is not the most frequent one.
    pub fn is_uneven(&self, hardware: Nanos, own: Nanos) -> bool {
        self.reach == Reach::Requesters && UNEVEN_RANGE.contains(&hardware) && own >= hardware + hardware
    }

    /// How many ticks of the hardware later an uneven wait is served than usual, for a random number from 0 up to but
    /// excluding 1. Sooner is as frequent as later, so the mean stays.
    pub fn uneven_by(&self, unit: f64) -> i64 {
        match unit {
            sooner if sooner < UNEVEN_SHARE => -1,
            later if later >= 1.0 - UNEVEN_SHARE => 1,
            _ => 0,
        }
    }

    /// The duration of back-to-back waits of that span at the default period, each entered right after a tick: if near
    /// misses end it, and if none does.
    pub fn back_to_back(&self, span: Nanos, tolerance: Nanos) -> [Nanos; 2] {
        const AFTER_TICK: Nanos = Nanos(2_000);
        let grid = Grid { origin: Nanos::ZERO, period: self.default_ns };
        let entered = self.default_ns * 1_000 + AFTER_TICK;
        // The thread runs equally long after the tick that ends each wait.
        [false, true].map(|takes_two| self.end(grid, entered, span, tolerance, |_| takes_two) - entered + AFTER_TICK)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub fn tick() -> Tick {
        Tick {
            default_ns: Nanos(15_625_000),
            shortest_ns: Nanos(500_000),
            timer_hz: Some(24_000_000),
            base: TickBase::Call,
            p_two_tick: 1.0,
            margin_ns: Nanos(10_000),
            ends_waits: true,
            held_ns: Nanos::ZERO,
            reach: Reach::Everyone,
            drops_hidden: false,
            is_hidden: false,
        }
    }

    fn grid(period: i64) -> Grid {
        Grid { origin: Nanos::ZERO, period: Nanos(period) }
    }

    /// Elapsed time of a wait entered 2 µs after a tick.
    fn elapsed(tick: &Tick, period: i64, span: i64) -> i64 {
        let now = Nanos(1_000 * period + 2_000);
        let happens = |probability: f64| probability >= 1.0;
        (tick.end(grid(period), now, Nanos(span), Nanos::ZERO, happens) - now).0 + 2_000
    }

    #[test]
    fn grants_are_the_published_ones() {
        let granted = |hundreds: i64| tick().granted(Nanos(hundreds * 100)).0 / 100;
        for (requested, got) in [(5_013, 4_960), (5_014, 5_013), (5_067, 5_066), (5_121, 5_120)] {
            assert_eq!(granted(requested), got, "{requested}");
        }
        // The published formula of the table, for every request in it.
        for requested in 5_000..=6_000 {
            assert_eq!(granted(requested), (3 * requested - 1) / 160 * 160 / 3);
        }
        let faster = Tick { timer_hz: Some(100_000_000), ..tick() };
        assert_eq!(faster.granted(Nanos(500_000)), Nanos(499_200));
        assert_eq!(faster.granted(Nanos(507_000)), Nanos(506_800), "506.88 µs in units of 100 ns");
        assert_eq!(faster.granted(Nanos(1_000)), Nanos(499_200), "no shorter than the shortest");
        assert_eq!(tick().granted(Nanos::from_secs(1)), Nanos(15_625_000));
        assert_eq!(Tick { timer_hz: None, ..tick() }.granted(Nanos(1_000_050)), Nanos(1_000_000));
    }

    #[test]
    fn a_wait_ends_at_the_first_tick_that_is_not_early() {
        let tick = tick();
        assert_eq!(elapsed(&tick, 15_625_000, 1_000_000), 15_625_000);
        assert_eq!(elapsed(&tick, 506_880, 1_000_000), 2 * 506_880);
        assert_eq!(elapsed(&tick, 499_200, 1_000_000), 3 * 499_200, "0.5 ms is worse than 0.507");
        assert_eq!(elapsed(&tick, 500_000, 1_000_000), 3 * 500_000);
        assert_eq!(elapsed(&tick, 1_000_000, 1_000_000), 2_000_000);
        assert_eq!(elapsed(&Tick { p_two_tick: 0.0, ..tick.clone() }, 1_000_000, 1_000_000), 1_000_000);
        let old = Tick { base: TickBase::LastTick, ..tick };
        assert_eq!(elapsed(&old, 1_000_000, 1_000_000), 1_000_000);
        assert_eq!(elapsed(&old, 15_625_000, 0), 15_625_000);
    }

    #[test]
    fn counted_from_the_last_tick_a_wait_can_end_early() {
        let old = Tick { base: TickBase::LastTick, ..tick() };
        let now = Nanos(15_000_000);
        let end = old.end(grid(15_625_000), now, Nanos::from_millis(100), Nanos::ZERO, |_| true);
        assert_eq!(end - now, Nanos(109_375_000 - 15_000_000));
    }

    #[test]
    fn a_process_without_a_request_is_served_at_multiples_near_the_default() {
        let period = |hardware: i64| tick().period_without_request(Nanos(hardware)).0;
        for (hardware, multiple) in
            [(499_200, 31), (999_400, 16), (2_000_000, 8), (6_000_000, 2), (7_000_000, 2), (9_000_000, 1)]
        {
            assert_eq!(period(hardware), hardware * multiple);
        }
        assert_eq!(period(15_625_000), 15_625_000);
    }

    #[test]
    fn beside_a_neighbour_at_4_to_8_ms_a_process_is_served_unevenly() {
        let reached = tick();
        let lazy = Tick { reach: Reach::Requesters, ..reached.clone() };
        let uneven = |tick: &Tick, ms: i64| {
            let hardware = Nanos::from_millis(ms);
            tick.is_uneven(hardware, tick.period_without_request(hardware))
        };
        assert_eq!([2, 4, 6, 7, 8, 9].map(|ms| uneven(&lazy, ms)), [false, true, true, true, false, false]);
        assert!(!uneven(&reached, 6));
        assert_eq!([0.0, 0.3, 0.4, 0.6, 0.7, 0.99].map(|unit| lazy.uneven_by(unit)), [-1, -1, 0, 0, 1, 1]);
    }

    #[test]
    fn a_tolerance_postpones_timers_to_a_coarser_grid() {
        let end = tick().end(grid(1_000_000), Nanos(1_500), Nanos(1_000_000), Nanos::from_millis(10), |_| true);
        assert_eq!(end, Nanos::from_millis(10));
    }

    #[test]
    fn calls_back_to_back() {
        let tick = Tick { default_ns: Nanos(1_000_000), timer_hz: None, p_two_tick: 0.5, ..tick() };
        assert_eq!(tick.back_to_back(Nanos(1_000_000), Nanos::ZERO), [Nanos(1_000_000), Nanos(2_000_000)]);
        assert_eq!(tick.back_to_back(Nanos(1_500_000), Nanos::ZERO), [Nanos(2_000_000); 2]);
        assert_eq!(tick.back_to_back(Nanos(1_000_000), Nanos(10_000_000)), [Nanos(10_000_000); 2]);
    }
}
