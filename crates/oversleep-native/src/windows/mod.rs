//! Windows on x86-64 and ARM64: 10 and later, and 7 and 8.1 through the targets that Rust keeps for them.
//!
//! Each folder holds one registry, and a new entry goes into its registry's list. A function newer than Windows 7 is
//! looked up at first use ([`os::Newer`]), so that an older system gives a reason instead of refusing to start the
//! program.

mod abilities;
mod clocks;
mod counters;
mod environment;
#[cfg(test)]
mod expected;
pub mod group;
mod handoffs;
mod idle;
mod interrupts;
pub mod kernel_trace;
pub mod keys;
mod load;
mod os;
pub mod process_end;
mod processor_state;
mod processors;
#[cfg(test)]
mod released;
mod resolution;
mod tunables;
mod waits;

use oversleep_record::environment::Environment;
use oversleep_record::{Nanos, ProcessorState};
use oversleep_system::{
    Ability, Clock, CounterReading, Cpu, HandoffKind, IdleReading, LoadKind, ResolutionRow, Tunable, Wait,
};

use super::native::{Registry, System};

/// This machine.
pub type Native = super::native::Native<Windows>;

/// Windows, with the state of its counters. Switches are only in kernel traces, which need an administrator, so there
/// is no splitter.
#[derive(Default)]
pub struct Windows {
    counters: counters::SystemCounters,
}

impl System for Windows {
    const NAME: &'static str = "windows";
    const CLOCKS: Registry<dyn Clock> = clocks::registry;
    const WAITS: Registry<dyn Wait> = waits::registry;
    const HANDOFFS: Registry<dyn HandoffKind> = handoffs::registry;
    const TUNABLES: Registry<dyn Tunable> = tunables::registry;
    const LOADS: Registry<dyn LoadKind> = load::registry;
    const CPUS: fn() -> Vec<Cpu> = processors::cpus;
    const ENVIRONMENT: fn() -> Environment = environment::collect;
    const ABILITIES: fn() -> Vec<Ability> = abilities::survey;
    const RESOLUTION_ROWS: fn() -> Vec<ResolutionRow> = resolution::rows;

    fn now() -> Nanos {
        os::now()
    }

    fn counters(&self) -> CounterReading {
        self.counters.read()
    }

    fn processor_state(&self) -> ProcessorState {
        processor_state::read()
    }

    fn end_waits() {
        waits::end_all();
    }

    fn idle_counters() -> IdleReading {
        idle::read(Self::now())
    }
}
