//! What a run shows of itself while it measures.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use oversleep_record::series::{Quantity, Series, Unit};
use oversleep_record::{Distribution, Nanos};

use crate::recorder::SeriesRecorder;

/// A round that takes longer than this reports its figures meanwhile, once in this time.
pub(super) const LONG_ROUND: Nanos = Nanos::from_secs(1);

/// Follows a run. It is called in the thread that starts the rounds: before each of them, and during those that take
/// seconds, if it shows figures and the machine has another CPU for that.
pub trait Progress {
    /// How far the run is.
    fn next(&mut self, step: &Step<'_>);

    /// Whether it shows figures. If not, none are collected for it.
    fn shows_figures(&self) -> bool {
        false
    }
}

/// How far a run is.
#[derive(Clone, Copy, Debug)]
pub struct Step<'a> {
    /// How much of the estimated total has passed.
    pub done: Nanos,
    /// The estimated total.
    pub total: Nanos,
    /// What is next, or what is being measured.
    pub label: &'a str,
    /// What its first series has measured so far.
    pub figures: Option<RunningFigures>,
}

/// The figures of a series that isn't finished. Of a wait they are durations: the request plus the lateness.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunningFigures {
    /// The smallest value.
    pub min: Nanos,
    /// The newest value.
    pub newest: Nanos,
    /// The 99th percentile, if ten values lie beyond it.
    pub p99: Option<Nanos>,
    /// The largest value.
    pub max: Nanos,
}

/// Shows nothing.
#[derive(Debug)]
pub struct Silent;

impl Progress for Silent {
    fn next(&mut self, _step: &Step<'_>) {}
}

/// The figures between two rounds. `None` without values, and for values that are no times.
pub(super) fn figures(recorder: &SeriesRecorder) -> Option<RunningFigures> {
    let (series, newest) = (recorder.series(), recorder.newest()?);
    let values = &series.distribution;
    let shift = shift(series)?;
    let time = |value: i64| Nanos(value) + shift;
    Some(RunningFigures {
        min: time(values.min()?),
        newest: time(newest),
        p99: values.safe_quantile(0.99).map(time),
        max: time(values.max()?),
    })
}

/// What is added to the values of a series for its running figures. `None` if they are no times.
fn shift(series: &Series) -> Option<Nanos> {
    let is_late = series.quantity == Quantity::Lateness;
    let requested = series.requested_ns.filter(|_| is_late).unwrap_or(Nanos::ZERO);
    (series.unit == Unit::Ns).then_some(requested)
}

/// The values of a long round, shared with the thread that shows them. Noting one takes a few ns and no lock, and nothing is
/// computed in the thread that measures.
#[derive(Debug)]
pub(crate) struct LiveValues {
    shift: Nanos,
    newest: AtomicI64,
    min: AtomicI64,
    max: AtomicI64,
    counts: Box<[AtomicU64]>,
}

/// Below this many ns each value has a bucket of its own; from there on, each octave has this many.
const PER_OCTAVE: u64 = 128;
/// Enough for every positive value.
const BUCKETS: usize = 57 * PER_OCTAVE as usize;

impl LiveValues {
    /// Begins with the values of the earlier rounds. `None` for values that are no times.
    pub(super) fn after(recorder: &SeriesRecorder) -> Option<LiveValues> {
        let (series, earlier) = (recorder.series(), &recorder.series().distribution);
        let live = LiveValues {
            shift: shift(series)?,
            newest: AtomicI64::new(recorder.newest().unwrap_or(0)),
            min: AtomicI64::new(earlier.min().unwrap_or(i64::MAX)),
            max: AtomicI64::new(earlier.max().unwrap_or(i64::MIN)),
            counts: (0..BUCKETS).map(|_| AtomicU64::new(0)).collect(),
        };
        earlier.buckets().for_each(|(value, count)| live.add(value, count));
        Some(live)
    }

    /// Notes a value. Only one thread does so at a time.
    #[inline]
    pub(crate) fn note(&self, value: i64) {
        self.newest.store(value, Ordering::Relaxed);
        if value < self.min.load(Ordering::Relaxed) {
            self.min.store(value, Ordering::Relaxed);
        }
        if value > self.max.load(Ordering::Relaxed) {
            self.max.store(value, Ordering::Relaxed);
        }
        self.add(value, 1);
    }

    #[inline]
    fn add(&self, value: i64, count: u64) {
        let counted = &self.counts[bucket(value)];
        counted.store(counted.load(Ordering::Relaxed) + count, Ordering::Relaxed);
    }

