//! Results of Windows: the tick, the simplest sleep, and the sleeps measured while a timer resolution was held.

use oversleep_record::conditions::{Outcome, Setting};
use oversleep_record::series::{Quantity, Status};
use oversleep_record::{ExperimentId, FactName, Nanos, ResultFile, Series, label};

use crate::entry::{Checked, Conclusion};
use crate::figures::{a_wait, duration, pooled, requested};
use crate::names::{WINDOWS_TICK_WAITS, tunable};
use crate::read::{COMMON_REQUEST, is_sound, known, not_measured, reference_sleep, sleeps_of, sound, wait_series};

/// Windows 10: timed waits no longer end early.
pub(crate) const BUILD_10: i64 = 10_240;
/// Windows 10 2004: a request for a timer resolution serves the process that makes it.
pub(crate) const BUILD_2004: i64 = 19_041;
/// Windows 11: a request may be dropped while the process is neither visible nor audible.
pub(crate) const BUILD_11: i64 = 22_000;

/// The default period if the system did not state it: 64 ticks a second.
const DEFAULT_PERIOD: Nanos = Nanos(15_625_000);
/// If a wait of 1 ms takes this share of the default period, it has waited for the default tick.
const TICK_SHARE: f64 = 0.6;
/// The request that divides a millisecond, and the longest request that counts as just above it.
const HALF_MILLISECOND: Nanos = Nanos(500_000);
const ABOVE_HALF_MAX: Nanos = Nanos(520_000);

/// The build of Windows.
pub(crate) fn build(file: &ResultFile) -> Checked<i64> {
    known(file, FactName::OsBuild, "the build of Windows", file.environment.integer(FactName::OsBuild))
}

/// The default period of the tick.
pub(crate) fn default_period(file: &ResultFile) -> Nanos {
    file.environment
        .nanos(FactName::TimerPeriodDefault)
        .filter(|&period| period > Nanos::ZERO)
        .unwrap_or(DEFAULT_PERIOD)
}

/// The tick's period in force when the run began.
pub(crate) fn period_as_found(file: &ResultFile) -> Option<Nanos> {
    file.environment.nanos(FactName::TimerPeriodNow)
}

/// Whether a wait was as long as the default tick makes it.
pub(crate) fn is_default_tick(file: &ResultFile, duration: Nanos) -> bool {
    duration.0 as f64 >= default_period(file).0 as f64 * TICK_SHARE
}

/// `a 1 ms sleep took 15.6 ms`.
pub(crate) fn took(series: &Series) -> String {
    format!("{} took {}", a_wait(series), duration(series))
}

/// The simplest sleep of 1 ms, while this process requested no resolution.
pub(crate) fn sleep_as_found(file: &ResultFile) -> Checked<&Series> {
    let series = reference_sleep(file)?;
    if series.conditions.setting(tunable::RESOLUTION).is_some() {
        let key = &series.key;
        return Err(Conclusion::lacks(format!(
            "{key} was measured while this process held a timer resolution. Measure it without --resolution"
        )));
    }
    if requested(series) > COMMON_REQUEST * 2 {
        return Err(Conclusion::lacks(format!(
            "a sleep of {} is too long to show the tick. Use --request 1ms",
            requested(series)
        )));
    }
    Ok(series)
}

/// The same; if that has too few values, since each takes a tick, all waits that end on the same ticks together.
pub(crate) fn tick_sleep_as_found(file: &ResultFile) -> Checked<Series> {
    let enough = sleep_as_found(file);
    let simplest = match (&enough, wait_series(file, WINDOWS_TICK_WAITS[0])) {
        (Err(refusal), Some(few))
            if refusal.verdict == oversleep_record::finding::Verdict::NotEnoughData
                && is_plain_millisecond(file, few)
                && few.conditions.is_as_found() =>
        {
            few
        }
        _ => return enough.cloned(),
    };
    let alike = |series: &&Series| {
        WINDOWS_TICK_WAITS.contains(&series.subject.as_str())
            && series.experiment == simplest.experiment
            && series.requested_ns == simplest.requested_ns
            && series.conditions == simplest.conditions
            && series.has_values()
    };
    let members: Vec<&Series> = file.series.iter().filter(alike).collect();
    Ok(pooled(&simplest.subject, &members).unwrap_or_else(|| simplest.clone()))
}

