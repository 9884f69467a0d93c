//! Counters that only grow, from windows some of which are not known.

use oversleep_record::{Disturbance, Nanos};

/// What happened since the start. `None` means that no window told; where some did, the others add nothing, and
/// [`Sums::unknown_windows`] counts them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sums {
    /// Time stolen by the hypervisor.
    pub steal: Option<Nanos>,
    /// Time in which some task waited for a CPU.
    pub cpu_pressure: Option<Nanos>,
    /// Time in which the control group was throttled.
    pub throttled: Option<Nanos>,
    /// Time in suspend.
    pub suspended: Option<Nanos>,
    /// CPU time of the sampler's thread.
    pub own_cpu: Option<Nanos>,
    /// Windows in which a counter went back: it wrapped, was reset, or the machine was moved.
    pub unknown_windows: u64,
}

impl Sums {
    pub(crate) fn add(&mut self, window: &Disturbance) {
        let mut is_unknown = false;
        let mut add = |sum: &mut Option<Nanos>, part: Option<Nanos>| match part {
            Some(part) => *sum = Some(sum.unwrap_or(Nanos::ZERO) + part),
            // It was known before, and isn't in this window.
            None => is_unknown |= sum.is_some(),
        };
        add(&mut self.steal, window.steal_ns);
        add(&mut self.cpu_pressure, window.cpu_pressure_ns);
        add(&mut self.throttled, window.throttled_ns);
        add(&mut self.suspended, window.suspended_ns);
        add(&mut self.own_cpu, window.own_cpu_ns);
        self.unknown_windows += u64::from(is_unknown);
    }
}
