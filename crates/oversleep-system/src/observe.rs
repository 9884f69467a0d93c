//! What this process can observe on a platform: CPUs, counters and switch-ins.

use oversleep_record::{Disturbance, Nanos, ProcessorState, Unavailable};

pub use oversleep_record::label::CpuKind;

/// One CPU this process may run on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cpu {
    /// The system's number.
    pub number: u32,
    /// Its class.
    pub kind: CpuKind,
}

/// The counters that this process can read, at one moment. Values count from an arbitrary origin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CounterReading {
    /// The moment, on the reference clock.
    pub at: Nanos,
    /// Values in the fields of a disturbance; `window_ns` is not used.
    pub totals: Disturbance,
}

impl CounterReading {
    /// The changes from `self` to `later`.
    pub fn until(&self, later: &CounterReading) -> Disturbance {
        fn span(a: Option<Nanos>, b: Option<Nanos>) -> Option<Nanos> {
            // Some counters can go back, such as steal after a live migration. Such a window is unknown, not negative.
            let difference = b? - a?;
            (difference >= Nanos::ZERO).then_some(difference)
        }
        fn count(a: Option<u64>, b: Option<u64>) -> Option<u64> {
            b?.checked_sub(a?)
        }
        let (a, b) = (&self.totals, &later.totals);
        let window = later.at - self.at;
        Disturbance {
            window_ns: window,
            steal_ns: span(a.steal_ns, b.steal_ns),
            // It is read a moment before the time, so it may cover more. Pressure of all the time is the most there is.
            cpu_pressure_ns: span(a.cpu_pressure_ns, b.cpu_pressure_ns).map(|pressure| pressure.min(window)),
            other_cpu_ns: span(a.other_cpu_ns, b.other_cpu_ns),
            run_delay_ns: span(a.run_delay_ns, b.run_delay_ns),
            voluntary_switches: count(a.voluntary_switches, b.voluntary_switches),
            involuntary_switches: count(a.involuntary_switches, b.involuntary_switches),
            minor_faults: count(a.minor_faults, b.minor_faults),
            major_faults: count(a.major_faults, b.major_faults),
            throttled_ns: span(a.throttled_ns, b.throttled_ns),
            throttled_periods: count(a.throttled_periods, b.throttled_periods),
            timer_interrupts: count(a.timer_interrupts, b.timer_interrupts),
            all_interrupts: count(a.all_interrupts, b.all_interrupts),
            own_cpu_ns: span(a.own_cpu_ns, b.own_cpu_ns),
            suspended_ns: span(a.suspended_ns, b.suspended_ns),
            // Derived from these and from the measured values.
            stalled_ns: None,
            // It is read separately, before and after these: [`Platform::processor_state`](super::Platform).
            processor: ProcessorState::default(),
        }
    }
}

/// The processor between two readings of [`Platform::processor_state`](super::Platform::processor_state): the extremes
/// of its gauges, and the increments of its counters.
pub fn processor_between(before: &ProcessorState, after: &ProcessorState) -> ProcessorState {
    let spent = || Some(after.thermal_throttled_ns? - before.thermal_throttled_ns?);
    let grown = || after.thermal_throttles?.checked_sub(before.thermal_throttles?);
    ProcessorState {
        thermal_throttles: grown(),
        thermal_throttled_ns: spent().filter(|&time| time >= Nanos::ZERO),
        ..before.extremes(after)
    }
}

/// The calling thread's last switch-in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SwitchIn {
    /// When the thread got a CPU, on the reference clock.
    pub at: Nanos,
    /// How long it had waited for a CPU before that.
    pub run_queue_delay: Nanos,
}

/// Watches the thread that created it.
pub trait Splitter {
    /// Starts to watch; call it just before a wait.
    fn arm(&mut self);

    /// The last switch-in since [`Splitter::arm`], which ended the wait. `None` if the thread was never switched out
    /// or an event was lost.
    fn last_switch_in(&mut self) -> Option<SwitchIn>;

    /// Its method, for the result.
    fn method(&self) -> &'static str;
}

/// Something that this process may or may not observe or change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ability {
    /// Short name: `real-time policies`, `switch-in times`.
    pub name: String,
    /// Its benefit for the user.
    pub gives: String,
    /// The evidence for it, or why it is absent and how to allow it.
    pub state: Result<String, Unavailable>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pressure_never_exceeds_the_time() {
        let reading = |at_ms, pressure_ms| CounterReading {
            at: Nanos::from_millis(at_ms),
            totals: Disturbance { cpu_pressure_ns: Some(Nanos::from_millis(pressure_ms)), ..Disturbance::default() },
        };
        let pressure = |later_ms| reading(100, 50).until(&reading(131, later_ms)).cpu_pressure_ns;
        assert_eq!(pressure(84), Some(Nanos::from_millis(31)), "34 ms of 31 ms");
        assert_eq!(pressure(70), Some(Nanos::from_millis(20)));
        assert_eq!(pressure(40), None, "it went back");
    }

    #[test]
    fn between_two_readings_counts_grow_and_gauges_keep_their_extremes() {
        let reading = |hz, millicelsius, throttles, ms| ProcessorState {
            clock_min_hz: Some(hz),
            clock_max_hz: Some(hz),
            temperature_max_millicelsius: Some(millicelsius),
            thermal_throttles: throttles,
            thermal_throttled_ns: Some(Nanos::from_millis(ms)),
            ..ProcessorState::default()
        };
        let between = processor_between(&reading(3, 90, Some(5), 100), &reading(1, 80, Some(7), 140));
        let expected = ProcessorState { clock_max_hz: Some(3), ..reading(1, 90, Some(2), 40) };
        assert_eq!(between, expected);
        let back = processor_between(&reading(1, 1, Some(7), 140), &reading(1, 1, Some(5), 100));
        assert_eq!((back.thermal_throttles, back.thermal_throttled_ns), (None, None), "unknown, not negative");
        assert_eq!(processor_between(&reading(1, 1, None, 0), &reading(1, 1, Some(5), 0)).thermal_throttles, None);
    }
}
