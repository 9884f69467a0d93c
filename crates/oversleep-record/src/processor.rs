//! The processor's clock rate and temperature, read before and after each round, and its throttling counters.

use serde::{Deserialize, Serialize};

use crate::units::{Nanos, sign};

/// Thermal pressure, as macOS states it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ThermalPressure {
    /// None.
    Nominal,
    /// Some.
    Moderate,
    /// Much: the system slows down.
    Heavy,
    /// So much that the system does what it can to cool down.
    Trapping,
    /// The machine goes to sleep to cool down.
    Sleeping,
}

impl ThermalPressure {
    /// The name in results.
    pub fn name(self) -> &'static str {
        match self {
            ThermalPressure::Nominal => "nominal",
            ThermalPressure::Moderate => "moderate",
            ThermalPressure::Heavy => "heavy",
            ThermalPressure::Trapping => "trapping",
            ThermalPressure::Sleeping => "sleeping",
        }
    }
}

/// Clock rate and temperature in one window: the extremes of the readings just before and just after it, and the throttling
/// counted in between. `None` means not available. A gauge that can be read only now and then has the extreme of those
/// readings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProcessorState {
    /// Lowest clock rate of the CPU the measuring thread ran on; the fact `cpufreq.reading` says what was read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_min_hz: Option<u64>,
    /// The highest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_max_hz: Option<u64>,
    /// Lowest limit that the system set on that rate, for heat or on request, in thousandths of the highest rate of that
    /// CPU, because the cores of one machine may differ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit_min_permille: Option<u64>,
    /// The highest such limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit_max_permille: Option<u64>,
    /// Highest temperature of the processor in thousandths of a degree Celsius.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature_max_millicelsius: Option<i64>,
    /// Highest thermal pressure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thermal_pressure: Option<ThermalPressure>,
    /// How often a core or a package began to slow down because it was too hot, all of them together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thermal_throttles: Option<u64>,
    /// Time throttled, all cores and packages together, counted when each stretch ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thermal_throttled_ns: Option<Nanos>,
}

impl ProcessorState {
    /// Whether none of these values is available.
    pub fn is_unseen(&self) -> bool {
        *self == ProcessorState::default()
    }

    /// Combines two windows: the extremes of the gauges, and the sums of the counters, which are unknown if either is.
    pub fn merged(&self, other: &ProcessorState) -> ProcessorState {
        ProcessorState {
            thermal_throttles: sum(self.thermal_throttles, other.thermal_throttles, u64::saturating_add),
            thermal_throttled_ns: sum(self.thermal_throttled_ns, other.thermal_throttled_ns, |a, b| a + b),
            ..self.extremes(other)
        }
    }

    /// The extremes of both windows' gauges, without counters.
    pub fn extremes(&self, other: &ProcessorState) -> ProcessorState {
        ProcessorState {
            clock_min_hz: either(self.clock_min_hz, other.clock_min_hz, u64::min),
            clock_max_hz: either(self.clock_max_hz, other.clock_max_hz, u64::max),
            limit_min_permille: either(self.limit_min_permille, other.limit_min_permille, u64::min),
            limit_max_permille: either(self.limit_max_permille, other.limit_max_permille, u64::max),
            temperature_max_millicelsius: either(
                self.temperature_max_millicelsius,
                other.temperature_max_millicelsius,
                i64::max,
            ),
            thermal_pressure: either(self.thermal_pressure, other.thermal_pressure, Ord::max),
            thermal_throttles: None,
            thermal_throttled_ns: None,
        }
    }
}

/// A clock rate: `800 MHz`, `3.6 GHz`.
pub fn rate(hz: u64) -> String {
    let (value, unit, decimals) = match hz {
        0..1_000_000_000 => (hz as f64 / 1e6, "MHz", 0),
        _ => (hz as f64 / 1e9, "GHz", 2),
    };
    let text = format!("{value:.decimals$}");
    let text = if decimals > 0 { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    format!("{text} {unit}")
}

/// `3.6 GHz`, `800 MHz to 3.6 GHz`.
pub fn rates(lowest_hz: u64, highest_hz: u64) -> String {
    let (lowest, highest) = (rate(lowest_hz), rate(highest_hz));
    if lowest == highest { lowest } else { format!("{lowest} to {highest}") }
}

/// A temperature in whole degrees: `97 °C`.
pub fn degrees(millicelsius: i64) -> String {
    let degrees = (millicelsius as f64 / 1e3).round();
    format!("{}{} °C", sign(degrees < 0.0), degrees.abs())
}

fn sum<T>(a: Option<T>, b: Option<T>, add: impl FnOnce(T, T) -> T) -> Option<T> {
    Some(add(a?, b?))
}

fn either<T: Copy>(a: Option<T>, b: Option<T>, choose: impl FnOnce(T, T) -> T) -> Option<T> {
    match (a, b) {
        (Some(a), Some(b)) => Some(choose(a, b)),
        (one, other) => one.or(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gauges_keep_their_extremes_and_counts_add_up() {
        let cool = ProcessorState {
            clock_min_hz: Some(800_000_000),
            clock_max_hz: Some(2_000_000_000),
            limit_min_permille: Some(1_000),
            limit_max_permille: Some(1_000),
            temperature_max_millicelsius: Some(-5_000),
            thermal_pressure: Some(ThermalPressure::Nominal),
            thermal_throttles: Some(0),
            thermal_throttled_ns: Some(Nanos::ZERO),
        };
        let hot = ProcessorState {
            clock_min_hz: Some(1_200_000_000),
            clock_max_hz: Some(3_600_000_000),
            limit_min_permille: Some(333),
            limit_max_permille: Some(333),
            temperature_max_millicelsius: Some(97_000),
            thermal_pressure: Some(ThermalPressure::Heavy),
            thermal_throttles: Some(2),
            thermal_throttled_ns: Some(Nanos(7)),
        };
        let both = ProcessorState { clock_min_hz: Some(800_000_000), limit_max_permille: Some(1_000), ..hot };
        assert_eq!(cool.merged(&hot), both);
        assert_eq!(hot.merged(&cool), both);
    }

    #[test]
    fn a_gauge_may_be_unseen_at_some_moments_a_count_may_not() {
        let seen = ProcessorState {
            clock_min_hz: Some(1),
            thermal_throttles: Some(1),
            thermal_throttled_ns: Some(Nanos(1)),
            ..ProcessorState::default()
        };
        let merged = seen.merged(&ProcessorState::default());
        assert_eq!(merged, ProcessorState { clock_min_hz: Some(1), ..ProcessorState::default() });
        assert!(ProcessorState::default().is_unseen() && !merged.is_unseen());
    }

    #[test]
    fn rates_and_temperatures_read_as_people_say_them() {
        assert_eq!(rates(800_000_000, 3_600_000_000), "800 MHz to 3.6 GHz");
        assert_eq!(rates(1_000_000_000, 1_000_100_000), "1 GHz");
        assert_eq!([rate(0), rate(999_000_000), rate(2_495_123_000)], ["0 MHz", "999 MHz", "2.5 GHz"]);
        assert_eq!([degrees(61_499), degrees(-5_000)], ["61 °C", "−5 °C"]);
    }
}
