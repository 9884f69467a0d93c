//! The modelled timer interrupt: its hardware follows the held requests, by the rules of [`oversleep_system::rules`].

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use oversleep_record::Nanos;
use oversleep_system::rules::{Grid, Requests, Tick};

/// The held requests, and the interrupts that they caused. Only the running thread changes it.
#[derive(Debug, Default)]
pub(super) struct Arbiter {
    pub(super) requests: Requests,
    /// Interrupts of former periods.
    interrupts_before: u64,
}

/// The grid of the hardware's interrupt, readable without a lock.
#[derive(Debug, Default)]
pub(super) struct HardwareGrid {
    origin: AtomicI64,
    period: AtomicI64,
    /// How often it changed.
    changes: AtomicU64,
}

impl HardwareGrid {
    pub(super) fn new(period: Nanos) -> HardwareGrid {
        HardwareGrid { origin: AtomicI64::new(0), period: AtomicI64::new(period.0), changes: AtomicU64::new(0) }
    }

    /// A number that differs after each change.
    pub(super) fn changes(&self) -> u64 {
        self.changes.load(Ordering::Relaxed)
    }

    pub(super) fn grid(&self) -> Grid {
        let load = |value: &AtomicI64| Nanos(value.load(Ordering::Relaxed));
        Grid { origin: load(&self.origin), period: load(&self.period) }
    }
}

impl Arbiter {
    /// Sets the hardware to the period that follows from the requests. Its next tick is one new period after its last.
    pub(super) fn arbitrate(&mut self, tick: &Tick, grid: &HardwareGrid, now: Nanos) {
        let before = grid.grid();
        let after = self.requests.hardware_grid(tick, before, now);
        if before != after {
            self.interrupts_before += ticks(&before, now);
            grid.origin.store(after.origin.0, Ordering::Relaxed);
            grid.period.store(after.period.0, Ordering::Relaxed);
            grid.changes.store(grid.changes() + 1, Ordering::Relaxed);
        }
    }

    /// Interrupts of one CPU until now.
    pub(super) fn interrupts(&self, grid: &HardwareGrid, now: Nanos) -> u64 {
        self.interrupts_before + ticks(&grid.grid(), now)
    }
}

fn ticks(grid: &Grid, now: Nanos) -> u64 {
    u64::try_from((now - grid.origin).0 / grid.period.0.max(1)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use oversleep_system::rules::{Reach, TickBase};

    use super::*;

    #[test]
    fn a_new_period_begins_at_the_last_interrupt_of_the_former() {
        let tick = Tick {
            default_ns: Nanos(15_625_000),
            shortest_ns: Nanos(500_000),
            timer_hz: None,
            base: TickBase::Call,
            p_two_tick: 1.0,
            margin_ns: Nanos(10_000),
            ends_waits: true,
            held_ns: Nanos::ZERO,
            reach: Reach::Everyone,
            drops_hidden: false,
            is_hidden: false,
        };
        let (mut arbiter, grid) = (Arbiter::default(), HardwareGrid::new(tick.default_ns));
        let (two, _) = arbiter.requests.hold(&tick, Nanos(2_000_000), false);
        arbiter.requests.hold(&tick, Nanos(4_000_000), false);
        arbiter.arbitrate(&tick, &grid, Nanos(20_000_000));
        assert_eq!(grid.grid(), Grid { origin: Nanos(15_625_000), period: Nanos(2_000_000) });
        assert_eq!(arbiter.interrupts(&grid, Nanos(25_625_000)), 1 + 5);
        arbiter.requests.release(two);
        arbiter.arbitrate(&tick, &grid, Nanos(30_000_000));
        assert_eq!(grid.grid().period, Nanos(4_000_000));
    }
}
