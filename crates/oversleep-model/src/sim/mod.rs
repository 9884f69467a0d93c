//! A modelled machine in virtual time behind the platform interface.
//!
//! Experiments run on it unchanged and exactly: the model decides the cost of a clock read and the end of a wait, and
//! nothing takes real time. `machine` is the description of a machine. `kernel` is the event loop with its CPUs,
//! `resolution` the timer interrupt, `scheduler` the scheduler, `systems` what each system offers; the other files put
//! the model behind each part of the interface. The rules of timers are in [`oversleep_system::rules`].
//!
//! A machine is data (`sim/machine.rs`): CPUs, a scheduler, timing rules with their figures, wake costs as distributions,
//! clocks and waits. No machine has code of its own; machines differ in the parameters of rules.
//!
//! - **The event loop** (`sim/kernel/`). Each modelled thread has a stack of its own (`carriers/`), and all of them take
//!   turns on one OS thread. A modelled thread yields when it spends time or blocks; then the earliest event is handled:
//!   the end of a computation, a timer, the end of a time slice. Runnable threads beyond the number of CPUs queue for
//!   one, by rank, then by share (`fair`), by deadline or share in a CPU's own queue (`eevdf`, `cfs`), or in turn
//!   (`round-robin`); a thread that others outrank for too long gets a slice. Hogs are threads without code: some compute
//!   forever, some are driven by timers. The kernel knows in advance for how long a lone thread can run without affecting
//!   any other (the *horizon*), so its clock reads take no lock and its waits no switch: about 30 million waits per
//!   second. Memory does not grow with the run.
//! - **When a wait ends** (`oversleep-system/src/rules/`, `sim/waits.rs`). The wait's `SlackRule` decides: thread slack,
//!   slack or a share of the timeout, the scheduler's tick on the steps of the timer wheel, the grid of the timer
//!   interrupt, the grid of a one-shot timer, or a share by service class. Then come the cost of waking up, the exit from
//!   the idle state, and what the wait itself adds. Timers of one CPU that may end at an interrupt end with it; where
//!   other programs' interrupts matter, they come at random at a stated rate (`timers.others-hz`).
//! - **The tick** (`rules/tick.rs`, `sim/resolution.rs`). Requests of this process and of neighbours are granted on the
//!   timer's grid, and the hardware uses the shortest. A process sees the hardware's tick or, if a request reaches only
//!   the process that made it, a multiple near the default. A wait ends at the first tick that is not early (`base =
//!   call`) or counts from the last one (`base = last-tick`).
//! - **Clocks** follow time, the last interrupt, the default tick, the kernel's tick, or CPU time, and show multiples of
//!   a step. The kernel knows what a clock shows until its next step, so it works out bursts of reads in between at once.
//!
//! A resolution request affects later waits, not the one in progress. Not modelled: CPU quotas, memory and caches (so no
//! load of that kind), clock rates and heat, the speed of efficiency cores, suspend, and the library's own clock. The
//! library's sleep, pacer and parker run on a model as they are: their algorithm (`algorithm/` of `oversleep`) asks a
//! `Machine` for time and waits, which `library_waits.rs` of `oversleep-measure` makes of a platform.

mod clocks;
mod handoffs;
mod kernel;
mod learned;
mod loads;
mod machine;
mod resolution;
mod rules;
mod scheduler;
mod settings;
mod spread;
pub mod systems;
#[cfg(test)]
mod tests;
mod tunables;
mod waits;

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use oversleep_record::conditions::Setting;
use oversleep_record::environment::{Environment, FactValue, PlatformId};
use oversleep_record::{FactName, Nanos, Unavailable};
use oversleep_system::runtime_calls::CallWait;
use oversleep_system::{
    Ability, Clock, CounterReading, Cpu, HandoffKind, LoadKind, Neighbour, Platform, SharedPlatform, Splitter,
    SwitchIn, ThreadHandle, Tunable, Wait, split_mix,
};

use kernel::{Kernel, Model};

#[cfg(feature = "asyncify")]
pub use kernel::carriers_take_turns;
pub use learned::Learned;
pub use machine::{ClockModel, ClockSource, Machine, Overshoot, Stall, WaitModel, Wake};
pub use oversleep_system::rules::{OneShot, PollShare, Reach, Tick, TickBase, Tier, Timing};
pub use scheduler::{OnWake, Policy, PriorityIs, Scheduler, SchedulerKind, Starving};
pub use spread::{Random, Spread};

