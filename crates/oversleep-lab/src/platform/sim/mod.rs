//! A modelled machine in virtual time behind the platform interface.
//!
//! Experiments run on it unchanged and exactly: a clock read costs what the model says, a wait ends when the model
//! says, and nothing takes real time. `kernel` is the event loop, `machine` says what is modelled, the other files put
//! the model behind each part of the interface.

mod clocks;
mod handoffs;
mod kernel;
mod loads;
mod machine;
mod tunables;
mod waits;

pub use machine::{ClockModel, ClockSource, Machine, Overshoot, Stall, WaitModel};

use std::sync::Arc;

use oversleep_record::environment::{Environment, FactValue, PlatformId};
use oversleep_record::{Nanos, Unavailable};

use super::interface::{
    Ability, Clock, CounterReading, Cpu, CpuKind, HandoffKind, LoadKind, Platform, Splitter, SwitchIn, ThreadHandle,
    Tunable, Wait,
};
use kernel::Kernel;

/// A modelled machine, ready to run experiments.
pub struct Sim {
    kernel: Arc<Kernel>,
    machine: Arc<Machine>,
    clocks: Vec<Box<dyn Clock>>,
    waits: Vec<Box<dyn Wait>>,
    handoffs: Vec<Box<dyn HandoffKind>>,
    tunables: Vec<Box<dyn Tunable>>,
    loads: Vec<Box<dyn LoadKind>>,
}

impl Sim {
    /// Starts the machine at virtual time zero. The calling thread is its first thread.
    pub fn start(machine: Machine) -> Arc<Sim> {
        let machine = Arc::new(machine);
        let kernel = Kernel::new(machine.stalls.clone(), machine.default_slack_ns);
        Arc::new(Sim {
            clocks: clocks::registry(&machine, &kernel),
            waits: waits::registry(&machine, &kernel),
            handoffs: handoffs::registry(&machine, &kernel),
            tunables: tunables::registry(&kernel),
            loads: loads::registry(&kernel),
            kernel,
            machine,
        })
    }
}

impl Platform for Sim {
    fn id(&self) -> PlatformId {
        PlatformId {
            os: self.machine.os.clone(),
            arch: self.machine.arch.clone(),
            modelled: Some(self.machine.name.clone()),
        }
    }

    fn now(&self) -> Nanos {
        self.kernel.spend(self.machine.reference_read_cost_ns);
        self.kernel.now()
    }

    fn reference_clock(&self) -> &'static str {
        "monotonic"
    }

    fn relax(&self) {
        self.kernel.spend(self.machine.relax_cost_ns);
    }

    fn work(&self, units: u64) {
        let cost = i64::try_from(units).unwrap_or(i64::MAX).saturating_mul(self.machine.work_unit_cost_ns.0);
        self.kernel.spend(Nanos(cost));
    }

    fn clocks(&self) -> &[Box<dyn Clock>] {
        &self.clocks
    }

    fn waits(&self) -> &[Box<dyn Wait>] {
        &self.waits
    }

    fn handoffs(&self) -> &[Box<dyn HandoffKind>] {
        &self.handoffs
    }

    fn tunables(&self) -> &[Box<dyn Tunable>] {
        &self.tunables
    }

    fn loads(&self) -> &[Box<dyn LoadKind>] {
        &self.loads
    }

    fn cpus(&self) -> Vec<Cpu> {
        (0..self.machine.cpu_count).map(|number| Cpu { number, kind: CpuKind::Uniform }).collect()
    }

    fn spawn(&self, name: &str, body: Box<dyn FnOnce() + Send>) -> Result<Box<dyn ThreadHandle>, Unavailable> {
        kernel::spawn(&self.kernel, name, self.machine.spawn_cost_ns, body)
    }

    fn environment(&self) -> Environment {
        let mut environment = Environment::default();
        let source = "model";
        environment.set("cpu.count", FactValue::Integer(i64::from(self.machine.cpu_count)), source);
        environment.set("timer.slack_ns", FactValue::Nanos(self.machine.default_slack_ns), source);
        environment
    }

    fn counters(&self) -> CounterReading {
        self.kernel.counters()
    }

    fn splitter(&self) -> Result<Box<dyn Splitter>, Unavailable> {
        Ok(Box::new(SimSplitter { kernel: Arc::clone(&self.kernel), armed_at: Nanos::ZERO }))
    }

    fn abilities(&self) -> Vec<Ability> {
        vec![Ability {
            name: "modelled machine".to_owned(),
            gives: "every figure comes from the model and is reproducible".to_owned(),
            state: Ok(self.machine.name.clone()),
        }]
    }

    fn unix_time_s(&self) -> Option<i64> {
        None
    }
}

/// The kernel model notes each switch-in; nothing has to be watched.
struct SimSplitter {
    kernel: Arc<Kernel>,
    armed_at: Nanos,
}

impl Splitter for SimSplitter {
    fn arm(&mut self) {
        self.armed_at = self.kernel.now();
    }

    fn last_switch_in(&mut self) -> Option<SwitchIn> {
        self.kernel.last_switch_in().filter(|switch_in| switch_in.at > self.armed_at)
    }

    fn method(&self) -> &'static str {
        "model"
    }
}
