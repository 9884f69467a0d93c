//! The machine this process runs on. Here is what all systems share; the rest is in each system's folder.

pub(super) mod facts;
pub(super) mod given;
pub(super) mod handoffs;
pub(super) mod paired;
pub(super) mod tunables;
#[cfg(test)]
pub(super) mod wait_conformance;
pub(super) mod waits;

use std::sync::OnceLock;

use oversleep_record::conditions::Setting;
use oversleep_record::environment::{Environment, PlatformId};
use oversleep_record::{Nanos, ProcessorState, Unavailable};
use oversleep_system::{
    Ability, Clock, CounterReading, Cpu, HandoffKind, IdleReading, LoadKind, Neighbour, Platform, ResolutionHolders,
    ResolutionRow, Splitter, ThreadHandle, Tunable, Wait, clocks, resolution,
};

use super::{neighbour_process, threads};

/// Creates the entries of a registry.
pub(super) type Registry<T> = fn() -> Vec<Box<T>>;

/// An operating system: its registries, and what it states about the machine. The defaults are for systems that lack a
/// feature. The value itself is the state kept between readings of the counters.
pub(super) trait System: Default + Send + Sync + 'static {
    /// Its name in results.
    const NAME: &'static str;
    const CLOCKS: Registry<dyn Clock>;
    const WAITS: Registry<dyn Wait>;
    const HANDOFFS: Registry<dyn HandoffKind>;
    const TUNABLES: Registry<dyn Tunable>;
    const LOADS: Registry<dyn LoadKind>;
    const CPUS: fn() -> Vec<Cpu>;
    const ENVIRONMENT: fn() -> Environment;
    const ABILITIES: fn() -> Vec<Ability>;
    const RESOLUTION_ROWS: fn() -> Vec<ResolutionRow>;

    /// The time on the clock that deadlines are on, [`clocks::reference`].
    fn now() -> Nanos;

    fn counters(&self) -> CounterReading;
    /// `None` if the system doesn't count it.
    fn run_delay() -> Option<Nanos> {
        None
    }
    fn processor_state(&self) -> ProcessorState;

    /// A recorder of a thread's switches, or why there is none.
    fn splitter() -> Result<Box<dyn Splitter>, Unavailable> {
        Err(Unavailable::NotOnThisPlatform)
    }

    /// `None` if the system doesn't reveal the settings of other processes.
    fn resolution_holders() -> Option<Result<ResolutionHolders, Unavailable>> {
        None
    }

    fn idle_counters() -> IdleReading {
        IdleReading::unknown(Self::now(), Unavailable::NotOnThisPlatform)
    }

    /// Ends the current waits of other threads, where the system has a way. On macOS one could list the threads
    /// (`task_threads`) and signal each (`pthread_kill`); this is untested.
    fn end_waits() {}
}

/// The machine this process runs on. Creating one costs nothing; each registry is built at first use.
#[derive(Default)]
pub struct Native<S> {
    system: S,
    clocks: OnceLock<Vec<Box<dyn Clock>>>,
    waits: OnceLock<Vec<Box<dyn Wait>>>,
    handoffs: OnceLock<Vec<Box<dyn HandoffKind>>>,
    tunables: OnceLock<Vec<Box<dyn Tunable>>>,
    loads: OnceLock<Vec<Box<dyn LoadKind>>>,
}

impl<S: System> Native<S> {
    /// This machine.
    pub fn new() -> Native<S> {
        Native::default()
    }
}

impl<S: System> Platform for Native<S> {
    fn id(&self) -> PlatformId {
        PlatformId::real(S::NAME, std::env::consts::ARCH)
    }

    fn now(&self) -> Nanos {
        S::now()
    }

