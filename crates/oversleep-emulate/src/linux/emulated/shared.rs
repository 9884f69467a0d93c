//! State that the threads of a supervisor share.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use oversleep_record::Nanos;
use oversleep_system::rules::Grid;

use crate::Request;
use crate::linux::calls::remaining::Timers;
use crate::linux::calls::timeouts::Timeouts;
use crate::linux::clocks::table::{self, Table};
use crate::linux::clocks::time_spaces::TimeSpaces;
use crate::linux::job::notes::Notes;
use crate::linux::process::clock;
use crate::linux::process::lock::lock;
use crate::linux::process::ptrace::Tid;
use crate::linux::programs::processes::Processes;
use crate::linux::sites::places::Sites;
use crate::linux::trace::crew::Crew;
use crate::plan::{ClockChoice, Described, Holder, Plan, Resolution, Stepped};
use crate::report::{AdapterUsed, OwnWakeUp, Refused, SteppedClock, Tally};

/// State that the threads of a supervisor share.
pub struct Shared {
    /// The program and its arguments as typed.
    pub typed: Vec<String>,
    /// The emulated machine; `None` if programs wait natively.
    pub plan: Option<Plan>,
    /// What was taken off its learned lateness.
    pub own_wake_up: Option<OwnWakeUp>,
    /// Whether setuid programs gain no privileges because they are traced by an unprivileged user.
    pub is_unprivileged: bool,
    /// Whether programs have their memory locked.
    pub locks_memory: bool,
    /// Whether programs of 32 bits run with native timing.
    pub allows_32_bit: bool,
    /// What the user is told at once.
    notes: Notes,
    /// How many programs have their memory locked, and the last error of one that hasn't.
    pub locked: AtomicU64,
    pub not_locked: AtomicI32,
    pub resolution: RwLock<Resolution>,
    pub processes: Processes,
    pub sites: Sites,
    pub timeouts: Timeouts,
    pub timers: Timers,
    pub spaces: TimeSpaces,
    /// Which clocks a program gets.
    pub choice: ClockChoice,
    /// The stepped clocks of a program without adapters.
    pub stepped: Vec<Stepped>,
    /// Whether programs of known runtimes get the behaviour of their ports.
    pub has_adapters: bool,
    /// The calls that the programs' sleeps are said to stand for.
    pub stands_for: Vec<String>,
    /// The processes with emulated clocks, and which clocks these are.
    clocked: Mutex<HashMap<Tid, Arc<Vec<Stepped>>>>,
    /// Whether some process has an emulated clock that programs take deadlines from.
    pub steps_exact_clocks: AtomicBool,
    /// Whether the interrupt period has changed since programs got their clocks.
    has_changed: AtomicBool,
    pub execs: AtomicU64,
    pub threads: AtomicU64,
    pub threads_max: AtomicU64,
    /// The adapters that were applied.
    pub adapters: Mutex<BTreeSet<Described>>,
    /// The names of the programs that have none.
    pub unrecognised: Mutex<BTreeSet<String>>,
    /// How often each program wasn't run, by reason.
    refused: Mutex<BTreeMap<(String, &'static str), u64>>,
    pub tallies: Mutex<Tallies>,
    pub crew: Crew,
}

/// What tracers counted. Those that have ended share one tally, so that it doesn't grow with every burst of threads.
#[derive(Default)]
pub struct Tallies {
    active: Vec<Arc<Mutex<Tally>>>,
    ended: u64,
    of_ended: Tally,
}

impl Tallies {
    /// The tally of one more tracer.
    pub fn begin(&mut self) -> Arc<Mutex<Tally>> {
        let tally = Arc::<Mutex<Tally>>::default();
        self.active.push(Arc::clone(&tally));
        tally
    }

    /// A tracer has ended.
    pub fn end(&mut self, tally: &Arc<Mutex<Tally>>) {
        self.active.retain(|other| !Arc::ptr_eq(other, tally));
        self.ended += 1;
        self.of_ended.merge(&lock(tally));
    }

