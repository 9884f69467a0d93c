//! The smallest valid result, and one of a modelled machine that was interrupted.

use oversleep_record::environment::{Environment, Fact, FactValue, PlatformId};
use oversleep_record::file::{Chosen, Completion, Floor, ResultFile, Tool};
use oversleep_record::observed::{By, Observation};
use oversleep_record::series::{Pace, Quantity, Series, Status, Unit};
use oversleep_record::shared::{LeftOut, Reliability, Shared};
use oversleep_record::{Depth, ExperimentId, Nanos, Unavailable};

/// Only what the format requires.
pub fn minimal() -> ResultFile {
    ResultFile {
        tool: Tool { name: "oversleep".to_owned(), version: "0.1.0".to_owned() },
        ..ResultFile::empty("waits", PlatformId::real("linux", "aarch64"))
    }
}

/// A shared copy of a run in which nothing was measured.
pub fn shared(depth: Depth, reliability: Reliability) -> ResultFile {
    let shared = Shared {
        reliability,
        series: 0,
        scarce: 0,
        unsteady: 0,
        rounds_median: 0,
        measured_ns: Nanos::ZERO,
        steal_permille: None,
        other_cpu_permille: None,
        throttled_permille: None,
        left_out: LeftOut::default(),
    };
    // Somebody who could not even see switches of threads.
    let observation = (reliability == Reliability::Poor)
        .then(|| Observation { by: By::SupervisorWithoutSwitches, ..Observation::default() });
    ResultFile { depth: Some(depth), shared: Some(shared), observation, ..minimal() }
}

/// A modelled machine: no time of day, a series cut short, one that can't be measured.
pub fn modelled_interrupted() -> ResultFile {
    let mut environment = Environment::default();
    // A fact of another version.
    let tick = Fact { value: FactValue::Nanos(Nanos(15_625_000)), source: "profile".to_owned() };
    environment.facts.insert("timer.tick_ns".to_owned(), tick);
    let mut partial = Series {
        key: "B5/sleep/1ms".into(),
        requested_ns: Some(Nanos::from_millis(1)),
        rounded_ns: Some(Nanos::from_millis(1)),
        pace: Some(Pace::BackToBack),
        clock: "qpc".to_owned(),
        status: Status::Partial,
        ..Series::new(ExperimentId::B5, "sleep", Quantity::Lateness, Unit::Ns)
    };
    for (index, lateness) in [14_625_000, 14_625_000, 14_624_900].into_iter().enumerate() {
        partial.distribution.record(lateness);
        partial.samples.push(100, index as i64 * 15_625_000, lateness, false);
    }
    partial.counts.recorded = 3;
    let unavailable = Series {
        key: "B5/high-resolution-timer/1ms".into(),
        status: Status::Unavailable { reason: Unavailable::TooOld { needs: "Windows 10 1803".to_owned() } },
        ..Series::new(ExperimentId::B5, "high-resolution-timer", Quantity::Lateness, Unit::Ns)
    };
    ResultFile {
        duration_ns: Nanos(46_875_000),
        completion: Completion::Interrupted,
        platform: PlatformId {
            os: "windows".to_owned(),
            arch: "x86_64".to_owned(),
            modelled: Some("windows-10-1709".to_owned()),
        },
        environment,
        floor: Some(Floor {
            clock: "qpc".to_owned(),
            read_cost_ps: 25_000,
            step_ns: Nanos(100),
            chosen: Some(Chosen::ByUser),
            cross_check: None,
        }),
        series: vec![partial, unavailable],
        ..minimal()
    }
}
