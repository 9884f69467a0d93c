//! Arbitration of the timer interrupt: the requests, the hardware's period, and the period for each process.

use oversleep_record::Nanos;

use super::{Grid, Reach, Tick};

/// The requests on a machine, from the point of view of one process: its own and those of others.
#[derive(Debug, Default)]
pub struct Requests {
    held: Vec<Held>,
    next: u64,
    /// Whether this process opted out of having its requests ignored while its window is hidden.
    pub has_opted_out: bool,
}

/// A request that counts until it is released.
#[derive(Clone, Copy, Debug)]
struct Held {
    number: u64,
    requested: Nanos,
    granted: Nanos,
    is_own: bool,
}

/// The process whose request is in force.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Requester {
    /// Nobody requests less than the default.
    Nobody,
    /// This process, alone or with others.
    This,
    /// Another process.
    Other,
}

impl Requests {
    /// Requests a period, for this process or for another one. Returns the number that releases it, and the granted
    /// period.
    pub fn hold(&mut self, tick: &Tick, requested: Nanos, is_own: bool) -> (u64, Nanos) {
        self.next += 1;
        let granted = tick.granted(requested);
        self.held.push(Held { number: self.next, requested, granted, is_own });
        (self.next, granted)
    }

    /// Releases a request.
    pub fn release(&mut self, number: u64) {
        self.held.retain(|held| held.number != number);
    }

    /// The periods that other processes request, in the order of their requests.
    pub fn of_others(&self) -> impl Iterator<Item = Nanos> {
        self.held.iter().filter(|held| !held.is_own).map(|held| held.requested)
    }

    /// Whether no process holds a request.
    pub fn is_empty(&self) -> bool {
        self.held.is_empty()
    }

    /// The hardware's period: the shortest request that counts, of any process.
    pub fn hardware_period(&self, tick: &Tick) -> Nanos {
        let ignored = self.ignores_own(tick);
        let counting = self.held.iter().filter(|held| !(held.is_own && ignored));
        counting.map(|held| held.granted).min().unwrap_or(tick.default_ns).min(tick.default_ns)
    }

    /// The hardware's grid after the requests changed: the first tick of a new period comes one new period after the
    /// last tick of the old one.
    pub fn hardware_grid(&self, tick: &Tick, before: Grid, now: Nanos) -> Grid {
        match self.hardware_period(tick) {
            period if period == before.period => before,
            period => Grid { origin: before.at_or_before(now), period },
        }
    }

    /// The grid on which this process's waits end, given the hardware's grid.
    pub fn process_grid(&self, tick: &Tick, hardware: Grid) -> Grid {
        let has_requested = self.held.iter().any(|held| held.is_own) && !self.ignores_own(tick);
        match tick.reach {
            Reach::Requesters if !has_requested => {
                Grid { period: tick.period_without_request(hardware.period), ..hardware }
            }
            Reach::Requesters | Reach::Everyone => hardware,
        }
    }

    /// The process whose request the hardware follows.
    pub fn in_force(&self, tick: &Tick) -> Requester {
        let hardware = self.hardware_period(tick);
        let is_own = || !self.ignores_own(tick) && self.held.iter().any(|held| held.is_own && held.granted == hardware);
        match hardware < tick.default_ns {
            false => Requester::Nobody,
            true if is_own() => Requester::This,
            true => Requester::Other,
        }
    }

    /// Whether this process holds a request that is ignored.
    pub fn are_own_ignored(&self, tick: &Tick) -> bool {
        self.ignores_own(tick) && self.held.iter().any(|held| held.is_own)
    }

    fn ignores_own(&self, tick: &Tick) -> bool {
        tick.drops_hidden && tick.is_hidden && !self.has_opted_out
    }
}

#[cfg(test)]
mod tests {
    use super::super::tick::tests::tick;
    use super::*;

    fn reaching(reach: Reach) -> Tick {
        Tick { reach, timer_hz: None, ..tick() }
    }

    /// The periods of this process and of the hardware after these requests (its own or not).
    fn periods(tick: &Tick, requested: &[(i64, bool)], has_opted_out: bool) -> (i64, i64) {
        let mut requests = Requests { has_opted_out, ..Requests::default() };
        for &(requested, is_own) in requested {
            requests.hold(tick, Nanos(requested), is_own);
        }
        let hardware = requests.hardware_period(tick);
        let grid = Grid { origin: Nanos::ZERO, period: hardware };
        (requests.process_grid(tick, grid).period.0, hardware.0)
    }

    #[test]
    fn the_shortest_request_wins_and_ends_with_its_holder() {
        let tick = reaching(Reach::Everyone);
        assert_eq!(periods(&tick, &[(2_000_000, false), (4_000_000, false)], false), (2_000_000, 2_000_000));
        let mut requests = Requests::default();
        assert_eq!(requests.in_force(&tick), Requester::Nobody);
        let (two, _) = requests.hold(&tick, Nanos(2_000_000), false);
        requests.hold(&tick, Nanos(4_000_000), true);
        assert_eq!((requests.hardware_period(&tick), requests.in_force(&tick)), (Nanos(2_000_000), Requester::Other));
        requests.release(two);
        assert_eq!((requests.hardware_period(&tick), requests.in_force(&tick)), (Nanos(4_000_000), Requester::This));
    }

    #[test]
    fn since_2004_a_request_reaches_who_made_it() {
        let tick = reaching(Reach::Requesters);
        assert_eq!(periods(&tick, &[], false), (15_625_000, 15_625_000));
        assert_eq!(periods(&tick, &[(1_000_000, false)], false), (16_000_000, 1_000_000));
        assert_eq!(periods(&tick, &[(1_000_000, false), (5_000_000, true)], false), (1_000_000, 1_000_000));
    }

    #[test]
    fn a_hidden_program_is_ignored_unless_it_opted_out() {
        let hidden = Tick { drops_hidden: true, is_hidden: true, ..reaching(Reach::Requesters) };
        assert_eq!(periods(&hidden, &[(500_000, true)], false), (15_625_000, 15_625_000));
        assert_eq!(periods(&hidden, &[(500_000, true)], true), (500_000, 500_000));
        let older = Tick { drops_hidden: false, ..hidden };
        assert_eq!(periods(&older, &[(500_000, true)], false), (500_000, 500_000));
    }
}
