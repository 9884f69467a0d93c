//! Modelled waits.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use oversleep_record::{Nanos, Unavailable};

use super::kernel::Kernel;
use super::{Machine, Overshoot, WaitModel};
use crate::platform::interface::{Family, SharedPlatform, Target, Wait, WaitEnd, WaitInfo, Waiter};

struct SimWait {
    model: Arc<WaitModel>,
    kernel: Arc<Kernel>,
    /// Position in an [`Overshoot::Cycle`], shared by all waiters so that rounds continue it.
    turn: Arc<AtomicUsize>,
}

pub(super) fn registry(machine: &Machine, kernel: &Arc<Kernel>) -> Vec<Box<dyn Wait>> {
    let wait = |model: &WaitModel| -> Box<dyn Wait> {
        Box::new(SimWait { model: Arc::new(model.clone()), kernel: Arc::clone(kernel), turn: Arc::default() })
    };
    machine.waits.iter().map(wait).collect()
}

impl Wait for SimWait {
    fn info(&self) -> &WaitInfo {
        &self.model.info
    }

    fn open(&self, _platform: &SharedPlatform) -> Result<Box<dyn Waiter>, Unavailable> {
        Ok(Box::new(SimWaiter {
            model: Arc::clone(&self.model),
            kernel: Arc::clone(&self.kernel),
            turn: Arc::clone(&self.turn),
        }))
    }
}

struct SimWaiter {
    model: Arc<WaitModel>,
    kernel: Arc<Kernel>,
    turn: Arc<AtomicUsize>,
}

impl Waiter for SimWaiter {
    fn wait(&mut self, target: Target) -> WaitEnd {
        let info = &self.model.info;
        if info.family == Family::Yield {
            self.kernel.spend(Nanos(1_000));
            return WaitEnd::TimedOut;
        }
        let due = if info.absolute { target.deadline } else { self.kernel.now() + info.asked(target.remaining) };
        let overshoot = match &self.model.overshoot {
            Overshoot::Fixed(span) => *span,
            Overshoot::SlackPlus(wake) => self.kernel.slack() + *wake,
            Overshoot::Cycle(spans) => spans[self.turn.fetch_add(1, Ordering::Relaxed) % spans.len()],
        };
        let run_delay = self.model.delay_per_hog_ns * i64::from(self.kernel.hogs());
        self.kernel.sleep_until(due + overshoot + run_delay, run_delay);
        WaitEnd::TimedOut
    }
}
