//! Modelled hand-offs: all of them a semaphore with one wake cost.

use std::sync::Arc;

use oversleep_record::{Nanos, Unavailable};

use super::Machine;
use super::kernel::Kernel;
use crate::platform::interface::{Handoff, HandoffInfo, HandoffKind};

struct SimHandoffKind {
    info: HandoffInfo,
    wake: Nanos,
    kernel: Arc<Kernel>,
}

struct SimHandoff {
    semaphore: usize,
    wake: Nanos,
    kernel: Arc<Kernel>,
}

pub(super) fn registry(machine: &Machine, kernel: &Arc<Kernel>) -> Vec<Box<dyn HandoffKind>> {
    let kind = |&name: &&'static str| -> Box<dyn HandoffKind> {
        let info = HandoffInfo { name, call: "model", doc: "A modelled semaphore.", since: "", page: "" };
        Box::new(SimHandoffKind { info, wake: machine.handoff_wake_ns, kernel: Arc::clone(kernel) })
    };
    machine.handoffs.iter().map(kind).collect()
}

impl HandoffKind for SimHandoffKind {
    fn info(&self) -> &HandoffInfo {
        &self.info
    }

    fn open(&self) -> Result<Arc<dyn Handoff>, Unavailable> {
        let semaphore = self.kernel.add_semaphore();
        Ok(Arc::new(SimHandoff { semaphore, wake: self.wake, kernel: Arc::clone(&self.kernel) }))
    }
}

impl Handoff for SimHandoff {
    fn post(&self) {
        self.kernel.post(self.semaphore, self.wake);
    }

    fn wait(&self) {
        self.kernel.wait(self.semaphore);
    }
}
