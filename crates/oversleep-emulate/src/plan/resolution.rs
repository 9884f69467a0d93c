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
    /// A process's runtime, for its whole life.
    Runtime(i32),
    /// A process's runtime, while that thread waits.
    Wait {
        /// The process.
        process: i32,
        /// The thread.
        thread: i32,
    },
    /// A process that isn't emulated.
    Other,
}

impl Holder {
    /// The process for which it holds.
    fn process(self) -> Option<i32> {
        match self {
            Holder::Process(process) | Holder::Runtime(process) | Holder::Wait { process, .. } => Some(process),
            Holder::All | Holder::Other => None,
        }
    }
}

/// A request that is held.
struct Held {
    holder: Holder,
    requested: Nanos,
    /// When a wait's is released.
    until: Option<Nanos>,
}

/// What waits of a process end at.
#[derive(Clone, Copy, Debug)]
pub struct Ticks {
    /// The ticks that the process is served at; `None` on a machine without any.
    pub grid: Option<Grid>,
    /// The timer interrupts, which some clocks show.
    pub interrupts: Option<Grid>,
    /// Nobody holds another resolution than the machine was found with.
    pub is_as_found: bool,
}

/// The requests that are held, and the hardware's grid.
pub struct Resolution {
    tick: Option<Tick>,
    held: Vec<Held>,
    grid: Grid,
}

impl Resolution {
    pub(super) fn new(tick: Option<Tick>, now: Nanos) -> Resolution {
        let period = tick.as_ref().map_or(Nanos(1), |tick| tick.default_ns);
        let always = tick.as_ref().map(|tick| tick.held_ns).filter(|&held| held > Nanos::ZERO);
        let mut resolution = Resolution { tick, held: Vec::new(), grid: Grid { origin: Nanos::ZERO, period } };
        if let Some(held) = always {
            resolution.held.push(Held { holder: Holder::Other, requested: held, until: None });
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
        self.held.iter().all(|held| held.holder == Holder::Other)
    }

    /// Whether processes see different grids.
    pub fn is_per_process(&self) -> bool {
        self.held.iter().any(|held| held.holder.process().is_some())
    }

    /// Replaces the holder's request by this period; `None` releases it. Returns what is granted.
    pub fn hold(&mut self, holder: Holder, requested: Option<Nanos>, now: Nanos) -> Option<Nanos> {
        let tick = self.tick.clone()?;
        self.held.retain(|other| other.holder != holder);
        self.held.extend(requested.map(|requested| Held { holder, requested, until: None }));
        self.arbitrate(now);
        Some(requested.map_or(tick.default_ns, |requested| tick.granted(requested)))
    }

    /// What that holder requested is released at that time.
    pub fn hold_until(&mut self, holder: Holder, until: Nanos) {
        self.held.iter_mut().filter(|held| held.holder == holder).for_each(|held| held.until = Some(until));
    }

    /// Whether that holder holds anything.
    pub fn has(&self, holder: Holder) -> bool {
        self.held.iter().any(|held| held.holder == holder)
    }

    /// When the next request is released.
    pub fn next_release(&self) -> Option<Nanos> {
        self.held.iter().filter_map(|held| held.until).min()
    }

    /// Releases what waits held that have ended, each at its end.
    pub fn release_ended(&mut self, now: Nanos) {
        while let Some(at) = self.next_release().filter(|&at| at <= now) {
            self.held.retain(|held| held.until != Some(at));
            self.arbitrate(at);
        }
    }

    /// Releases the requests of a process or thread that ended.
    pub fn forget(&mut self, ended: i32, now: Nanos) {
        let before = self.held.len();
        let is_its = |holder| matches!(holder, Holder::Wait { thread, .. } if thread == ended);
        self.held.retain(|held| held.holder.process() != Some(ended) && !is_its(held.holder));
        if self.held.len() != before {
            self.arbitrate(now);
        }
    }

    /// The grid on which that process's waits end; `None` on a machine without a tick.
    pub fn grid(&self, process: i32) -> Option<Grid> {
        let tick = self.tick.as_ref()?;
        Some(self.requests(tick, process).process_grid(tick, self.grid))
    }

    /// What waits of that process end at now.
    pub fn ticks(&self, process: i32) -> Ticks {
        Ticks { grid: self.grid(process), interrupts: self.hardware_grid(), is_as_found: self.is_as_found() }
    }

    /// The requests as one process sees them.
    fn requests(&self, tick: &Tick, process: i32) -> Requests {
        let mut requests = Requests::default();
        for held in &self.held {
            let is_own = matches!(held.holder, Holder::All) || held.holder.process() == Some(process);
            requests.hold(tick, held.requested, is_own);
        }
        requests
    }

    fn arbitrate(&mut self, now: Nanos) {
        if let Some(tick) = &self.tick {
            self.grid = self.requests(tick, 0).hardware_grid(tick, self.grid, now);
        }
    }
}
