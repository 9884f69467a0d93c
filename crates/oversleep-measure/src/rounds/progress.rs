//! What a run shows of itself while it measures.

use oversleep_record::Nanos;
use oversleep_record::series::{Quantity, Series, Unit};

use crate::live::{LiveValues, RunningFigures};
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

/// The values of a round to come, beginning with those of the rounds before. `None` for values that are no times.
pub(super) fn live_values(recorder: &SeriesRecorder) -> Option<LiveValues> {
    let series = recorder.series();
    Some(LiveValues::after(&series.distribution, recorder.newest(), shift(series)?))
}

/// What is added to the values of a series for its running figures. `None` if they are no times.
fn shift(series: &Series) -> Option<Nanos> {
    let is_late = series.quantity == Quantity::Lateness;
    let requested = series.requested_ns.filter(|_| is_late).unwrap_or(Nanos::ZERO);
    (series.unit == Unit::Ns).then_some(requested)
}

#[cfg(test)]
mod tests {
    use oversleep_record::ExperimentId;

    use super::*;

    fn recorder(quantity: Quantity, unit: Unit) -> SeriesRecorder {
        let mut series = Series::new(ExperimentId::B5, "nanosleep", quantity, unit);
        series.requested_ns = Some(Nanos::from_millis(1));
        SeriesRecorder::new(series, 2_000)
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
        let live = live_values(&recorder).expect("times");
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
        assert!(figures(&power).is_none() && live_values(&power).is_none());
        let mut duration = recorder(Quantity::Duration, Unit::Ns);
        duration.record(Nanos::ZERO, 5);
        assert_eq!(figures(&duration).map(|figures| figures.newest), Some(Nanos(5)));
        assert_eq!(live_values(&recorder(Quantity::Duration, Unit::Ns)).and_then(|live| live.figures()), None);
    }
}
