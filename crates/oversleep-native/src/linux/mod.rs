//! Linux on x86-64 and aarch64.
//!
//! Each folder holds one registry, and a new entry goes into its registry's list. Nothing here relies on `/proc`,
//! `/sys`, a system call or a privilege: whatever is missing becomes a reason that the user sees.

mod abilities;
mod autogroup;
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
mod interruption;
mod load;
pub mod memory;
mod os;
pub mod process_end;
mod process_groups;
mod processor_state;
pub mod splitter;
pub mod theirs;
mod tunables;
mod waits;

use std::sync::OnceLock;

use oversleep_record::environment::Environment;
use oversleep_record::{Nanos, ProcessorState, Unavailable};
use oversleep_system::{
    Ability, Clock, CounterReading, Cpu, HandoffKind, IdleReading, LoadKind, ResolutionHolders, ResolutionRow,
    Splitter, Tunable, Wait,
};

use super::native::{Registry, System};

pub use autogroup::autogroup;
pub use process_groups::{ProcessGroup, freezer_group, process_group};

/// This machine.
pub type Native = super::native::Native<Linux>;

/// Linux, with the open files of its counters and gauges.
#[derive(Default)]
pub struct Linux {
    counters: OnceLock<counters::SystemCounters>,
    processor: OnceLock<processor_state::Sources>,
}

impl System for Linux {
    const NAME: &'static str = "linux";
    const CLOCKS: Registry<dyn Clock> = clocks::registry;
    const WAITS: Registry<dyn Wait> = waits::registry;
    const HANDOFFS: Registry<dyn HandoffKind> = handoffs::registry;
    const TUNABLES: Registry<dyn Tunable> = tunables::registry;
    const LOADS: Registry<dyn LoadKind> = load::registry;
    const CPUS: fn() -> Vec<Cpu> = || cpus::cpus(&files::Disk);
    const ENVIRONMENT: fn() -> Environment = environment::collect;
    const ABILITIES: fn() -> Vec<Ability> = abilities::survey;
    const RESOLUTION_ROWS: fn() -> Vec<ResolutionRow> = inheritance::rows;

    // The kernel's own clock for deadlines, not the library's. That one is usually within 25 ns of it (0.1 ms after a
    // resume), so it could make a punctual wait look early, and would save only a fifth of the cost.
    fn now() -> Nanos {
        os::monotonic_now()
    }

    fn counters(&self) -> CounterReading {
        self.counters.get_or_init(counters::SystemCounters::open).read()
    }

    fn run_delay() -> Option<Nanos> {
        counters::run_delay()
    }

    fn processor_state(&self) -> ProcessorState {
        let sources = self.processor.get_or_init(|| processor_state::Sources::quick(&files::Disk));
        sources.read(&files::Disk, os::current_cpu())
    }

    fn splitter() -> Result<Box<dyn Splitter>, Unavailable> {
        Ok(Box::new(splitter::SwitchWatch::open()?))
    }

    fn resolution_holders() -> Option<Result<ResolutionHolders, Unavailable>> {
        Some(holders::by_slack(&files::Disk, std::process::id()))
    }

    fn idle_counters() -> IdleReading {
        idle::read(&files::Disk, Self::now(), &(Self::CPUS)())
    }

    fn end_waits() {
        interruption::end_waits();
    }
}
