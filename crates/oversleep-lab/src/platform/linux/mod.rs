//! Linux on x86-64 and aarch64.
//!
//! Each folder holds one registry: an entry is a small description with its call, and a new one is added in its
//! registry's list. Nothing here assumes that `/proc`, `/sys`, a system call or a privilege is there: what is missing
//! becomes a reason that the user sees.

mod abilities;
mod cgroup;
mod clocks;
mod counters;
mod cpus;
mod environment;
mod files;
mod handoffs;
mod holders;
mod idle;
mod inheritance;
mod load;
mod os;
mod splitter;
mod tunables;
mod waits;

use std::sync::OnceLock;

use oversleep_record::conditions::Setting;
use oversleep_record::environment::{Environment, PlatformId};
use oversleep_record::{Nanos, Unavailable};

use super::interface::{
    Ability, Clock, CounterReading, Cpu, HandoffKind, IdleReading, LoadKind, Neighbour, Platform, ResolutionHolders,
    ResolutionRow, Splitter, ThreadHandle, Tunable, Wait,
};
use super::{library, neighbour_process, threads};

/// The machine this process runs on. Making one costs nothing; each registry is built when it is first asked for.
#[derive(Default)]
pub struct Native {
    clocks: OnceLock<Vec<Box<dyn Clock>>>,
    waits: OnceLock<Vec<Box<dyn Wait>>>,
    handoffs: OnceLock<Vec<Box<dyn HandoffKind>>>,
    tunables: OnceLock<Vec<Box<dyn Tunable>>>,
    loads: OnceLock<Vec<Box<dyn LoadKind>>>,
    counters: OnceLock<counters::SystemCounters>,
}

impl Native {
    /// This machine.
    pub fn new() -> Native {
        Native::default()
    }
}

impl Platform for Native {
    fn id(&self) -> PlatformId {
        PlatformId { os: "linux".to_owned(), arch: std::env::consts::ARCH.to_owned(), modelled: None }
    }

    // The clock that the kernel counts deadlines on, and not the library's: that one is steered to it and lies up to
    // 25 ns beside it as a rule, on either side (up to 0.1 ms after a resume), so a wait that ends right on its deadline
    // would be called early or late by an error of ours. Its stamps would save a fifth of what these cost.
    fn now(&self) -> Nanos {
        os::monotonic_now()
    }

    fn reference_clock(&self) -> &'static str {
        "monotonic"
    }

    fn relax(&self) {
        std::hint::spin_loop();
    }

    fn work(&self, units: u64) {
        threads::work(units);
    }

    fn clocks(&self) -> &[Box<dyn Clock>] {
        self.clocks.get_or_init(clocks::registry)
    }

    fn waits(&self) -> &[Box<dyn Wait>] {
        self.waits.get_or_init(|| {
            let mut all = waits::registry();
            all.extend(library::waits());
            all
        })
    }

    fn handoffs(&self) -> &[Box<dyn HandoffKind>] {
        self.handoffs.get_or_init(handoffs::registry)
    }

    fn tunables(&self) -> &[Box<dyn Tunable>] {
        self.tunables.get_or_init(tunables::registry)
    }

    fn loads(&self) -> &[Box<dyn LoadKind>] {
        self.loads.get_or_init(load::registry)
    }

    fn cpus(&self) -> Vec<Cpu> {
        cpus::cpus(&files::Disk)
    }

    fn spawn(&self, name: &str, body: Box<dyn FnOnce() + Send>) -> Result<Box<dyn ThreadHandle>, Unavailable> {
        threads::spawn(name, body)
    }

    fn neighbour(&self, setting: Option<&Setting>) -> Result<Box<dyn Neighbour>, Unavailable> {
        neighbour_process::start(setting)
    }

    fn resolution_rows(&self) -> Vec<ResolutionRow> {
        inheritance::rows()
    }

    fn resolution_holders(&self) -> Result<ResolutionHolders, Unavailable> {
        holders::by_slack(&files::Disk, std::process::id())
    }

    fn idle_counters(&self) -> IdleReading {
        idle::read(&files::Disk, self.now(), &self.cpus())
    }

    fn environment(&self) -> Environment {
        environment::collect()
    }

    fn counters(&self) -> CounterReading {
        self.counters.get_or_init(counters::SystemCounters::open).read()
    }

    fn splitter(&self) -> Result<Box<dyn Splitter>, Unavailable> {
        Ok(Box::new(splitter::SwitchWatch::open()?))
    }

    fn abilities(&self) -> Vec<Ability> {
        abilities::survey()
    }

    fn unix_time_s(&self) -> Option<i64> {
        let since_epoch = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).ok()?;
        i64::try_from(since_epoch.as_secs()).ok()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn names_are_unique_and_documented() {
        let native = Native::new();
        let mut seen = BTreeSet::new();
        for (kind, name, doc) in native
            .clocks()
            .iter()
            .map(|clock| ("clock", clock.info().name, clock.info().doc))
            .chain(native.tunables().iter().map(|tunable| ("tunable", tunable.info().name, tunable.info().doc)))
            .chain(native.loads().iter().map(|load| ("load", load.info().name, load.info().doc)))
        {
            assert!(seen.insert((kind, name)), "{kind} {name} twice");
            assert!(doc.ends_with('.'), "{kind} {name} has no sentence");
            assert!(name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-'), "{name}");
        }
    }

    #[test]
    fn the_reference_clock_is_a_registered_one_and_never_steps_back() {
        let native = Native::new();
        let clock = (&native as &dyn Platform).clock(native.reference_clock()).expect("registered");
        let first = native.now();
        let between = Nanos(clock.read() as i64);
        let last = native.now();
        assert!(first <= between && between <= last, "{first:?} {between:?} {last:?}");
        assert!(native.unix_time_s().is_some_and(|seconds| seconds > 1_700_000_000));
    }
}
