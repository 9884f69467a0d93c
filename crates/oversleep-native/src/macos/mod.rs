//! macOS 10.12 and later, on Apple silicon and Intel.
//!
//! Each folder holds one registry, and a new entry goes into its registry's list. Newer functions are looked up at run
//! time, and whatever is missing becomes a reason that the user sees.

mod abilities;
mod clocks;
mod counters;
mod cpus;
mod dispatch;
mod environment;
mod handoffs;
mod inheritance;
mod load;
mod os;
mod semaphore;
mod sysctl;
mod thermal;
mod tunables;
mod waits;

use oversleep_record::environment::Environment;
use oversleep_record::{Nanos, ProcessorState, Unavailable};
use oversleep_system::{
    Ability, Clock, CounterReading, Cpu, HandoffKind, LoadKind, ResolutionRow, Splitter, Tunable, Wait,
};

use super::native::{Registry, System};

/// This machine.
pub type Native = super::native::Native<MacOs>;

/// macOS, with the state of its counters.
#[derive(Default)]
pub struct MacOs {
    counters: counters::SystemCounters,
    thermal: thermal::Announcements,
}

impl System for MacOs {
    const NAME: &'static str = "macos";
    const CLOCKS: Registry<dyn Clock> = clocks::registry;
    const WAITS: Registry<dyn Wait> = waits::registry;
    const HANDOFFS: Registry<dyn HandoffKind> = handoffs::registry;
    const TUNABLES: Registry<dyn Tunable> = tunables::registry;
    const LOADS: Registry<dyn LoadKind> = load::registry;
    const CPUS: fn() -> Vec<Cpu> = cpus::cpus;
    const ENVIRONMENT: fn() -> Environment = environment::collect;
    const ABILITIES: fn() -> Vec<Ability> = abilities::survey;
    const RESOLUTION_ROWS: fn() -> Vec<ResolutionRow> = inheritance::rows;

    fn now() -> Nanos {
        os::now()
    }

    fn counters(&self) -> CounterReading {
        self.counters.read()
    }

    fn processor_state(&self) -> ProcessorState {
        ProcessorState { thermal_pressure: self.thermal.pressure().ok(), ..ProcessorState::default() }
    }

    fn splitter() -> Result<Box<dyn Splitter>, Unavailable> {
        Err(Unavailable::missing("a record of switches that a thread may read (kdebug needs root)"))
    }
}
