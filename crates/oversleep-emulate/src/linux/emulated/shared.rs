//! State that the threads of a supervisor share. Each state has its owner; what concerns several of them is here: the held
//! resolution, on which sites and clocks depend, and processes that start and end.

use std::sync::{PoisonError, RwLock, RwLockReadGuard};

use oversleep_record::Nanos;

use super::counts::Counts;
use super::settings::Settings;
use crate::linux::calls::remaining::Timers;
use crate::linux::calls::timeouts::Timeouts;
use crate::linux::clocks::placed::PlacedClocks;
use crate::linux::clocks::time_spaces::TimeSpaces;
use crate::linux::job::notes::Notes;
use crate::linux::process::ptrace::Tid;
use crate::linux::programs::processes::Processes;
use crate::linux::sites::counters::Counters;
use crate::linux::sites::places::Sites;
use crate::linux::trace::crew::Crew;
use crate::plan::{Holder, Resolution, Stepped, Ticks};
use crate::report::{Report, SteppedClock};

/// State that the threads of a supervisor share.
pub struct Shared {
    pub settings: Settings,
    pub counts: Counts,
    /// Sentences for the user while the program runs.
    notes: Notes,
    resolution: RwLock<Resolution>,
    pub clocks: PlacedClocks,
    pub spaces: TimeSpaces,
    pub processes: Processes,
    pub sites: Sites,
    pub timeouts: Timeouts,
    pub timers: Timers,
    pub crew: Crew,
}

impl Shared {
    pub fn new(settings: Settings, resolution: Resolution, notes: Notes) -> Shared {
        Shared {
            settings,
            counts: Counts::default(),
            notes,
            resolution: RwLock::new(resolution),
            clocks: PlacedClocks::default(),
            spaces: TimeSpaces::default(),
            processes: Processes::default(),
            sites: Sites::new(),
            timeouts: Timeouts::default(),
            timers: Timers::default(),
            crew: Crew::default(),
        }
    }

    /// Whether another filter than ours may stop a program's calls: one that the program installed itself, which makes it
    /// special, or by a call of another ABI; or one that was in force before.
    pub fn may_have_other_filters(&self) -> bool {
        let Settings { plan, is_filtered, allows_32_bit, .. } = &self.settings;
        self.processes.are_some() || plan.is_none() || *is_filtered || *allows_32_bit
    }

    /// Whether a thread of that process can wait in the injected code: the code is there, and nothing forbids its calls.
    pub fn has_code(&self, process: Tid) -> bool {
        self.settings.plan.is_some() && !self.processes.is_native(process)
    }

    /// The report of all until now.
    pub fn report(&self) -> Report {
        let report = self.counts.report(&self.settings, |tally| {
            for (counted, counts) in self.sites.counters.iter().flat_map(Counters::all) {
                tally.without_stop(counted, counts);
            }
        });
        Report { clocks: self.stepped_clocks(), ..report }
    }

    /// The clocks of programs, for the report.
    fn stepped_clocks(&self) -> Vec<SteppedClock> {
        let interrupt = self.resolution().hardware_grid().map_or(Nanos(1), |grid| grid.period);
        let row = |clock: &Stepped| SteppedClock {
            clock: clock.clock.name().to_owned(),
            stands_for: clock.stands_for.to_owned(),
            step_ns: clock.shows_multiples_of(interrupt).0,
        };
        self.settings.stepped.iter().map(row).collect()
    }

    /// Notes that a program isn't run, for that reason, and tells the user once.
    pub fn refuse(&self, process: Tid, why: &'static str) {
        if let Some(program) = self.counts.note_refused(process, why) {
            self.notes.tell(&format!("'{program}' was not run: {why}"));
        }
    }

    fn resolution(&self) -> RwLockReadGuard<'_, Resolution> {
        self.resolution.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// What waits of that process end at now.
    pub fn ticks(&self, process: Tid) -> Ticks {
        self.resolution().ticks(process)
    }

    /// Requests a resolution for that holder, or releases it with `None`. Returns what is granted.
    pub fn hold(&self, holder: Holder, requested: Option<Nanos>, now: Nanos) -> Option<Nanos> {
        self.change(|resolution| resolution.hold(holder, requested, now))
    }

    /// A wait's request for a resolution is released at that time.
    pub fn hold_until(&self, holder: Holder, until: Nanos) {
        self.resolution.write().unwrap_or_else(PoisonError::into_inner).hold_until(holder, until);
    }

    /// Whether that holder holds a resolution.
    pub fn is_held_by(&self, holder: Holder) -> bool {
        self.resolution().has(holder)
    }

    /// Releases what waits held that have ended by now. Returns when the next one ends.
    pub fn release_ended(&self, now: Nanos) -> Option<Nanos> {
        let next = || self.resolution().next_release();
        if next()? > now {
            return next();
        }
        self.change(|resolution| resolution.release_ended(now));
        next()
    }

    /// Changes the held requests, and with them the clocks that show the last interrupt.
    fn change<T>(&self, how: impl FnOnce(&mut Resolution) -> T) -> T {
        let mut resolution = self.resolution.write().unwrap_or_else(PoisonError::into_inner);
        let before = resolution.hardware_grid();
        let changed = how(&mut resolution);
        let grid = resolution.hardware_grid();
        self.sites.change(|process| resolution.grid(process));
        if grid != before {
            self.clocks.change(grid, &self.spaces);
        }
        changed
    }

    /// Gives its clocks to a program that was just executed.
    ///
    /// # Errors
    /// The reason why it reads this system's clocks.
    pub fn place_clocks(&self, process: Tid, stepped: Vec<Stepped>) -> Result<(), &'static str> {
        let resolution = self.resolution();
        self.clocks.place(process, stepped, resolution.hardware_grid(), &self.spaces)
    }

    /// How far an emulated clock of that process lags, if Linux calls the clock exact.
    pub fn behind(&self, process: Tid, id: i32, now: Nanos) -> Nanos {
        self.clocks.behind(process, id, now, || self.resolution().hardware_grid())
    }

    /// Whether new processes matter in themselves, not only for their waits.
    pub fn follows_starts(&self) -> bool {
        self.processes.are_some()
            || self.sites.are_some()
            || self.timeouts.are_some()
            || self.timers.are_some()
            || self.clocks.are_some()
    }

    /// A process started another, which has a copy of what its parent has.
    pub fn note_start(&self, process: Tid, started: Tid) {
        self.processes.note_start(process, started);
        self.timers.note_start(process, started);
        let resolution = self.resolution();
        self.sites.note_start(process, started, resolution.grid(started));
        self.clocks.note_start(process, started, resolution.hardware_grid(), &self.spaces);
    }

    /// A process ended: releases its resolution.
    pub fn forget(&self, process: Tid, now: Nanos) {
        self.processes.forget(process);
        self.timeouts.forget(process);
        self.timers.forget(process);
        self.spaces.forget(process);
        self.clocks.forget(process);
        self.sites.forget(process);
        let is_per_process = self.resolution().is_per_process();
        if is_per_process {
            self.change(|resolution| resolution.forget(process, now));
        }
    }
}