    /// The number of tracers until now, and the sum of their tallies.
    pub fn sum(&self) -> (u64, Tally) {
        let mut sum = Tally::default();
        sum.merge(&self.of_ended);
        self.active.iter().for_each(|tally| sum.merge(&lock(tally)));
        (self.ended + self.active.len() as u64, sum)
    }
}

impl Shared {
    pub fn new(
        request: Request,
        resolution: Resolution,
        stepped: Vec<Stepped>,
        own_wake_up: Option<OwnWakeUp>,
        notes: Notes,
    ) -> Shared {
        Shared {
            typed: request.program.iter().map(|word| word.to_string_lossy().into_owned()).collect(),
            plan: request.plan,
            own_wake_up,
            // SAFETY: takes nothing.
            is_unprivileged: unsafe { libc::geteuid() } != 0,
            locks_memory: request.locks_memory,
            allows_32_bit: request.allows_32_bit,
            notes,
            locked: AtomicU64::new(0),
            not_locked: AtomicI32::new(0),
            resolution: RwLock::new(resolution),
            processes: Processes::default(),
            sites: Sites::new(),
            timeouts: Timeouts::default(),
            timers: Timers::default(),
            spaces: TimeSpaces::default(),
            choice: request.clocks,
            stepped,
            has_adapters: request.has_adapters,
            stands_for: request.stands_for,
            clocked: Mutex::default(),
            steps_exact_clocks: AtomicBool::new(false),
            has_changed: AtomicBool::new(false),
            execs: AtomicU64::new(0),
            threads: AtomicU64::new(0),
            threads_max: AtomicU64::new(0),
            adapters: Mutex::default(),
            unrecognised: Mutex::default(),
            refused: Mutex::default(),
            tallies: Mutex::default(),
            crew: Crew::default(),
        }
    }

    /// The machine's name.
    pub fn machine(&self) -> &str {
        self.plan.as_ref().map_or("this machine", Plan::machine)
    }

    /// Whether a thread of that process can wait in the injected code: the code is there, and nothing forbids its calls.
    pub fn has_code(&self, process: Tid) -> bool {
        self.plan.is_some() && !self.processes.is_native(process)
    }

    /// The clocks of programs, for the report.
    pub fn clocks(&self) -> Vec<SteppedClock> {
        let grid = self.resolution.read().unwrap_or_else(PoisonError::into_inner).hardware_grid();
        let interrupt = grid.map_or(Nanos(1), |grid| grid.period);
        let row = |clock: &Stepped| SteppedClock {
            clock: clock.clock.name().to_owned(),
            stands_for: clock.stands_for.to_owned(),
            step_ns: clock.shows_multiples_of(interrupt).0,
        };
        self.stepped.iter().map(row).collect()
    }

    /// The adapters that were applied, for the report.
    pub fn adapters(&self) -> Vec<AdapterUsed> {
        let row = |one: Described| AdapterUsed {
            runtime: one.runtime,
            does: one.does,
            source: one.source,
            evidence: one.evidence,
        };
        let others: Vec<String> = lock(&self.unrecognised).iter().cloned().collect();
        let plain = self.plan.as_ref().filter(|plan| plan.is_of_another_system() && !others.is_empty());
        let plain = plain.filter(|_| self.has_adapters).map(|plan| plan.plain(&others.join(", ")));
        lock(&self.adapters).iter().cloned().chain(plain).map(row).collect()
    }

    /// A program isn't run, for that reason.
    pub fn refuses(&self, process: Tid, why: &'static str) {
        let program = std::fs::read_link(format!("/proc/{process}/exe")).unwrap_or_default();
        let program = program.to_string_lossy().into_owned();
        let count = {
            let mut refused = lock(&self.refused);
            let count = refused.entry((program.clone(), why)).or_default();
            *count += 1;
            *count
        };
        // A script may try one again and again.
        if count == 1 {
            self.notes.tell(&format!("'{program}' was not run: {why}"));
        }
    }

