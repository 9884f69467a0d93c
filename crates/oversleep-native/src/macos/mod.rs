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

use super::native::System;
use oversleep_system::{
    Ability, Clock, CounterReading, Cpu, HandoffKind, LoadKind, ResolutionRow, Splitter, Tunable, Wait,
};

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

    fn now() -> Nanos {
        os::now()
    }

    fn clocks() -> Vec<Box<dyn Clock>> {
        clocks::registry()
    }

    fn waits() -> Vec<Box<dyn Wait>> {
        waits::registry()
    }

    fn handoffs() -> Vec<Box<dyn HandoffKind>> {
        handoffs::registry()
    }

    fn tunables() -> Vec<Box<dyn Tunable>> {
        tunables::registry()
    }

    fn loads() -> Vec<Box<dyn LoadKind>> {
        load::registry()
    }

    fn cpus() -> Vec<Cpu> {
        cpus::cpus()
    }

    fn environment() -> Environment {
        environment::collect()
    }

    fn abilities() -> Vec<Ability> {
        abilities::survey()
    }

    fn resolution_rows() -> Vec<ResolutionRow> {
        inheritance::rows()
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
