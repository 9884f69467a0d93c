//! Clocks with exact figures.

use crate::clock::{AcrossSuspend, Counts, Difference, Epoch, Steps};
use crate::{ClockResult, ExperimentId, Nanos, SeriesKey};

/// A flawless clock of elapsed time: 100 ms indicated of 100 ms, in steps of 10 ns.
pub fn good_clock(name: &str) -> ClockResult {
    ClockResult {
        name: name.into(),
        runtime: None,
        call: format!("{name}()"),
        counts: Counts::ElapsedTime,
        epoch: Epoch::Boot,
        unit: "ns".into(),
        across_suspend: AcrossSuspend::Stops,
        wraps_after_ns: None,
        unavailable: None,
        cost_series: Some(SeriesKey::new(ExperimentId::A1, name)),
        example_raw: None,
        frequency_hz: None,
        stated_step_ns: Some(Nanos(1)),
        differences: vec![differed(100_000_000)],
        steps: Some(Steps {
            reads: 1_000,
            smallest_ns: Some(Nanos(10)),
            median_ns: Some(Nanos(10)),
            changes_per_second: Some(30_000_000),
            cross_cpu_reads: 1_000,
            ..Steps::default()
        }),
        drift: None,
    }
}

/// A reference wait of 100 ms of which a clock indicated this much.
pub fn differed(indicated: i64) -> Difference {
    Difference { reference_ns: Nanos(100_000_000), indicated_ns: Nanos(indicated) }
}