    /// The figures now. `None` without values.
    pub(super) fn figures(&self) -> Option<RunningFigures> {
        let mut values = Distribution::new();
        for (bucket, count) in self.counts.iter().enumerate() {
            match count.load(Ordering::Relaxed) {
                0 => {}
                count => values.record_times(lowest(bucket), count),
            }
        }
        let load = |value: &AtomicI64| value.load(Ordering::Relaxed);
        let (min, max) = (load(&self.min), load(&self.max));
        let time = |value: i64| Nanos(value) + self.shift;
        (min <= max).then(|| RunningFigures {
            min: time(min),
            newest: time(load(&self.newest)),
            p99: values.safe_quantile(0.99).map(|value| time(value.clamp(min, max))),
            max: time(max),
        })
    }
}

/// The bucket of a value; all early ones share the first.
fn bucket(value: i64) -> usize {
    let value = u64::try_from(value).unwrap_or(0);
    let octave = (value | (PER_OCTAVE - 1)).ilog2() - (PER_OCTAVE - 1).ilog2();
    let above = octave.saturating_sub(1);
    (u64::from(above) * PER_OCTAVE + (value >> above)) as usize
}

/// The smallest value of a bucket.
fn lowest(bucket: usize) -> i64 {
    let bucket = bucket as u64;
    let above = (bucket / PER_OCTAVE).saturating_sub(1);
    i64::try_from((bucket - above * PER_OCTAVE) << above).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use oversleep_record::ExperimentId;

    fn recorder(quantity: Quantity, unit: Unit) -> SeriesRecorder {
        let mut series = Series::new(ExperimentId::B5, "nanosleep", quantity, unit);
        series.requested_ns = Some(Nanos::from_millis(1));
        SeriesRecorder::new(series, 2_000)
    }

    #[test]
    fn every_value_is_in_its_bucket() {
        let mut last = None;
        let powers = (0..63)
            .flat_map(|shift| [(1_i64 << shift) - 1, 1 << shift, (1 << shift) + 1, (1 << shift) + (1 << shift >> 1)]);
        let mut values: Vec<i64> = powers.chain(0..70_000).chain([i64::MAX]).collect();
        values.sort_unstable();
        for value in values {
            let bucket = bucket(value);
            assert!(bucket < BUCKETS && last <= Some(bucket), "{value} {bucket}");
            last = Some(bucket);
            let lowest = lowest(bucket);
            assert!(lowest <= value && value - lowest <= value / PER_OCTAVE as i64, "{value} {lowest}");
        }
        assert_eq!((bucket(-5), bucket(0)), (0, 0));
    }

    #[test]
    fn running_figures_are_durations_and_a_tail_has_ten_values_beyond() {
        let mut recorder = recorder(Quantity::Lateness, Unit::Ns);
        assert_eq!(figures(&recorder), None);
        (0..999).for_each(|value| recorder.record(Nanos::ZERO, value));
        let millisecond = Nanos::from_millis(1);
        let mut expected =
            RunningFigures { min: millisecond, newest: Nanos(1_000_998), p99: None, max: Nanos(1_000_998) };
        assert_eq!(figures(&recorder), Some(expected));
        let live = LiveValues::after(&recorder).expect("times");
        assert_eq!(live.figures(), Some(expected), "those of the rounds before");
        live.note(-7);
        recorder.record(Nanos::ZERO, -7);
        expected = RunningFigures { min: Nanos(999_993), newest: Nanos(999_993), ..expected };
        let p99 = figures(&recorder).and_then(|figures| figures.p99);
        assert_eq!(p99, Some(Nanos(1_000_988)));
        // Its bucket has four values.
        assert_eq!(live.figures(), Some(RunningFigures { p99: Some(Nanos(1_000_988)), ..expected }));
    }

    #[test]
    fn what_is_no_time_has_no_running_figures() {
        let mut power = recorder(Quantity::Power, Unit::Mw);
        power.record(Nanos::ZERO, 5);
        assert!(figures(&power).is_none() && LiveValues::after(&power).is_none());
        let mut duration = recorder(Quantity::Duration, Unit::Ns);
        duration.record(Nanos::ZERO, 5);
        assert_eq!(figures(&duration).map(|figures| figures.newest), Some(Nanos(5)));
        assert_eq!(LiveValues::after(&recorder(Quantity::Duration, Unit::Ns)).and_then(|live| live.figures()), None);
    }
}
