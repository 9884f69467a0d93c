//! The measurements of one clock.

use serde::{Deserialize, Serialize};

use crate::key::SeriesKey;
use crate::reason::Unavailable;
use crate::series::Runtime;
use crate::units::Nanos;

/// What a clock counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "ClockCounts"))]
#[serde(rename_all = "snake_case")]
pub enum Counts {
    /// Time that passes.
    ElapsedTime,
    /// Time of day, which can be set and stepped.
    TimeOfDay,
    /// CPU time of the calling process, all threads together.
    ProcessCpuTime,
    /// CPU time of the calling thread.
    ThreadCpuTime,
}

impl Counts {
    /// A few words for tables.
    pub fn words(self) -> &'static str {
        match self {
            Counts::ElapsedTime => "elapsed time",
            Counts::TimeOfDay => "time of day",
            Counts::ProcessCpuTime => "CPU time of the process",
            Counts::ThreadCpuTime => "CPU time of the thread",
        }
    }
}

/// The epoch a clock counts from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Epoch {
    /// Some point at or near boot.
    Boot,
    /// 1970-01-01 UTC.
    Unix,
    /// 1970-01-01 TAI.
    Tai,
    /// 1601-01-01 UTC.
    Windows,
    /// The start of the process.
    Process,
    /// The start of the thread.
    Thread,
    /// Reset of the processor.
    Processor,
}

impl Epoch {
    /// A few words for tables.
    pub fn words(self) -> &'static str {
        match self {
            Epoch::Boot => "boot",
            Epoch::Unix => "1970 UTC",
            Epoch::Tai => "1970 TAI",
            Epoch::Windows => "1601 UTC",
            Epoch::Process => "start of the process",
            Epoch::Thread => "start of the thread",
            Epoch::Processor => "reset of the processor",
        }
    }
}

/// How a clock behaves across suspend.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum AcrossSuspend {
    /// It counts the time suspended.
    Continues,
    /// It stands still.
    Stops,
    /// It depends on the processor, or is not documented.
    Unspecified,
}

/// The shortest step of a clock that counts as coarse. Windows grants 0.5 ms as 0.4992 ms on a grid of 24 MHz, and the
/// clocks that follow its timer interrupt step by its current period; no fine clock steps by more than a few µs.
pub const COARSE_STEP_MIN: Nanos = Nanos(400_000);

/// Whether a clock with this step is coarse: the step comes from a timer's tick, not from a counter.
pub fn is_coarse(step: Nanos) -> bool {
    step >= COARSE_STEP_MIN
}

impl AcrossSuspend {
    /// A few words for tables.
    pub fn words(self) -> &'static str {
        match self {
            AcrossSuspend::Continues => "continues",
            AcrossSuspend::Stops => "stops",
            AcrossSuspend::Unspecified => "unspecified",
        }
    }
}

/// Whether a clock is valid for measuring elapsed time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "ClockValidity"))]
#[serde(rename_all = "snake_case")]
pub enum Validity {
    /// All checks passed.
    Valid,
    /// No check failed, but one lacked data; the reasons say which.
    Unproven,
    /// A check failed; the reasons say which.
    Invalid,
}

/// A2: read, wait, read again: the time that passed by this clock and by the reference clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Difference {
    /// By the reference clock.
    pub reference_ns: Nanos,
    /// By this clock.
    pub indicated_ns: Nanos,
}

/// A4: how finely and how steadily it moves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Steps {
    /// Consecutive reads compared.
    pub reads: u64,
    /// Smallest non-zero forward difference.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub smallest_ns: Option<Nanos>,
    /// Median non-zero forward difference.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub median_ns: Option<Nanos>,
    /// Values it takes per second while read without pause; near 1/step for coarse clocks, the read rate for fine ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changes_per_second: Option<u64>,
    /// How often it went backwards on one thread.
    pub backward_on_one_thread: u64,
    /// Furthest it went backwards on one thread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backward_on_one_thread_ns: Option<Nanos>,
    /// Ordered hand-overs between CPUs that were compared; 0 on a machine with one CPU.
    pub cross_cpu_reads: u64,
    /// How often a later read on another CPU showed an earlier time.
    pub backward_across_cpus: u64,
    /// Furthest it went backwards across CPUs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backward_across_cpus_ns: Option<Nanos>,
}

