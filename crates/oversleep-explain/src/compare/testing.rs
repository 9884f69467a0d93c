//! Series that differ little, for the tests of comparisons.

use oversleep_record::conditions::LoadSpec;
use oversleep_record::key::Part;
use oversleep_record::series::{Quantity, Round, Unit};
use oversleep_record::testing::good_clock;
use oversleep_record::{ClockResult, Disturbance, ExperimentId, Nanos, Series, SeriesKey};

pub(super) use oversleep_record::testing::Sheet;

pub(super) fn load() -> Vec<LoadSpec> {
    vec![LoadSpec { kind: "spin".into(), hogs: 2 }]
}

/// Rounds of twenty values around each of these medians: from 5 ‰ below it to 5 ‰ above.
pub(super) fn waits(key: &str, medians: &[i64]) -> Series {
    of_rounds(key, &medians.iter().map(|&median| spread(median, 20)).collect::<Vec<_>>())
}

/// Values around a median, within five per mille of it.
pub(super) fn spread(median: i64, count: i64) -> Vec<i64> {
    (0..count).map(|index| median + median * (2 * index - count + 1) / (200 * count)).collect()
}

/// A series of these rounds, 100 ms apart; its values 1 ms apart.
pub(super) fn of_rounds(key: &str, rounds: &[Vec<i64>]) -> Series {
    let key = SeriesKey::from(key);
    let experiment = key.as_str().split('/').next().and_then(|id| id.parse().ok()).expect("an experiment");
    let (quantity, unit) = match experiment {
        ExperimentId::A1 => (Quantity::Cost, Unit::Ps),
        ExperimentId::D1 => (Quantity::ForkJoin, Unit::Ns),
        _ => (Quantity::Lateness, Unit::Ns),
    };
    let mut series = Series::new(experiment, key.subject(), quantity, unit);
    series.requested_ns = match key.parts().next() {
        Some(Part::Span(span)) => Some(span),
        _ => None,
    };
    series.key = key;
    series.rounded_ns = series.requested_ns;
    for (index, values) in rounds.iter().enumerate() {
        let start = index as i64 * 100_000_000;
        for (sample, &value) in values.iter().enumerate() {
            series.distribution.record(value);
            series.samples.push(100_000, start + sample as i64 * 100_000, value, false);
        }
        let mut sorted = values.clone();
        series.rounds.push(Round {
            start_ns: Nanos(start),
            count: values.len() as u64,
            median: oversleep_record::stats::median(&mut sorted),
            p90: None,
            p99: None,
            disturbance: Disturbance { window_ns: Nanos::from_millis(20), ..Disturbance::default() },
        });
    }
    series.counts.recorded = series.distribution.count();
    series
}

/// A clock with that step.
pub(super) fn clock(name: &str, step_ns: i64) -> ClockResult {
    let mut clock = good_clock(name);
    clock.steps.iter_mut().for_each(|steps| steps.median_ns = Some(Nanos(step_ns)));
    clock
}
