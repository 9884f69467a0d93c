//! The other activity of the machine while a series was measured. It is recorded with the series, because it may invalidate
//! it.

use serde::{Deserialize, Serialize};

use crate::processor::ProcessorState;
use crate::units::Nanos;

/// What changed in the system's counters over one window. `None` means not available, never "nothing happened".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Disturbance {
    /// Length of the window.
    pub window_ns: Nanos,
    /// Time the hypervisor ran something else, all CPUs together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steal_ns: Option<Nanos>,
    /// Time in which at least one runnable task waited for a CPU (PSI `some`), system-wide or of the cgroup.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_pressure_ns: Option<Nanos>,
    /// CPU time of everything but this process, all CPUs together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other_cpu_ns: Option<Nanos>,
    /// Time the measuring thread was runnable and waited for a CPU.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_delay_ns: Option<Nanos>,
    /// How often the measuring thread gave up the CPU by itself, as in a wait.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub voluntary_switches: Option<u64>,
    /// How often the measuring thread was preempted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub involuntary_switches: Option<u64>,
    /// Page faults of the measuring thread without I/O.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub minor_faults: Option<u64>,
    /// Page faults of the measuring thread that waited for I/O.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub major_faults: Option<u64>,
    /// Time this cgroup was throttled by its CPU quota.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throttled_ns: Option<Nanos>,
    /// Periods in which this cgroup was throttled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throttled_periods: Option<u64>,
    /// Timer interrupts on all CPUs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timer_interrupts: Option<u64>,
    /// Interrupts of every kind on all CPUs, where the timer's are not counted apart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub all_interrupts: Option<u64>,
    /// CPU time the measuring thread used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own_cpu_ns: Option<Nanos>,
    /// Time in which the measuring thread neither ran, nor waited for a CPU, nor slept on its own accord: this process
    /// was stopped, or the whole machine was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stalled_ns: Option<Nanos>,
    /// Time the machine was suspended. The clock that deadlines are on may stand still meanwhile, and then the window
    /// doesn't contain it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suspended_ns: Option<Nanos>,
    /// How fast the processor could run and how hot it was.
    #[serde(default, skip_serializing_if = "ProcessorState::is_unseen")]
    pub processor: ProcessorState,
}

impl Disturbance {
    /// Combines two windows. A value that is unknown in either stays unknown, unless the other window is empty.
    pub fn merged(&self, other: &Disturbance) -> Disturbance {
        if self.window_ns == Nanos::ZERO {
            return *other;
        }
        if other.window_ns == Nanos::ZERO {
            return *self;
        }
        fn spans(a: Option<Nanos>, b: Option<Nanos>) -> Option<Nanos> {
            Some(a? + b?)
        }
        fn counts(a: Option<u64>, b: Option<u64>) -> Option<u64> {
            Some(a?.saturating_add(b?))
        }
        Disturbance {
            window_ns: self.window_ns + other.window_ns,
            steal_ns: spans(self.steal_ns, other.steal_ns),
            cpu_pressure_ns: spans(self.cpu_pressure_ns, other.cpu_pressure_ns),
            other_cpu_ns: spans(self.other_cpu_ns, other.other_cpu_ns),
            run_delay_ns: spans(self.run_delay_ns, other.run_delay_ns),
            voluntary_switches: counts(self.voluntary_switches, other.voluntary_switches),
            involuntary_switches: counts(self.involuntary_switches, other.involuntary_switches),
            minor_faults: counts(self.minor_faults, other.minor_faults),
            major_faults: counts(self.major_faults, other.major_faults),
            throttled_ns: spans(self.throttled_ns, other.throttled_ns),
            throttled_periods: counts(self.throttled_periods, other.throttled_periods),
            timer_interrupts: counts(self.timer_interrupts, other.timer_interrupts),
            all_interrupts: counts(self.all_interrupts, other.all_interrupts),
            own_cpu_ns: spans(self.own_cpu_ns, other.own_cpu_ns),
            stalled_ns: spans(self.stalled_ns, other.stalled_ns),
            suspended_ns: spans(self.suspended_ns, other.suspended_ns),
            processor: self.processor.merged(&other.processor),
        }
    }

    /// Systems account CPU time in ticks, of 10 ms in Linux's statistics and of 15.6 ms on Windows. A window shorter
    /// than four ticks contains nothing or a whole tick, whatever happened.
    pub const TELLS_CPU_TIME_FROM: Nanos = Nanos(62_500_000);

    /// CPU time of everything but this process as a share of the window (0.0 to the number of CPUs); `None` if it is
    /// not available or the window is too short.
    pub fn other_cpu_share(&self) -> Option<f64> {
        if self.window_ns < Disturbance::TELLS_CPU_TIME_FROM { None } else { self.share(self.other_cpu_ns) }
    }

    /// `part` as a share of the window (0.0 to the number of CPUs); `None` where it is not available.
    pub fn share(&self, part: Option<Nanos>) -> Option<f64> {
        (self.window_ns > Nanos::ZERO).then_some(())?;
        Some(part?.0 as f64 / self.window_ns.0 as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unseen_stays_unseen() {
        let seen = Disturbance { window_ns: Nanos(10), steal_ns: Some(Nanos(2)), ..Disturbance::default() };
        let blind = Disturbance { window_ns: Nanos(10), ..Disturbance::default() };
        assert_eq!(seen.merged(&blind).steal_ns, None);
        assert_eq!(seen.merged(&Disturbance::default()).steal_ns, Some(Nanos(2)));
        assert_eq!(seen.merged(&seen).share(Some(Nanos(4))), Some(0.2));
        assert_eq!(Disturbance::default().share(Some(Nanos(4))), None);
    }

    #[test]
    fn a_window_shorter_than_some_ticks_says_nothing_of_others() {
        let of_ms = |ms, other_cpu_ns| Disturbance {
            window_ns: Nanos::from_millis(ms),
            other_cpu_ns,
            ..Disturbance::default()
        };
        assert_eq!(of_ms(1, Some(Nanos::ZERO)).other_cpu_share(), None, "not zero");
        assert_eq!(of_ms(1, Some(Nanos(15_625_000))).other_cpu_share(), None, "not fifteen CPUs");
        assert_eq!(of_ms(100, Some(Nanos::from_millis(25))).other_cpu_share(), Some(0.25));
        assert_eq!(of_ms(100, None).other_cpu_share(), None);
        let rounds = (0..100).fold(Disturbance::default(), |sum, _| sum.merged(&of_ms(1, Some(Nanos::ZERO))));
        assert_eq!(rounds.other_cpu_share(), Some(0.0), "many short windows are a long one");
    }

    #[test]
    fn counters_saturate() {
        let most = Disturbance {
            window_ns: Nanos::MAX,
            minor_faults: Some(u64::MAX),
            own_cpu_ns: Some(Nanos::MAX),
            ..Disturbance::default()
        };
        let both = most.merged(&most);
        assert_eq!((both.minor_faults, both.own_cpu_ns), (Some(u64::MAX), Some(Nanos::MAX)));
    }
}
