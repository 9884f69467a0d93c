//! Modelled clocks.

use std::sync::Arc;

use oversleep_record::clock::Epoch;
use oversleep_record::{Nanos, Unavailable};

use super::kernel::Kernel;
use super::machine::{ClockModel, ClockSource, Machine};
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

impl SimClock {
    /// What virtual time it follows.
    fn followed(&self) -> Nanos {
        match self.model.source {
            ClockSource::Elapsed => self.kernel.now(),
            ClockSource::LastInterrupt => self.kernel.hardware_grid.grid().at_or_before(self.kernel.now()),
            ClockSource::ThreadCpu => self.kernel.cpu_time(),
            ClockSource::ProcessCpu => self.kernel.process_cpu_time(),
        }
    }
}

/// Modelled time begins at this moment after each epoch: values look like those of a machine that has been up for a
/// while, and a skewed clock stays above zero.
fn origin(epoch: Epoch) -> Nanos {
    match epoch {
        Epoch::Boot | Epoch::Processor => Nanos::from_secs(1_000),
        // 2026-01-01 00:00 UTC, and TAI 37 s ahead of it.
        Epoch::Unix => Nanos::from_secs(1_767_225_600),
        Epoch::Tai => Nanos::from_secs(1_767_225_637),
        // In units of 100 ns the distance from 1601 to 1970 is added below: it doesn't fit the range of a span.
        Epoch::Windows => Nanos::from_secs(1_767_225_600),
        Epoch::Process | Epoch::Thread => Nanos::ZERO,
    }
}

/// From 1601-01-01 to 1970-01-01, in s.
const WINDOWS_TO_UNIX_S: u64 = 11_644_473_600;

impl Clock for SimClock {
    fn info(&self) -> &ClockInfo {
        &self.model.info
    }

    fn available(&self) -> Result<(), Unavailable> {
        self.model.unavailable.clone().map_or(Ok(()), Err)
    }

    fn stated_frequency_hz(&self) -> Option<u64> {
        Some(self.model.frequency_hz)
    }

    fn stated_step_ns(&self) -> Option<Nanos> {
        // Windows states a step for the tick counts alone; a clock as of the last interrupt has whatever period is held.
        (self.model.source != ClockSource::LastInterrupt).then_some(self.model.step_ns)
    }

    fn read(&self) -> u64 {
        self.kernel.spend_ps(self.model.read_cost_ps);
        let true_ns = self.followed();
        let drift = i128::from(true_ns.0) * i128::from(self.model.drift_ppm) / 1_000_000;
        let skew = if self.kernel.on_odd_cpu() { self.model.skew_ns } else { Nanos::ZERO };
        let epoch = self.model.info.epoch;
        let stepped = (true_ns + Nanos(drift as i64)).round_down_to(self.model.step_ns);
        let shown = (origin(epoch) + stepped - skew).max(Nanos::ZERO).0.unsigned_abs();
        let hz = self.model.frequency_hz;
        let raw = match hz {
            1_000_000_000 => shown,
            _ => (u128::from(shown) * u128::from(hz) / 1_000_000_000) as u64,
        };
        let since_epoch = if epoch == Epoch::Windows { WINDOWS_TO_UNIX_S.wrapping_mul(hz) } else { 0 };
        let raw = raw.wrapping_add(since_epoch);
        if self.model.info.bits < 64 { raw & ((1 << self.model.info.bits) - 1) } else { raw }
    }

    fn read_batch(&self, count: u64) {
        self.kernel.spend_ps(self.model.read_cost_ps.saturating_mul(count));
    }

    fn read_into(&self, out: &mut [u64]) {
        out.iter_mut().for_each(|value| *value = self.read());
    }
}
