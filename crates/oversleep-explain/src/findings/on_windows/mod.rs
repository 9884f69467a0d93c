//! What is peculiar to Windows: its tick, who may change it, and the clocks and timers that follow it or don't. What the
//! findings of this folder share.

use oversleep_record::conditions::{Outcome, Setting};
use oversleep_record::series::Quantity;
use oversleep_record::{ExperimentId, FactName, Nanos, ResultFile, Series, label};

use super::super::entry::Conclusion;
use super::super::read::{
    COMMON_REQUEST, Look, judge, not_measured, p50, pooled, reference_sleep, sleeps_of, wait_series,
};

pub(super) mod coarse_time;
pub(super) mod early_return;
pub(super) mod half_millisecond;
pub(super) mod hidden;
pub(super) mod high_resolution;
pub(super) mod neighbour;
pub(super) mod power;
pub(super) mod tick;
pub(super) mod tick_count;
pub(super) mod tolerance;
pub(super) mod wine;

/// Windows 10 2004: a request for a resolution serves the process that makes it.
const BUILD_2004: i64 = 19_041;
/// Windows 11: a request may be dropped while the process can't be seen or heard.
const BUILD_11: i64 = 22_000;
/// Windows 10: timed waits no longer end early.
const BUILD_10: i64 = 10_240;

/// The default period where the system did not state it: 64 times a second.
const DEFAULT_PERIOD: Nanos = Nanos(15_625_000);
/// Share of the default period from which a wait of 1 ms has waited for the default tick.
const TICK_SHARE: f64 = 0.6;

/// The clocks and waits that are looked for by name here.
#[cfg(any(test, feature = "testing"))]
pub(in super::super) fn names() -> (Vec<&'static str>, Vec<&'static str>) {
    let interrupt = coarse_time::AT_THE_INTERRUPT.iter().flat_map(|&(coarse, precise)| [coarse, precise]);
    let clocks = tick_count::TICK_COUNTS.into_iter().chain(interrupt).collect();
    let waits = [high_resolution::HIGH_RESOLUTION, tolerance::TOLERANT, tolerance::PLAIN];
    (clocks, waits.into_iter().chain(ON_THE_TICK.iter().copied()).collect())
}

fn build(file: &ResultFile) -> Look<i64> {
    file.environment
        .integer(FactName::OsBuild)
        .ok_or_else(|| Conclusion::lacks("the build of Windows is not known (os.build)"))
}

fn default_period(file: &ResultFile) -> Nanos {
    file.environment
        .nanos(FactName::TimerPeriodDefault)
        .filter(|&period| period > Nanos::ZERO)
        .unwrap_or(DEFAULT_PERIOD)
}

/// Whether a wait took as long as the default tick makes it.
fn is_default_tick(file: &ResultFile, took: Nanos) -> bool {
    took.0 as f64 >= default_period(file).0 as f64 * TICK_SHARE
}

/// How long a wait took: what was requested and how much later it ended.
fn took(series: &Series) -> Nanos {
    series.requested_ns.unwrap_or_default() + p50(series)
}

/// The plainest sleep of 1 ms, with no resolution requested by this process.
fn sleep_as_found(file: &ResultFile) -> Look<&Series> {
    let series = reference_sleep(file)?;
    if series.conditions.setting("resolution").is_some() {
        return Err(Conclusion::lacks(format!("{} was measured with a resolution requested", series.key)));
    }
    let requested = series.requested_ns.unwrap_or_default();
    if requested > COMMON_REQUEST * 2 {
        return Err(Conclusion::lacks(format!("a sleep of {requested} is too long to tell the tick from")));
    }
    Ok(series)
}

/// Waits that end on the same ticks as the plainest sleep.
const ON_THE_TICK: &[&str] =
    &["sleep", "sleep-ex", "nt-delay-execution", "wait-for-single-object", "wait-for-multiple-objects"];

/// The plainest sleep of 1 ms; where that has too few values, since each takes a tick, all calls of the kind together.
fn tick_sleep_as_found(file: &ResultFile) -> Look<Series> {
    let enough = sleep_as_found(file);
    let plainest = match (&enough, wait_series(file, ON_THE_TICK[0])) {
        (Err(Conclusion::NotEnoughData(_)), Some(few))
            if is_plain_millisecond(file, few) && few.conditions.is_as_found() =>
        {
            few
        }
        _ => return enough.cloned(),
    };
    let alike = |series: &&Series| {
        ON_THE_TICK.contains(&series.subject.as_str())
            && series.experiment == plainest.experiment
            && series.requested_ns == plainest.requested_ns
            && series.conditions == plainest.conditions
            && series.has_values()
    };
    let members: Vec<&Series> = file.series.iter().filter(alike).collect();
    Ok(pooled(&plainest.subject, &members).unwrap_or_else(|| plainest.clone()))
}

fn is_plain_millisecond(file: &ResultFile, series: &Series) -> bool {
    series.quantity == Quantity::Lateness
        && series.requested_ns == Some(COMMON_REQUEST)
        && sleeps_of(file).contains(&series.subject.as_str())
        && series.has_values()
}

/// The plain sleeps of 1 ms that were measured while this process held a resolution, and that resolution.
fn sleeps_with_request(file: &ResultFile) -> impl Iterator<Item = (Nanos, &Series)> {
    file.experiment(ExperimentId::C2).filter(|series| is_plain_millisecond(file, series)).filter_map(|series| {
        match series.conditions.setting("resolution")? {
            Setting::Nanos(held) if series.conditions.all_held() => Some((*held, series)),
            _ => None,
        }
    })
}

/// The period that was in effect when this process had made its request, as the system stated it.
fn in_effect(series: &Series) -> Option<Nanos> {
    match series.conditions.outcomes.get("resolution")? {
        Outcome::Applied { now: Setting::Nanos(is), .. } | Outcome::AlreadySo { is: Setting::Nanos(is) } => Some(*is),
        _ => None,
    }
}

/// Whether what is in effect is what was asked for: a machine has its finest period, and others may hold a finer one. The
/// grid of the hardware moves a request by about a hundredth.
fn is_as_asked(asked: Nanos, in_effect: Nanos) -> bool {
    (in_effect - asked).0.saturating_abs().saturating_mul(50) <= asked.0
}

/// The plain sleep of 1 ms with 1 ms requested.
fn sleep_with_a_millisecond(file: &ResultFile) -> Option<&Series> {
    sleeps_with_request(file).find(|&(held, series)| held == COMMON_REQUEST && judge(series).is_ok()).map(|pair| pair.1)
}

/// Series of C3 measured beside one neighbour, and what it held.
fn beside_neighbour(file: &ResultFile) -> impl Iterator<Item = (Nanos, &Series)> {
    file.experiment(ExperimentId::C3).filter(|series| series.has_values()).filter_map(|series| {
        match series.label(label::NEIGHBOUR)?.0.as_slice() {
            [Setting::Nanos(held)] => Some((*held, series)),
            _ => None,
        }
    })
}

/// Two measured waits asked for the same span, both fit for a conclusion.
fn side_by_side<'a>(file: &'a ResultFile, wait: &'a str, other: &'a str) -> Look<(&'a Series, &'a Series)> {
    use super::super::read::wait_series;
    let missing = |wait: &str| not_measured(file, &format!("B5/{wait}/1ms"));
    let one = wait_series(file, wait).ok_or_else(|| missing(wait))?;
    judge(one)?;
    let mut others = super::super::read::waits_of(file, other);
    let other = others.find(|series| series.requested_ns == one.requested_ns).ok_or_else(|| missing(other))?;
    judge(other)?;
    Ok((one, other))
}
