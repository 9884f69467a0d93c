//! Windows on x86-64 and ARM64: 10 and later, and 7 and 8.1 through the targets that Rust keeps for them.
//!
//! Each folder holds one registry: an entry is a small description with its call, and a new one is added in its
//! registry's list. A call that is younger than Windows 7 is looked up when it is first needed ([`os::Newer`]), so that
//! an older system answers with a reason instead of refusing to start the program.

mod abilities;
mod clocks;
mod counters;
mod environment;
#[cfg(test)]
mod expected;
mod handoffs;
mod idle;
mod interrupts;
mod load;
mod os;
mod processors;
#[cfg(test)]
mod released;
mod resolution;
mod tunables;
mod waits;

use std::sync::OnceLock;

use oversleep_record::conditions::Setting;
use oversleep_record::environment::{Environment, PlatformId};
use oversleep_record::{Nanos, Unavailable};

use super::interface::{
    Ability, Clock, CounterReading, Cpu, HandoffKind, IdleReading, LoadKind, Neighbour, Platform, ResolutionRow,
    Splitter, ThreadHandle, Tunable, Wait,
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
    counters: counters::SystemCounters,
}

impl Native {
    /// This machine.
    pub fn new() -> Native {
        Native::default()
    }
}

impl Platform for Native {
    fn id(&self) -> PlatformId {
        PlatformId { os: "windows".to_owned(), arch: std::env::consts::ARCH.to_owned(), modelled: None }
    }

    fn now(&self) -> Nanos {
        os::now()
    }

    fn reference_clock(&self) -> &'static str {
        "qpc"
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
        processors::cpus()
    }

    fn spawn(&self, name: &str, body: Box<dyn FnOnce() + Send>) -> Result<Box<dyn ThreadHandle>, Unavailable> {
        threads::spawn(name, body)
    }

    fn neighbour(&self, setting: Option<&Setting>) -> Result<Box<dyn Neighbour>, Unavailable> {
        neighbour_process::start(setting)
    }

    fn resolution_rows(&self) -> Vec<ResolutionRow> {
        resolution::rows()
    }

    fn idle_counters(&self) -> IdleReading {
        idle::read(self.now())
    }

    fn environment(&self) -> Environment {
        environment::collect()
    }

    fn counters(&self) -> CounterReading {
        self.counters.read()
    }

    fn splitter(&self) -> Result<Box<dyn Splitter>, Unavailable> {
        // Windows tells switches only to traces of the whole machine, which take an administrator.
        Err(Unavailable::NotOnThisPlatform)
    }

    fn abilities(&self) -> Vec<Ability> {
        abilities::survey()
    }

    fn unix_time_s(&self) -> Option<i64> {
        let since_epoch = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).ok()?;
        i64::try_from(since_epoch.as_secs()).ok()
    }
}
