//! What a platform is: the descriptions of every clock, wait, hand-off, tunable and load of every system, the rules by which
//! timers end, and the interface through which experiments use a machine.
//!
//! A platform is a real machine or a model in virtual time. An experiment can't tell which, so it takes time from the
//! platform, starts threads through it, and calls [`Platform::relax`] in every spin loop.
#![forbid(unsafe_code)]

pub mod calls;
mod catalogue;
#[cfg(test)]
mod catalogue_tests;
mod clock;
pub mod clocks;
mod described;
pub mod examples;
mod handoff;
pub mod handoffs;
mod idle;
mod load;
pub mod loads;
mod neighbour;
mod observe;
pub mod pairing;
pub mod reference;
pub mod resolution;
pub mod rules;
pub mod runtime_calls;
pub mod split_mix;
mod tunable;
pub mod tunables;
mod wait;
pub mod waits;

use std::sync::Arc;

use oversleep_record::conditions::Setting;
use oversleep_record::environment::{Environment, PlatformId};
use oversleep_record::{Nanos, ProcessorState, Unavailable};

pub use clock::{Clock, ClockInfo, ClockUnit, Follows};
pub use described::Described;
pub use handoff::{Handoff, HandoffInfo, HandoffKind};
pub use idle::{IdleReading, IdleState, Package};
pub use load::{HOGS_MAX, HogTimer, Load, LoadInfo, LoadKind, check_hogs};
pub use neighbour::Neighbour;
pub use observe::{Ability, CounterReading, Cpu, CpuKind, Splitter, SwitchIn, processor_between};
pub use resolution::{Holders, ResolutionHolders, ResolutionRow};
pub use tunable::{NotASetting, Problem, Reached, Restore, Scope, Tunable, TunableInfo, Word, undo};
pub use wait::{Family, Granularity, Longest, SlackRule, Takes, Target, Wait, WaitEnd, WaitInfo, Waiter, ZeroMeans};
pub use wait::{TICK_TOLERANCES, TWO_TICKS_TOLERANCE};

/// A machine, real or modelled.
pub trait Platform: Send + Sync {
    /// Its name in results.
    fn id(&self) -> PlatformId;

    /// The time on the reference clock, on which all deadlines are: monotonic nanoseconds since an arbitrary origin.
    fn now(&self) -> Nanos;

    /// Registry name of the reference clock.
    fn reference_clock(&self) -> &'static str;

    /// One turn of a spin loop: a pause hint on a real machine, a step of virtual time on a modelled one. Call it in every
    /// loop that waits for another thread or for time.
    fn relax(&self);

    /// Keeps the CPU busy until that moment of the reference clock, or until `is_over` returns true for a reading of it.
    fn spin_until(&self, until: Nanos, is_over: &mut dyn FnMut(Nanos) -> bool) {
        loop {
            let now = self.now();
            if now >= until || is_over(now) {
                return;
            }
            self.relax();
        }
    }

    /// Computes for `units` of work. A unit is the same work on every call; the caller calibrates its duration.
    fn work(&self, units: u64);

    /// The clocks, available or not.
    fn clocks(&self) -> &[Box<dyn Clock>];

    /// The waits of the operating system, available or not.
    fn waits(&self) -> &[Box<dyn Wait>];

    /// Calls of language runtimes that this machine knows better than the built-in table: those of a result.
    fn runtime_calls(&self) -> &[runtime_calls::CallWait] {
        &[]
    }

    /// The ways of waking a thread.
    fn handoffs(&self) -> &[Box<dyn HandoffKind>];

    /// The settings that a measurement can change.
    fn tunables(&self) -> &[Box<dyn Tunable>];

    /// The kinds of background load.
    fn loads(&self) -> &[Box<dyn LoadKind>];

    /// The CPUs this process may run on.
    fn cpus(&self) -> Vec<Cpu>;

    /// Starts a thread.
    ///
    /// # Errors
    /// The reason if the system refuses another thread.
    fn spawn(&self, name: &str, body: Box<dyn FnOnce() + Send>) -> Result<Box<dyn ThreadHandle>, Unavailable>;

    /// Starts a thread for whose end the caller can wait with a time limit ([`ThreadHandle::ended_within`]), which
    /// makes it more expensive to start.
    ///
    /// # Errors
    /// The reason if the system refuses another thread.
    fn spawn_watched(&self, name: &str, body: Box<dyn FnOnce() + Send>) -> Result<Box<dyn ThreadHandle>, Unavailable> {
        self.spawn(name, body)
    }

    /// Ends the current waits of this process's other threads, where that is possible. One that begins just afterwards
    /// isn't ended.
    fn end_waits(&self) {}

    /// Whether time is virtual, so that even a long experiment returns at once.
    fn time_is_virtual(&self) -> bool {
        false
    }

