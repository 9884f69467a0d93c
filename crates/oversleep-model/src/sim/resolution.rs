//! Arbitration of the tick: who asked for which period, what the hardware runs at, and what each process sees of it.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use oversleep_record::Nanos;

use super::timing::{Grid, Reach, Tick};

/// A request that counts until it is taken back.
#[derive(Clone, Copy, Debug)]
struct Held {
    number: u64,
    granted: Nanos,
    is_own: bool,
}

/// Who asked for what. The running thread alone changes it.
#[derive(Debug, Default)]
pub(super) struct Requests {
    held: Vec<Held>,
    next: u64,
    /// Whether this process opted out of being ignored while its window can't be seen.
    pub(super) opted_out: bool,
    /// Interrupts of former periods.
    interrupts_before: u64,
}

/// Whose request is in force.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Whose {
    /// Nobody asks for less than the default.
    Nobody,
    /// This process's, alone or with others'.
    Own,
    /// Another's.
    Other,
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

    /// A number that is another one after each change.
    pub(super) fn changes(&self) -> u64 {
        self.changes.load(Ordering::Relaxed)
    }

    pub(super) fn grid(&self) -> Grid {
        let load = |value: &AtomicI64| Nanos(value.load(Ordering::Relaxed));
        Grid { origin: load(&self.origin), period: load(&self.period) }
    }
}

impl Requests {
    /// Asks for a period, for this process or for another; the number takes it back.
    pub(super) fn hold(&mut self, tick: &Tick, requested: Nanos, is_own: bool) -> (u64, Nanos) {
        self.next += 1;
        let granted = tick.granted(requested);
        self.held.push(Held { number: self.next, granted, is_own });
        (self.next, granted)
    }

    /// Whether nobody asks for anything.
    pub(super) fn is_empty(&self) -> bool {
        self.held.is_empty()
    }

    /// Whether this process asks for something that is ignored.
    pub(super) fn are_own_ignored(&self, tick: &Tick) -> bool {
        self.ignores_own(tick) && self.held.iter().any(|held| held.is_own)
    }

    /// Whose request the hardware follows.
    pub(super) fn whose(&self, tick: &Tick) -> Whose {
        let hardware = self.hardware(tick);
        let asks = |is_own: bool| self.held.iter().any(|held| held.is_own == is_own && held.granted == hardware);
        match hardware < tick.default_ns {
            false => Whose::Nobody,
            true if asks(true) && !self.ignores_own(tick) => Whose::Own,
            true => Whose::Other,
        }
    }

    pub(super) fn release(&mut self, number: u64) {
        self.held.retain(|held| held.number != number);
    }

    fn ignores_own(&self, tick: &Tick) -> bool {
        tick.drops_hidden && tick.is_hidden && !self.opted_out
    }

    /// The hardware's period: the shortest request that counts, of any process.
    fn hardware(&self, tick: &Tick) -> Nanos {
        let ignored = self.ignores_own(tick);
        let counting = self.held.iter().filter(|held| !(held.is_own && ignored));
        counting.map(|held| held.granted).min().unwrap_or(tick.default_ns).min(tick.default_ns)
    }

    /// Brings the hardware to the period that is asked for now. Its next tick is one new period after its last.
    pub(super) fn arbitrate(&mut self, tick: &Tick, grid: &HardwareGrid, now: Nanos) {
        let (before, period) = (grid.grid(), self.hardware(tick));
        if before.period != period {
            self.interrupts_before += ticks(&before, now);
            grid.origin.store(before.at_or_before(now).0, Ordering::Relaxed);
            grid.period.store(period.0, Ordering::Relaxed);
            grid.changes.store(grid.changes() + 1, Ordering::Relaxed);
        }
    }

    /// Interrupts of one CPU until now.
    pub(super) fn interrupts(&self, grid: &HardwareGrid, now: Nanos) -> u64 {
        self.interrupts_before + ticks(&grid.grid(), now)
    }

    /// The grid this process's waits end on.
    pub(super) fn process_grid(&self, tick: &Tick, grid: &HardwareGrid) -> Grid {
        let hardware = grid.grid();
        let has_asked = self.held.iter().any(|held| held.is_own) && !self.ignores_own(tick);
        match tick.reach {
            Reach::Asker if !has_asked => Grid { period: tick.lazy_period(hardware.period), ..hardware },
            Reach::Asker | Reach::Everyone => hardware,
        }
    }
}

fn ticks(grid: &Grid, now: Nanos) -> u64 {
    u64::try_from((now - grid.origin).0 / grid.period.0.max(1)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::super::timing::TickBase;
    use super::*;

    fn tick(reach: Reach) -> Tick {
        Tick {
            default_ns: Nanos(15_625_000),
            shortest_ns: Nanos(500_000),
            timer_hz: None,
            base: TickBase::Call,
            p_two_tick: 1.0,
            margin_ns: Nanos(10_000),
            reach,
            drops_hidden: false,
            is_hidden: false,
        }
    }

    /// What this process and the hardware run at after such requests (own or not).
    fn periods(tick: &Tick, asked: &[(i64, bool)], opted_out: bool) -> (i64, i64) {
        let mut requests = Requests { opted_out, ..Requests::default() };
        let grid = HardwareGrid::new(tick.default_ns);
        for &(requested, is_own) in asked {
            requests.hold(tick, Nanos(requested), is_own);
        }
        requests.arbitrate(tick, &grid, Nanos(40_000_000));
        (requests.process_grid(tick, &grid).period.0, grid.grid().period.0)
    }

    #[test]
    fn the_shortest_request_wins_and_ends_with_its_holder() {
        let tick = tick(Reach::Everyone);
        assert_eq!(periods(&tick, &[(2_000_000, false), (4_000_000, false)], false), (2_000_000, 2_000_000));
        let (mut requests, grid) = (Requests::default(), HardwareGrid::new(tick.default_ns));
        let (two, _) = requests.hold(&tick, Nanos(2_000_000), false);
        requests.hold(&tick, Nanos(4_000_000), false);
        requests.arbitrate(&tick, &grid, Nanos(20_000_000));
        assert_eq!(grid.grid(), Grid { origin: Nanos(15_625_000), period: Nanos(2_000_000) });
        assert_eq!(requests.interrupts(&grid, Nanos(25_625_000)), 1 + 5);
        requests.release(two);
        requests.arbitrate(&tick, &grid, Nanos(30_000_000));
        assert_eq!(grid.grid().period, Nanos(4_000_000));
    }

    #[test]
    fn since_2004_a_request_reaches_who_asked() {
        let tick = tick(Reach::Asker);
        assert_eq!(periods(&tick, &[], false), (15_625_000, 15_625_000));
        assert_eq!(periods(&tick, &[(1_000_000, false)], false), (16_000_000, 1_000_000));
        assert_eq!(periods(&tick, &[(1_000_000, false), (5_000_000, true)], false), (1_000_000, 1_000_000));
    }

    #[test]
    fn a_hidden_program_is_ignored_unless_it_opted_out() {
        let hidden = Tick { drops_hidden: true, is_hidden: true, ..tick(Reach::Asker) };
        assert_eq!(periods(&hidden, &[(500_000, true)], false), (15_625_000, 15_625_000));
        assert_eq!(periods(&hidden, &[(500_000, true)], true), (500_000, 500_000));
        let older = Tick { drops_hidden: false, ..hidden };
        assert_eq!(periods(&older, &[(500_000, true)], false), (500_000, 500_000));
    }
}