    fn reference_clock(&self) -> &'static str {
        clocks::reference(S::NAME)
    }

    fn relax(&self) {
        std::hint::spin_loop();
    }

    fn work(&self, units: u64) {
        threads::work(units);
    }

    fn clocks(&self) -> &[Box<dyn Clock>] {
        self.clocks.get_or_init(S::CLOCKS)
    }

    fn waits(&self) -> &[Box<dyn Wait>] {
        self.waits.get_or_init(S::WAITS)
    }

    fn handoffs(&self) -> &[Box<dyn HandoffKind>] {
        self.handoffs.get_or_init(S::HANDOFFS)
    }

    fn tunables(&self) -> &[Box<dyn Tunable>] {
        self.tunables.get_or_init(S::TUNABLES)
    }

    fn loads(&self) -> &[Box<dyn LoadKind>] {
        self.loads.get_or_init(S::LOADS)
    }

    fn cpus(&self) -> Vec<Cpu> {
        (S::CPUS)()
    }

    fn spawn(&self, name: &str, body: Box<dyn FnOnce() + Send>) -> Result<Box<dyn ThreadHandle>, Unavailable> {
        threads::spawn(name, body)
    }

    fn spawn_watched(&self, name: &str, body: Box<dyn FnOnce() + Send>) -> Result<Box<dyn ThreadHandle>, Unavailable> {
        threads::spawn_watched(name, body)
    }

    fn end_waits(&self) {
        S::end_waits();
    }

    fn neighbour(&self, setting: Option<&Setting>) -> Result<Box<dyn Neighbour>, Unavailable> {
        neighbour_process::start(setting)
    }

    fn resolution_rows(&self) -> Vec<ResolutionRow> {
        (S::RESOLUTION_ROWS)()
    }

    fn resolution_holders(&self) -> Result<ResolutionHolders, Unavailable> {
        S::resolution_holders().unwrap_or_else(|| Err(resolution::nobody_tells(&self.id())))
    }

    fn idle_counters(&self) -> IdleReading {
        S::idle_counters()
    }

    fn environment(&self) -> Environment {
        (S::ENVIRONMENT)()
    }

    fn counters(&self) -> CounterReading {
        self.system.counters()
    }

    fn run_delay(&self) -> Option<Nanos> {
        S::run_delay()
    }

    fn processor_state(&self) -> ProcessorState {
        self.system.processor_state()
    }

    fn splitter(&self) -> Result<Box<dyn Splitter>, Unavailable> {
        S::splitter()
    }

    fn abilities(&self) -> Vec<Ability> {
        (S::ABILITIES)()
    }

    fn unix_time_s(&self) -> Option<i64> {
        let since_epoch = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).ok()?;
        i64::try_from(since_epoch.as_secs()).ok()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use oversleep_record::clock::{Counts, Epoch};
    use oversleep_system::{ClockUnit, HOGS_MAX};

    use super::*;
    use crate::here;

    #[test]
    fn names_are_unique_and_documented() {
        let native = here();
        let mut seen = BTreeSet::new();
        for (kind, name, doc) in native
            .clocks()
            .iter()
            .map(|clock| ("clock", clock.info().name, clock.info().doc))
            .chain(native.waits().iter().map(|wait| ("wait", wait.info().name, wait.info().doc)))
            .chain(native.handoffs().iter().map(|handoff| ("handoff", handoff.info().name, handoff.info().doc)))
            .chain(native.tunables().iter().map(|tunable| ("tunable", tunable.info().name, tunable.info().doc)))
            .chain(native.loads().iter().map(|load| ("load", load.info().name, load.info().doc)))
        {
            assert!(seen.insert((kind, name)), "{kind} {name} twice");
            assert!(doc.ends_with('.'), "{kind} {name} has no sentence");
            assert!(name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-'), "{name}");
        }
    }

    #[test]
    fn every_load_starts_and_stops_and_absurd_counts_are_reasons() {
        for kind in here().loads() {
            let load = kind.start(2).unwrap_or_else(|why| panic!("{}: {why}", kind.info().name));
            drop(load);
            for hogs in [0, HOGS_MAX + 1, u32::MAX] {
                assert!(kind.start(hogs).is_err(), "{} {hogs}", kind.info().name);
            }
        }
    }

    #[test]
    fn a_readable_clock_of_this_thread_does_not_step_back() {
        for clock in here().clocks().iter().filter(|clock| clock.available().is_ok()) {
            let info = clock.info();
            let mut reads = [0; 64];
            clock.read_into(&mut reads);
            clock.read_batch(3);
            // Time of day may be set while this runs, and the counters of CPUs may differ.
            if info.counts != Counts::TimeOfDay && info.epoch != Epoch::Processor {
                assert!(reads.is_sorted(), "{} {reads:?}", info.name);
            }
        }
    }

    #[test]
    fn the_reference_clock_is_a_registered_one_and_never_steps_back() {
        let native = here();
        let clock = native.clock(native.reference_clock()).expect("registered");
        let (first, read, last) = (native.now(), clock.read(), native.now());
        assert!(first <= last, "{first:?} {last:?}");
        // If the clock counts units other than nanoseconds, only its monotonicity can be checked.
        if clock.info().unit == ClockUnit::Nanoseconds {
            let between = Nanos(read as i64);
            assert!(first <= between && between <= last, "{first:?} {between:?} {last:?}");
        }
        assert!(clock.read() >= read);
        assert!(native.unix_time_s().is_some_and(|seconds| seconds > 1_700_000_000));
    }
}
