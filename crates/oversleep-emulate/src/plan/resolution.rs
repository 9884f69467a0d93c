//! The timer resolution of the emulated machine: the requests that are held, and the grid that each process sees.

use oversleep_record::Nanos;
use oversleep_system::rules::{Grid, Requests, Tick};

/// The holder of a resolution request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holder {
    /// Every process of the program, as if each had made the request.
    All,
    /// The process with that id.
    Process(i32),
    /// A process that isn't emulated.
    Other,
}

/// The requests that are held, and the hardware's grid.
pub struct Resolution {
    tick: Option<Tick>,
    held: Vec<(Holder, Nanos)>,
    grid: Grid,
}

impl Resolution {
    pub(super) fn new(tick: Option<Tick>, now: Nanos) -> Resolution {
        let period = tick.as_ref().map_or(Nanos(1), |tick| tick.default_ns);
        let always = tick.as_ref().map(|tick| tick.held_ns).filter(|&held| held > Nanos::ZERO);
        let mut resolution = Resolution { tick, held: Vec::new(), grid: Grid { origin: Nanos::ZERO, period } };
        if let Some(held) = always {
            resolution.held.push((Holder::Other, held));
            resolution.arbitrate(now);
        }
        resolution
    }

    /// No requests, for use when no machine is emulated.
    pub fn of_no_machine() -> Resolution {
        Resolution::new(None, Nanos::ZERO)
    }

    /// Whether the machine has a tick whose period can be requested.
    pub fn has_tick(&self) -> bool {
        self.tick.is_some()
    }

    /// The grid of the timer interrupt, which coarse clocks follow; none on a machine without a tick.
    pub fn hardware_grid(&self) -> Option<Grid> {
        self.tick.is_some().then_some(self.grid)
    }

    /// Whether nothing is requested.
    pub fn is_as_found(&self) -> bool {
        self.held.iter().all(|(holder, _)| *holder == Holder::Other)
    }

    /// Whether processes see different grids.
    pub fn is_per_process(&self) -> bool {
        self.held.iter().any(|(holder, _)| matches!(holder, Holder::Process(_)))
    }

    /// Replaces the holder's request by this period; `None` releases it. Returns what is granted.
    pub fn hold(&mut self, holder: Holder, requested: Option<Nanos>, now: Nanos) -> Option<Nanos> {
        let tick = self.tick.clone()?;
        self.held.retain(|(other, _)| *other != holder);
        self.held.extend(requested.map(|requested| (holder, requested)));
        self.arbitrate(now);
        Some(requested.map_or(tick.default_ns, |requested| tick.granted(requested)))
    }

    /// Releases the request of a process that ended.
    pub fn forget(&mut self, process: i32, now: Nanos) {
        let before = self.held.len();
        self.held.retain(|(holder, _)| *holder != Holder::Process(process));
        if self.held.len() != before {
            self.arbitrate(now);
        }
    }

    /// The grid on which that process's waits end; `None` on a machine without a tick.
    pub fn grid(&self, process: i32) -> Option<Grid> {
        let tick = self.tick.as_ref()?;
        Some(self.requests(tick, process).process_grid(tick, self.grid))
    }

    /// The requests as one process sees them.
    fn requests(&self, tick: &Tick, process: i32) -> Requests {
        let mut requests = Requests::default();
        for (holder, requested) in &self.held {
            let is_own = matches!(holder, Holder::All) || *holder == Holder::Process(process);
            requests.hold(tick, *requested, is_own);
        }
        requests
    }

    fn arbitrate(&mut self, now: Nanos) {
        if let Some(tick) = &self.tick {
            self.grid = self.requests(tick, 0).hardware_grid(tick, self.grid, now);
        }
    }
}
