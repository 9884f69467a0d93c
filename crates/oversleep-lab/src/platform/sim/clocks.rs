//! Modelled clocks.

use std::sync::Arc;

use oversleep_record::{Nanos, Unavailable};

use super::kernel::Kernel;
use super::{ClockModel, ClockSource, Machine};
use crate::platform::interface::{Clock, ClockInfo};

struct SimClock {
    model: ClockModel,
    kernel: Arc<Kernel>,
}

pub(super) fn registry(machine: &Machine, kernel: &Arc<Kernel>) -> Vec<Box<dyn Clock>> {
    let clock = |model: &ClockModel| -> Box<dyn Clock> {
        Box::new(SimClock { model: model.clone(), kernel: Arc::clone(kernel) })
    };
    machine.clocks.iter().map(clock).collect()
}

impl Clock for SimClock {
    fn info(&self) -> &ClockInfo {
        &self.model.info
    }

    fn available(&self) -> Result<(), Unavailable> {
        Ok(())
    }

    fn stated_frequency_hz(&self) -> Option<u64> {
        None
    }

    fn stated_step_ns(&self) -> Option<Nanos> {
        Some(self.model.step_ns)
    }

    fn read(&self) -> u64 {
        self.kernel.spend(self.model.read_cost_ns);
        let true_ns = match self.model.source {
            ClockSource::Elapsed => self.kernel.now(),
            ClockSource::ThreadCpu => self.kernel.cpu_time(),
        };
        let drift = i128::from(true_ns.0) * i128::from(self.model.drift_ppm) / 1_000_000;
        let skew = if self.kernel.on_odd_thread() { self.model.skew_ns } else { Nanos::ZERO };
        // An origin well after zero keeps a skewed clock from going below it.
        let shown = Nanos(1_000_000_000_000) + true_ns + Nanos(drift as i64) - skew;
        shown.round_down_to(self.model.step_ns).0 as u64
    }

    fn read_batch(&self, count: u64) {
        self.kernel.spend(self.model.read_cost_ns * i64::try_from(count).unwrap_or(i64::MAX));
    }

    fn read_into(&self, out: &mut [u64]) {
        out.iter_mut().for_each(|value| *value = self.read());
    }
}
