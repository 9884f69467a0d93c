//! Linux on x86-64 and aarch64.
//!
//! Each folder holds one registry, and a new entry goes into its registry's list. Nothing here relies on `/proc`,
//! `/sys`, a system call or a privilege: whatever is missing becomes a reason that the user sees.

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
mod processor_state;
mod splitter;
mod tunables;
mod waits;

use std::sync::OnceLock;

use oversleep_record::environment::Environment;
use oversleep_record::{Nanos, ProcessorState, Unavailable};

use super::native::System;
use oversleep_system::{
    Ability, Clock, CounterReading, Cpu, HandoffKind, IdleReading, LoadKind, ResolutionHolders, ResolutionRow,
    Splitter, Tunable, Wait,
};

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

    // The kernel's own clock for deadlines, not the library's. That one is usually within 25 ns of it (0.1 ms after a
    // resume), so it could make a punctual wait look early, and would save only a fifth of the cost.
    fn now() -> Nanos {
        os::monotonic_now()
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
        cpus::cpus(&files::Disk)
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
        self.counters.get_or_init(counters::SystemCounters::open).read()
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
        idle::read(&files::Disk, Self::now(), &Self::cpus())
    }

    fn end_waits() {
        crate::unix::interruption::end_waits();
    }
}
