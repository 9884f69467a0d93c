//! Modelled hand-offs: each is a semaphore with one wake cost. Afterwards the waiter runs, as soon as a CPU is free.

use std::sync::Arc;

use oversleep_record::Unavailable;
use oversleep_system::{Handoff, HandoffInfo, HandoffKind};

use super::kernel::Kernel;
use super::machine::Machine;
use super::spread::Spread;

struct SimHandoffKind {
    info: &'static HandoffInfo,
    wake: Arc<Spread>,
    unavailable: Option<Unavailable>,
    kernel: Arc<Kernel>,
}

struct SimHandoff {
    semaphore: usize,
    wake: Arc<Spread>,
    kernel: Arc<Kernel>,
}

impl Drop for SimHandoff {
    fn drop(&mut self) {
        self.kernel.remove_semaphore(self.semaphore);
    }
}

pub(super) fn registry(machine: &Machine, kernel: &Arc<Kernel>) -> Vec<Box<dyn HandoffKind>> {
    let wake = Arc::new(machine.handoff_wake.clone());
    let kind = |&(info, ref unavailable): &(&'static HandoffInfo, Option<Unavailable>)| -> Box<dyn HandoffKind> {
        Box::new(SimHandoffKind {
            info,
            wake: Arc::clone(&wake),
            unavailable: unavailable.clone(),
            kernel: Arc::clone(kernel),
        })
    };
    machine.handoffs.iter().map(kind).collect()
}

impl HandoffKind for SimHandoffKind {
    fn info(&self) -> &HandoffInfo {
        self.info
    }

    fn open(&self) -> Result<Arc<dyn Handoff>, Unavailable> {
        if let Some(reason) = &self.unavailable {
            return Err(reason.clone());
        }
        let semaphore = self.kernel.add_semaphore();
        Ok(Arc::new(SimHandoff { semaphore, wake: Arc::clone(&self.wake), kernel: Arc::clone(&self.kernel) }))
    }
}

impl Handoff for SimHandoff {
    fn post(&self) {
        self.kernel.post(self.semaphore, self.wake.draw(&self.kernel.random));
    }

    fn wait(&self) {
        self.kernel.wait(self.semaphore);
    }
}
