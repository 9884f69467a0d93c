//! Modelled loads: threads that compete for the CPUs, of the same kinds as on real machines. The effects of a load on
//! caches and the memory bus are not modelled; a load with no other effect is refused with that reason.

use std::sync::Arc;

use oversleep_record::Unavailable;
use oversleep_system::{HogTimer, Load, LoadInfo, LoadKind, SlackRule, check_hogs};

use super::kernel::{Hog, Kernel, Waking};
use super::machine::Machine;

struct SimLoad {
    info: &'static LoadInfo,
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
        self.info
    }

    fn start(&self, hogs: u32) -> Result<Box<dyn Load>, Unavailable> {
        check_hogs(hogs)?;
        let hog = self.hog.as_ref().map_err(Unavailable::clone)?;
        Ok(Box::new(Hogs { slots: self.kernel.add_hogs(hogs, hog), kernel: Arc::clone(&self.kernel) }))
    }
}

pub(super) fn registry(machine: &Machine, kernel: &Arc<Kernel>) -> Vec<Box<dyn LoadKind>> {
    let load = |info: &'static LoadInfo| -> Box<dyn LoadKind> {
        Box::new(SimLoad { info, hog: hog(info, machine), kernel: Arc::clone(kernel) })
    };
    machine.loads.iter().map(load).collect()
}

/// The behaviour of a hog of that kind. The modelled kernels are preemptible, so a hog in a system call is preempted
/// like one that computes.
fn hog(info: &LoadInfo, machine: &Machine) -> Result<Hog, Unavailable> {
    match (info.timer, info.name) {
        (Some(timer), _) => Ok(Hog::Wakes(waking(machine, timer))),
        (None, "memory") => Err(Unavailable::failed("load memory", "caches and the memory bus are not modelled")),
        (None, _) => Ok(Hog::Spins),
    }
}

/// On a machine without the wait that the timer resembles, the tick ends the hogs' timers.
fn waking(machine: &Machine, timer: HogTimer) -> Waking {
    let wait = machine.waits.iter().find(|wait| wait.info.name == timer.wait && wait.unavailable.is_none());
    Waking {
        rule: wait.map_or(SlackRule::TimerResolution, |wait| wait.info.slack),
        span: timer.span,
        is_periodic: timer.is_periodic,
        work: machine.timer_load_work_ns,
        wake: machine.wake.cost.clone(),
    }
}
