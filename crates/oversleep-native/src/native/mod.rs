//! The machine this process runs on. Here is what all systems share; the rest is in each system's folder.

pub(super) mod given;
pub(super) mod handoffs;
pub(super) mod tunables;
pub(super) mod waits;

use std::sync::OnceLock;

use oversleep_record::conditions::Setting;
use oversleep_record::environment::{Environment, PlatformId};
use oversleep_record::{Nanos, ProcessorState, Unavailable};

use super::{neighbour_process, threads};
use oversleep_system::{
    Ability, Clock, CounterReading, Cpu, HandoffKind, IdleReading, LoadKind, Neighbour, Platform, ResolutionHolders,
    ResolutionRow, Splitter, ThreadHandle, Tunable, Wait, clocks, resolution,
};

/// An operating system: its registries, and what it states about the machine. The defaults are for systems that lack a
/// feature. The value itself is the state kept between readings of the counters.
pub(super) trait System: Default + Send + Sync + 'static {
    /// Its name in results.
    const NAME: &'static str;

    /// The time on the clock that deadlines are on, [`clocks::reference`].
    fn now() -> Nanos;
    fn clocks() -> Vec<Box<dyn Clock>>;
    fn waits() -> Vec<Box<dyn Wait>>;
    fn handoffs() -> Vec<Box<dyn HandoffKind>>;
    fn tunables() -> Vec<Box<dyn Tunable>>;
    fn loads() -> Vec<Box<dyn LoadKind>>;
    fn cpus() -> Vec<Cpu>;
    fn environment() -> Environment;
    fn abilities() -> Vec<Ability>;
    fn resolution_rows() -> Vec<ResolutionRow>;
    fn counters(&self) -> CounterReading;
    fn processor_state(&self) -> ProcessorState;

    /// A recorder of a thread's switches, or why there is none.
    fn splitter() -> Result<Box<dyn Splitter>, Unavailable> {
        Err(Unavailable::NotOnThisPlatform)
    }

    /// `None` if the system shows the settings of other processes to nobody.
    fn resolution_holders() -> Option<Result<ResolutionHolders, Unavailable>> {
        None
    }

    fn idle_counters() -> IdleReading {
        IdleReading::unknown(Self::now(), Unavailable::NotOnThisPlatform)
    }

    /// Ends the current waits of other threads, where the system has a way.
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
        PlatformId { os: S::NAME.to_owned(), arch: std::env::consts::ARCH.to_owned(), modelled: None }
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
        self.clocks.get_or_init(S::clocks)
    }

    fn waits(&self) -> &[Box<dyn Wait>] {
        self.waits.get_or_init(S::waits)
    }

    fn handoffs(&self) -> &[Box<dyn HandoffKind>] {
        self.handoffs.get_or_init(S::handoffs)
    }

    fn tunables(&self) -> &[Box<dyn Tunable>] {
        self.tunables.get_or_init(S::tunables)
    }

    fn loads(&self) -> &[Box<dyn LoadKind>] {
        self.loads.get_or_init(S::loads)
    }

    fn cpus(&self) -> Vec<Cpu> {
        S::cpus()
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
        S::resolution_rows()
    }

    fn resolution_holders(&self) -> Result<ResolutionHolders, Unavailable> {
        S::resolution_holders().unwrap_or_else(|| Err(resolution::nobody_tells(&self.id())))
    }

    fn idle_counters(&self) -> IdleReading {
        S::idle_counters()
    }

    fn environment(&self) -> Environment {
        S::environment()
    }

    fn counters(&self) -> CounterReading {
        self.system.counters()
    }

    fn processor_state(&self) -> ProcessorState {
        self.system.processor_state()
    }

    fn splitter(&self) -> Result<Box<dyn Splitter>, Unavailable> {
        S::splitter()
    }

    fn abilities(&self) -> Vec<Ability> {
        S::abilities()
    }

    fn unix_time_s(&self) -> Option<i64> {
        let since_epoch = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).ok()?;
        i64::try_from(since_epoch.as_secs()).ok()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

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
    fn the_reference_clock_is_a_registered_one_and_never_steps_back() {
        let native = here();
        let clock = native.clock(native.reference_clock()).expect("registered");
        let (first, read, last) = (native.now(), clock.read(), native.now());
        assert!(first <= last, "{first:?} {last:?}");
        // Where the clock counts something else than nanoseconds, only its own order can be told.
        if clock.info().unit == ClockUnit::Nanoseconds {
            let between = Nanos(read as i64);
            assert!(first <= between && between <= last, "{first:?} {between:?} {last:?}");
        }
        assert!(clock.read() >= read);
        assert!(native.unix_time_s().is_some_and(|seconds| seconds > 1_700_000_000));
    }
}