    /// The programs that weren't run, for the report.
    pub fn refused(&self) -> Vec<Refused> {
        let row = |((program, why), &count): (&(String, &'static str), &u64)| Refused {
            program: program.clone(),
            why: (*why).to_owned(),
            count,
        };
        lock(&self.refused).iter().map(row).collect()
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
        self.resolution.read().unwrap_or_else(PoisonError::into_inner).has(holder)
    }

    /// Releases what waits held that have ended by now. Returns when the next one ends.
    pub fn release_ended(&self, now: Nanos) -> Option<Nanos> {
        let next = || self.resolution.read().unwrap_or_else(PoisonError::into_inner).next_release();
        if next()? > now {
            return next();
        }
        self.change(|resolution| resolution.release_ended(now));
        next()
    }

    /// A process ended: releases its resolution.
    pub fn forget(&self, process: Tid, now: Nanos) {
        self.processes.forget(process);
        self.timeouts.forget(process);
        self.timers.forget(process);
        self.spaces.forget(process);
        lock(&self.clocked).remove(&process);
        self.sites.forget(process);
        let is_per_process = self.resolution.read().unwrap_or_else(PoisonError::into_inner).is_per_process();
        if is_per_process {
            self.change(|resolution| resolution.forget(process, now));
        }
    }

    /// Changes the held requests, and with them the clocks that show the last interrupt.
    fn change<T>(&self, how: impl FnOnce(&mut Resolution) -> T) -> T {
        let mut resolution = self.resolution.write().unwrap_or_else(PoisonError::into_inner);
        let before = resolution.hardware_grid();
        let changed = how(&mut resolution);
        let grid = resolution.hardware_grid();
        self.sites.change(|process| resolution.grid(process));
        if grid != before {
            self.has_changed.store(true, Ordering::SeqCst);
            let grid = table::from_next_tick(grid, clock::now());
            for (process, stepped) in lock(&self.clocked).iter() {
                let _ = table::change(*process, &self.table(*process, stepped, grid));
            }
        }
        changed
    }

    /// Gives its clocks to a program that was just executed.
    ///
    /// # Errors
    /// The reason why it reads this system's clocks.
    pub fn place_clocks(&self, process: Tid, stepped: Vec<Stepped>) -> Result<(), &'static str> {
        let resolution = self.resolution.read().unwrap_or_else(PoisonError::into_inner);
        lock(&self.clocked).remove(&process);
        if stepped.iter().any(|clock| clock.clock.reads() == clock.clock) {
            self.steps_exact_clocks.store(true, Ordering::SeqCst);
        }
        table::write(process, &self.table(process, &stepped, resolution.hardware_grid()))?;
        let redirected = table::redirect(process, &stepped);
        lock(&self.clocked).insert(process, Arc::new(stepped));
        redirected
    }

    /// The table for these clocks, as they are in that process.
    fn table(&self, process: Tid, stepped: &[Stepped], grid: Option<Grid>) -> Table {
        Table::new(stepped, grid, |clock| self.spaces.ahead(process, clock))
    }

    /// How far an emulated clock of that process lags, if Linux calls the clock exact.
    pub fn behind(&self, process: Tid, id: i32, now: Nanos) -> Nanos {
        let Some(stepped) = lock(&self.clocked).get(&process).map(Arc::clone) else { return Nanos::ZERO };
        let Some(clock) = stepped.iter().find(|clock| clock.clock.id() == id) else { return Nanos::ZERO };
        let grid = self.resolution.read().unwrap_or_else(PoisonError::into_inner).hardware_grid();
        let ahead = clock::ahead(id);
        let on_clock = grid.map(|grid| Grid { origin: grid.origin + ahead, ..grid });
        now + ahead - clock.reading(now + ahead, on_clock)
    }

    /// Whether that clock is emulated in the process.
    pub fn has_clock(&self, process: Tid, id: i32) -> bool {
        lock(&self.clocked).get(&process).is_some_and(|stepped| stepped.iter().any(|clock| clock.clock.id() == id))
    }

    /// Whether new processes matter in themselves, not only for their waits.
    pub fn follows_starts(&self) -> bool {
        self.processes.are_some()
            || self.sites.are_some()
            || self.timeouts.are_some()
            || self.timers.are_some()
            || !lock(&self.clocked).is_empty()
    }

    /// A process started another, which has a copy of its clocks: maybe one from before the last change.
    pub fn starts(&self, process: Tid, started: Tid) {
        self.processes.starts(process, started);
        self.timers.starts(process, started);
        let resolution = self.resolution.read().unwrap_or_else(PoisonError::into_inner);
        self.sites.starts(process, started, resolution.grid(started));
        let mut clocked = lock(&self.clocked);
        if let Some(stepped) = clocked.get(&process).map(Arc::clone) {
            if self.has_changed.load(Ordering::SeqCst) {
                let grid = table::from_next_tick(resolution.hardware_grid(), clock::now());
                let _ = table::change(started, &self.table(started, &stepped, grid));
            }
            clocked.insert(started, stepped);
        }
    }
}
