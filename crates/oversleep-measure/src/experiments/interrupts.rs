//! Interrupts per second: those of the timer, if the system counts them separately.

use oversleep_record::disturbance::Disturbance;
use oversleep_record::label::{self, InterruptKind};
use oversleep_record::{Nanos, Unavailable};

use crate::recorder::SeriesRecorder;

/// A count over a window, as a rate.
///
/// # Errors
/// The window has no length, because the clock stood still.
pub(super) fn per_second(count: u64, window: Nanos) -> Result<i64, Unavailable> {
    if window <= Nanos::ZERO {
        return Err(Unavailable::failed("timing the window", "the clock did not move in it"));
    }
    Ok((count as f64 / window.as_secs_f64()).round() as i64)
}

/// Records the rate of timer interrupts. If a system only counts interrupts of every kind together, it records their
/// rate and labels the series so.
pub(super) fn record(recorder: &mut SeriesRecorder, at: Nanos, seen: &Disturbance) {
    let counted = match (seen.timer_interrupts, seen.all_interrupts) {
        (None, Some(all)) => {
            recorder.series_mut().labels.set(label::INTERRUPT_KIND, InterruptKind::AllKinds);
            Some(all)
        }
        (timers, _) => timers,
    };
    let counted = counted.ok_or_else(|| Unavailable::missing("a count of interrupts"));
    record_or_refuse(recorder, at, counted.and_then(|count| per_second(count, seen.window_ns)));
}

/// Records the value, or why there is none.
pub(super) fn record_or_refuse(recorder: &mut SeriesRecorder, at: Nanos, value: Result<i64, Unavailable>) {
    match value {
        Ok(value) => recorder.record(at, value),
        Err(reason) => recorder.unavailable(reason),
    }
}

#[cfg(test)]
mod tests {
    use oversleep_record::ExperimentId;
    use oversleep_record::Series;
    use oversleep_record::label;
    use oversleep_record::series::{Quantity, Status, Unit};

    use super::*;

    fn recorded(timer_interrupts: Option<u64>, all_interrupts: Option<u64>) -> Series {
        let window_ns = Nanos::from_millis(250);
        let mut recorder =
            SeriesRecorder::new(Series::new(ExperimentId::C6, "any", Quantity::WakeupsPerSecond, Unit::Hz), 1);
        let seen = Disturbance { window_ns, timer_interrupts, all_interrupts, ..Disturbance::default() };
        record(&mut recorder, Nanos(1), &seen);
        recorder.into_series(false)
    }

    #[test]
    fn those_of_every_kind_stand_in_for_the_timers_and_say_so() {
        let timers = recorded(Some(16), Some(90));
        assert_eq!((timers.distribution.p50(), timers.label(label::INTERRUPT_KIND)), (Some(64), None));
        let all = recorded(None, Some(90));
        assert_eq!(
            (all.distribution.p50(), all.label(label::INTERRUPT_KIND)),
            (Some(360), Some(InterruptKind::AllKinds))
        );
        let none = recorded(None, None);
        assert!(!none.has_values() && matches!(none.status, Status::Unavailable { .. }), "never zero");
    }
}