/// A modelled machine, ready to run experiments.
pub struct Sim {
    kernel: Arc<Kernel>,
    machine: Arc<Machine>,
    /// Cost of reading the reference clock, in ps, and its step.
    reference: (u64, Nanos),
    /// The last value that the reference clock showed.
    shown: AtomicI64,
    clocks: Vec<Box<dyn Clock>>,
    waits: Vec<Box<dyn Wait>>,
    runtime_calls: Vec<CallWait>,
    handoffs: Vec<Box<dyn HandoffKind>>,
    tunables: Vec<Box<dyn Tunable>>,
    loads: Vec<Box<dyn LoadKind>>,
}

impl Sim {
    /// Starts the machine. The calling thread is its first thread. Virtual time begins at zero with the first seed, and with
    /// any other somewhere in the first second: as on a real machine, a program begins anywhere between two ticks.
    pub fn start(machine: Machine) -> Arc<Sim> {
        let machine = Arc::new(machine);
        let kernel = Kernel::new(Model {
            seed: machine.seed,
            starts_at: starts_at(machine.seed),
            cpu_count: machine.cpus.len() as u32,
            scheduler: machine.scheduler.clone(),
            timing: machine.timing.clone(),
            join_wake: machine.handoff_wake.clone(),
            stalls: machine.stalls.clone(),
        });
        let reference = machine.clocks.iter().find(|clock| clock.info.name == machine.reference_clock);
        Arc::new(Sim {
            reference: reference.map_or((0, Nanos(1)), |clock| (clock.read_cost_ps, clock.step_ns)),
            shown: AtomicI64::new(0),
            clocks: clocks::registry(&machine, &kernel),
            waits: waits::registry(&machine, &kernel),
            runtime_calls: machine.runtime_calls.iter().cloned().map(CallWait::of).collect(),
            handoffs: handoffs::registry(&machine, &kernel),
            tunables: tunables::registry(&machine, &kernel),
            loads: loads::registry(&machine, &kernel),
            kernel,
            machine,
        })
    }
}

/// When virtual time begins: at zero with the first seed, 1.
fn starts_at(seed: u64) -> Nanos {
    let scattered = split_mix::mixed(seed.wrapping_sub(1)) % 1_000_000_000;
    Nanos(i64::try_from(scattered).unwrap_or(0))
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
        let (cost_ps, step) = self.reference;
        self.kernel.spend_ps(cost_ps);
        let now = self.kernel.now();
        if step <= Nanos(1) {
            return now;
        }
        let last = Nanos(self.shown.load(Ordering::Relaxed));
        if last <= now && now - last < step {
            return last;
        }
        let shown = now.round_down_to(step);
        self.shown.store(shown.0, Ordering::Relaxed);
        shown
    }

    fn reference_clock(&self) -> &'static str {
        self.machine.reference_clock
    }

    fn relax(&self) {
        self.kernel.spend(self.machine.relax_cost_ns);
    }

    fn spin_until(&self, until: Nanos, _is_over: &mut dyn FnMut(Nanos) -> bool) {
        // Takes the turns of the loop in one step: it ends as late as the loop would, within one turn.
        self.kernel.spend(until - self.kernel.now());
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

    fn runtime_calls(&self) -> &[CallWait] {
        &self.runtime_calls
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
        self.machine.cpus.clone()
    }

    fn spawn(&self, _name: &str, body: Box<dyn FnOnce() + Send>) -> Result<Box<dyn ThreadHandle>, Unavailable> {
        kernel::spawn(&self.kernel, self.machine.spawn_cost_ns, body)
    }

    fn time_is_virtual(&self) -> bool {
        true
    }

    fn restarted(&self) -> Option<SharedPlatform> {
        let again = Sim::start(Machine::clone(&self.machine));
        for requested in self.kernel.resolutions_of_others() {
            again.kernel.hold_resolution(requested, false);
        }
        Some(again)
    }

    fn neighbour(&self, setting: Option<&Setting>) -> Result<Box<dyn Neighbour>, Unavailable> {
        let tunable = (self as &dyn Platform).resolution_tunable();
        Ok(Box::new(tunables::neighbour(tunable, &self.kernel, setting)?))
    }

    fn environment(&self) -> Environment {
        let mut facts = self.machine.facts.clone();
        if self.kernel.tick().is_some() {
            let period = settings::resolution(&self.kernel);
            facts.set(FactName::TimerPeriodNow, FactValue::Nanos(period), "model");
        }
        // Even if the model was learned from a machine with these gauges, because these facts describe what is recorded with
        // each series.
        for gauge in [FactName::CpufreqReading, FactName::ThermalSensor] {
            facts.set(gauge, FactValue::Unknown(Unavailable::no_hardware("clock rate or heat in the model")), "model");
        }
        facts
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

/// The modelled kernel records each switch-in, so no observer is needed.
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