/// Whether it is a plain sleep of 1 ms.
pub(crate) fn is_plain_millisecond(file: &ResultFile, series: &Series) -> bool {
    series.quantity == Quantity::Lateness
        && series.requested_ns == Some(COMMON_REQUEST)
        && sleeps_of(file).contains(&series.subject.as_str())
        && series.has_values()
}

/// The timer resolution that this process requested for a series.
pub(crate) fn requested_resolution(series: &Series) -> Option<Nanos> {
    match series.conditions.setting(tunable::RESOLUTION)? {
        Setting::Nanos(span) => Some(*span),
        _ => None,
    }
}

/// The plain sleeps of 1 ms that were measured while this process held a resolution, and the one it requested.
pub(crate) fn sleeps_with_request(file: &ResultFile) -> impl Iterator<Item = (Nanos, &Series)> {
    file.experiment(ExperimentId::C2)
        .filter(|series| is_plain_millisecond(file, series) && series.conditions.all_held())
        .filter_map(|series| Some((requested_resolution(series)?, series)))
}

/// The plain sleep of 1 ms while this process held 1 ms.
pub(crate) fn sleep_with_a_millisecond(file: &ResultFile) -> Option<&Series> {
    sleeps_with_request(file).find(|&(held, series)| held == COMMON_REQUEST && is_sound(series)).map(|pair| pair.1)
}

/// The period in effect after this process had made its request, as the system stated it.
pub(crate) fn in_effect(series: &Series) -> Option<Nanos> {
    match series.conditions.outcomes.get(tunable::RESOLUTION)? {
        Outcome::Applied { now: Setting::Nanos(is), .. } | Outcome::AlreadySo { is: Setting::Nanos(is) } => Some(*is),
        _ => None,
    }
}

/// The period in effect if it differs from the requested one: a machine has a shortest period, and other processes may
/// hold a shorter one. The hardware's grid changes a request by about one percent.
pub(crate) fn other_in_effect(requested: Nanos, series: &Series) -> Option<Nanos> {
    in_effect(series).filter(|&is| (is - requested).0.saturating_abs().saturating_mul(50) > requested.0)
}

/// Series of C3 measured beside one neighbour, and what it held.
pub(crate) fn beside_neighbour(file: &ResultFile) -> impl Iterator<Item = (Nanos, &Series)> {
    // A neighbour that died held nothing during some of the values.
    let is_whole = |series: &&Series| series.has_values() && !matches!(series.status, Status::Unavailable { .. });
    file.experiment(ExperimentId::C3).filter(is_whole).filter_map(|series| {
        match series.label(label::NEIGHBOUR)?.0.as_slice() {
            [Setting::Nanos(held)] => Some((*held, series)),
            _ => None,
        }
    })
}

/// The plain sleeps of 1 ms while this process held 0.5 ms and while it held a little more.
pub(crate) fn half_and_above(file: &ResultFile) -> Checked<(&Series, &Series)> {
    let with = |is_meant: fn(Nanos) -> bool| {
        let found = sleeps_with_request(file).find(|(held, _)| is_meant(*held)).map(|(_, series)| series);
        found.ok_or_else(|| {
            not_measured(file, ExperimentId::C2, "a sleep of 1 ms with 0.5 ms and with 0.507 ms requested")
        })
    };
    let (half, above) =
        (with(|held| held == HALF_MILLISECOND)?, with(|held| held > HALF_MILLISECOND && held <= ABOVE_HALF_MAX)?);
    sound(half)?;
    sound(above)?;
    // Both requests may be granted without effect: the machine has one period, the shortest that any process holds.
    if let Some(found) = period_as_found(file).filter(|&found| found < ABOVE_HALF_MAX) {
        return Err(Conclusion::lacks(format!(
            "another process held {found} already, so this process's waits ended on that. Close it and run this again"
        )));
    }
    match (in_effect(half), in_effect(above)) {
        (Some(one), Some(other)) if one == other => Err(Conclusion::lacks(format!(
            "the period was {one} with either request, so another process held it or the machine has none shorter. \
             `oversleep resolution show` names the holders if Windows does"
        ))),
        _ => Ok((half, above)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Sheet;

    #[test]
    fn a_period_of_zero_is_none() {
        let stated = |ns| default_period(&Sheet::windows().span(FactName::TimerPeriodDefault, ns).file);
        assert_eq!([0, 10_000_000].map(stated), [DEFAULT_PERIOD, Nanos(10_000_000)]);
        assert_eq!(default_period(&Sheet::windows().file), DEFAULT_PERIOD);
    }
}
