//! Modelled loads: threads that compete for the CPUs, of the kinds real machines have. What a load does to caches and to
//! the memory bus is not modelled, and a load that is about nothing else is refused with that reason.

use std::sync::Arc;

use oversleep_record::{Nanos, Unavailable};

use super::kernel::{Hog, Kernel, Waking};
use super::machine::Machine;
use oversleep_system::{Load, LoadInfo, LoadKind, SlackRule, check_hogs};

/// As many as real machines start at most.

struct SimLoad {
    info: LoadInfo,
    hog: Result<Hog, Unavailable>,
    kernel: Arc<Kernel>,
}

struct Hogs {
    slots: Vec<usize>,
    kernel: Arc<Kernel>,
}

impl Load for Hogs {}

impl Drop for Hogs {
    fn drop(&mut self) {
        self.kernel.remove_hogs(&self.slots);
    }
}

impl LoadKind for SimLoad {
    fn info(&self) -> &LoadInfo {
        &self.info
    }

    fn start(&self, hogs: u32) -> Result<Box<dyn Load>, Unavailable> {
        check_hogs(hogs)?;
        let hog = self.hog.as_ref().map_err(Unavailable::clone)?;
        Ok(Box::new(Hogs { slots: self.kernel.add_hogs(hogs, hog), kernel: Arc::clone(&self.kernel) }))
    }
}

/// The timers by which the `timers` load of a system lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimerLoad {
    /// Registry name of the wait it resembles: where a machine hasn't got that one, it is served by the tick.
    pub wait: &'static str,
    /// From one timer to the next.
    pub span: Nanos,
    /// Whether the timer counts on by itself.
    pub is_periodic: bool,
}

pub(super) fn registry(machine: &Machine, kernel: &Arc<Kernel>) -> Vec<Box<dyn LoadKind>> {
    let load = |name, doc, hog| -> Box<dyn LoadKind> {
        Box::new(SimLoad { info: LoadInfo { name, doc }, hog, kernel: Arc::clone(kernel) })
    };
    let no_caches = Unavailable::failed("modelling memory hogs", "caches and the memory bus are not modelled");
    vec![
        load(
            "spin",
            "Modelled threads that never sleep: each takes a whole CPU while the scheduler lets it.",
            Ok(Hog::Spins),
        ),
        load("memory", "Not modelled: what it does to caches and to the memory bus.", Err(no_caches)),
        load(
            "syscalls",
            "Modelled threads that never sleep. The kernels modelled can be preempted, so one that is in a system call \
             gives way as one that computes.",
            Ok(Hog::Spins),
        ),
        load(
            "timers",
            "Modelled threads that live by timers, by the rules of their system: little CPU time, but many interrupts \
             and switches.",
            Ok(Hog::Wakes(waking(machine))),
        ),
    ]
}

fn waking(machine: &Machine) -> Waking {
    let load = machine.timer_load;
    let wait = machine.waits.iter().find(|wait| wait.info.name == load.wait && wait.unavailable.is_none());
    Waking {
        rule: wait.map_or(SlackRule::TimerResolution, |wait| wait.info.slack),
        span: load.span,
        is_periodic: load.is_periodic,
        work: machine.timer_load_work_ns,
        wake: machine.wake.cost.clone(),
    }
}