/// A5: rate against the reference clock.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Drift {
    /// Parts per million this clock runs fast (positive) or slow.
    pub ppm: f64,
    /// How long it was observed.
    pub window_ns: Nanos,
    /// The uncertainty that comes from the reads at both ends, in ppm.
    pub uncertainty_ppm: f64,
}

fn has_no_figures(drift: &Option<Drift>) -> bool {
    drift.is_none_or(|drift| !(drift.ppm.is_finite() && drift.uncertainty_ppm.is_finite()))
}

/// What was measured of one clock. Its cost per read is the series named by `cost_series`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClockResult {
    /// Registry name; of a runtime, the name its programmers write. Unique among the clocks of one runtime.
    pub name: String,
    /// The language runtime that the clock belongs to; `None` for the clocks of the system.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime: Option<Runtime>,
    /// The call as a programmer writes it.
    pub call: String,
    /// What it counts.
    pub counts: Counts,
    /// The moment it counts from.
    pub epoch: Epoch,
    /// Unit of the raw value: `ns`, `us`, `s`, `ticks`.
    pub unit: String,
    /// How it behaves across suspend.
    pub across_suspend: AcrossSuspend,
    /// When its value starts again from zero; `None` where that takes more than a century.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wraps_after_ns: Option<Nanos>,
    /// Why it is not available.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unavailable: Option<Unavailable>,
    /// Key of the series with its cost per read, in ps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_series: Option<SeriesKey>,
    /// An example of its raw value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub example_raw: Option<u64>,
    /// Ticks per second, where the raw value counts ticks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frequency_hz: Option<u64>,
    /// The step that the system itself states (`clock_getres`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stated_step_ns: Option<Nanos>,
    /// A2, one per pass.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub differences: Vec<Difference>,
    /// A4.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steps: Option<Steps>,
    /// A5. Figures that are not finite are left out of a file, because JSON can't hold them.
    #[serde(default, skip_serializing_if = "has_no_figures")]
    pub drift: Option<Drift>,
}

impl ClockResult {
    /// The time it showed of the reference waits, as a ratio: 1.0 for a clock of elapsed time, 0.0 for one that stood still.
    pub fn indicated_ratio(&self) -> Option<f64> {
        let reference: Nanos = self.differences.iter().map(|difference| difference.reference_ns).sum();
        let indicated: Nanos = self.differences.iter().map(|difference| difference.indicated_ns).sum();
        (reference > Nanos::ZERO).then(|| indicated.0 as f64 / reference.0 as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_finest_tick_of_windows_is_coarse() {
        assert!(is_coarse(Nanos(499_200)) && is_coarse(Nanos::from_millis(4)) && !is_coarse(Nanos(100)));
    }

    #[test]
    fn a_drift_without_figures_is_left_out() {
        let text =
            r#"{"name":"x","call":"x()","counts":"elapsed_time","epoch":"boot","unit":"ns","across_suspend":"stops"}"#;
        let mut clock: ClockResult = serde_json::from_str(text).unwrap();
        for (ppm, uncertainty_ppm) in [(f64::NAN, 0.1), (0.1, f64::INFINITY)] {
            clock.drift = Some(Drift { ppm, window_ns: Nanos(0), uncertainty_ppm });
            assert_eq!(serde_json::to_string(&clock).unwrap(), text);
        }
        clock.drift = Some(Drift { ppm: -0.1, window_ns: Nanos(1), uncertainty_ppm: 0.2 });
        let back: ClockResult = serde_json::from_value(serde_json::to_value(&clock).unwrap()).unwrap();
        assert_eq!(back, clock);
    }
}