    /// The same machine from its start, beside processes that hold what others hold now. Its time is its own. `None` for
    /// a real one.
    fn restarted(&self) -> Option<SharedPlatform> {
        None
    }

    /// Starts another process that holds this setting of the resolution tunable, or none, and returns when it holds it.
    ///
    /// # Errors
    /// Why no process can start here.
    fn neighbour(&self, setting: Option<&Setting>) -> Result<Box<dyn Neighbour>, Unavailable> {
        let _ = setting;
        Err(Unavailable::NotOnThisPlatform)
    }

    /// What the system states now about its timer resolution, beyond the facts of the environment.
    fn resolution_rows(&self) -> Vec<ResolutionRow> {
        Vec::new()
    }

    /// Which processes hold which setting of the resolution tunable.
    ///
    /// # Errors
    /// Why the system doesn't state it, and how to find out.
    fn resolution_holders(&self) -> Result<ResolutionHolders, Unavailable> {
        Err(resolution::nobody_tells(&self.id()))
    }

    /// Idle states and energy now. Two readings give residency and power.
    fn idle_counters(&self) -> IdleReading {
        IdleReading::unknown(self.now(), Unavailable::NotOnThisPlatform)
    }

    /// The facts about the machine. It takes some ms and is called once per run.
    fn environment(&self) -> Environment;

    /// Counters of the system and of the calling thread now. Two readings give a disturbance.
    fn counters(&self) -> CounterReading;

    /// Only [`run_delay_ns`](oversleep_record::Disturbance) of [`Platform::counters`], which may be read between values.
    fn run_delay(&self) -> Option<Nanos> {
        self.counters().totals.run_delay_ns
    }

    /// The present clock rate and temperature of the calling thread's CPU, and how often heat has slowed a CPU down
    /// since an arbitrary origin. It costs more than [`Platform::counters`], so it is read before the first of them and
    /// after the last. It is empty if no gauge is readable; the environment's facts state why.
    fn processor_state(&self) -> ProcessorState {
        ProcessorState::default()
    }

    /// Watches the calling thread's switch-ins, which split its lateness.
    ///
    /// # Errors
    /// Why they are not available here.
    fn splitter(&self) -> Result<Box<dyn Splitter>, Unavailable>;

    /// What this process may read and change here, for `doctor`.
    fn abilities(&self) -> Vec<Ability>;

    /// Wall-clock seconds since 1970-01-01 UTC, for dating a result; `None` on a modelled machine.
    fn unix_time_s(&self) -> Option<i64>;
}

/// A started thread.
pub trait ThreadHandle: Send {
    /// Whether its body has returned.
    fn is_finished(&self) -> bool;

    /// Blocks until its body has returned, or for about that long, and returns whether it has. The limit is kept whatever
    /// the clocks of this machine show. A modelled thread always ends, so for one that isn't watched it returns true.
    fn ended_within(&self, limit: Nanos) -> bool {
        let _ = limit;
        true
    }

    /// Blocks until its body has returned, and resumes a panic of the body in the caller.
    fn join(self: Box<Self>);
}

/// The platform as used by experiments.
pub type SharedPlatform = Arc<dyn Platform>;

impl dyn Platform + '_ {
    /// The clock of that name.
    pub fn clock(&self, name: &str) -> Option<&dyn Clock> {
        self.clocks().iter().map(AsRef::as_ref).find(|clock| clock.info().name == name)
    }

    /// The wait of that name.
    pub fn wait(&self, name: &str) -> Option<&dyn Wait> {
        self.waits().iter().map(AsRef::as_ref).find(|wait| wait.info().name == name)
    }

    /// The simplest wait of a family: the first in the list.
    pub fn simplest(&self, family: Family) -> Option<&dyn Wait> {
        self.waits().iter().map(AsRef::as_ref).find(|wait| wait.info().family == family)
    }

    /// The tunable of that name.
    pub fn tunable(&self, name: &str) -> Option<&dyn Tunable> {
        self.tunables().iter().map(AsRef::as_ref).find(|tunable| tunable.info().name == name)
    }

    /// The tunable that decides how exactly this system's timers end, if it has one.
    pub fn resolution_tunable(&self) -> Option<&dyn Tunable> {
        self.tunables().iter().map(AsRef::as_ref).find(|tunable| tunable.info().sets_resolution)
    }

    /// The load kind of that name.
    pub fn load(&self, name: &str) -> Option<&dyn LoadKind> {
        self.loads().iter().map(AsRef::as_ref).find(|load| load.info().name == name)
    }

    /// The hand-off kind of that name.
    pub fn handoff(&self, name: &str) -> Option<&dyn HandoffKind> {
        self.handoffs().iter().map(AsRef::as_ref).find(|handoff| handoff.info().name == name)
    }
}
