//! Checks that the statements of a result agree with each other. Otherwise a report would show contradictory figures.

use std::collections::BTreeSet;

use super::ResultFile;
use crate::observed::wakes::{ROWS_MAX, Rhythm};
use crate::observed::{Observation, WORST};
use crate::series::{Quantity, Series};
use crate::split::{LatenessSplit, PartSplit};
use crate::units::Nanos;

/// The most waits in full that a file may have.
const WORST_MAX: usize = 10 * WORST;

impl ResultFile {
    /// The first contradiction, if there is one.
    pub(crate) fn fault(&self) -> Option<String> {
        let mut keys = BTreeSet::new();
        for series in &self.series {
            if !keys.insert(series.key.as_str()) {
                return Some(format!("two series have the key '{}'", series.key));
            }
            if let Some(fault) = of_series(series) {
                return Some(format!("series '{}': {fault}", series.key));
            }
        }
        let referenced = self.trials.iter().flat_map(|trial| &trial.pairs).flat_map(|pair| [&pair.before, &pair.after]);
        for key in referenced {
            if !keys.contains(key.as_str()) {
                return Some(format!("a trial names the series '{key}', which is not here"));
            }
        }
        self.observation.as_ref().and_then(of_observation)
    }
}

fn of_series(series: &Series) -> Option<String> {
    let (counts, values) = (&series.counts, &series.distribution);
    let is_within = |value: i64| values.min() <= Some(value) && Some(value) <= values.recorded_max();
    if let Some(fault) = series.samples.fault() {
        return Some(fault);
    }
    if counts.recorded != values.count() {
        return Some(format!("{} recorded, but its histogram holds {}", counts.recorded, values.count()));
    }
    if counts.missed > counts.recorded {
        return Some(format!("{} of {} values are missed deadlines", counts.missed, counts.recorded));
    }
    if series.quantity == Quantity::Lateness && counts.early != values.early_count() {
        return Some(format!("{} early, but its histogram holds {}", counts.early, values.early_count()));
    }
    if let Some(calls) = &series.calls_only
        && (calls.count() > values.count() || !calls.is_within(values))
    {
        return Some("the calls made have other values than the series".to_owned());
    }
    let kept = series.samples.len() as u64;
    if kept.checked_add(series.samples.beyond_cap).is_none_or(|count| count > counts.recorded) {
        return Some(format!("{kept} samples are kept, but only {} values were recorded", counts.recorded));
    }
    if let Some(value) = series.samples.value.iter().find(|&value| !is_within(value)) {
        return Some(format!("a sample of {value} lies outside of min and max"));
    }
    if let Some(value) = series.rounds.iter().filter_map(|round| round.median).find(|&value| !is_within(value)) {
        return Some(format!("the median of a round, {value}, lies outside of min and max"));
    }
    let parts = series.why.as_ref().and_then(|why| of_parts(series, why));
    series.split.as_ref().and_then(of_split).or(parts).or_else(|| of_observed(series))
}

fn of_parts(series: &Series, split: &PartSplit) -> Option<String> {
    let total = split.total.as_ref().unwrap_or(&series.distribution);
    if let Some(differs) = split.parts.values().find(|part| part.count() != total.count()) {
        return Some(format!("{} waits are split, but a part holds {} values", total.count(), differs.count()));
    }
    // Before version 3, waits with an unobserved part were counted only.
    let counts = split.attributed_count..=split.count();
    (!counts.contains(&total.count()))
        .then(|| format!("{} waits are split, but the split holds {} values", split.count(), total.count()))
}

fn of_observed(series: &Series) -> Option<String> {
    let waits = series.observed.as_ref()?;
    let periods = waits.periods.as_ref();
    if let Some(wrong) = periods.and_then(|periods| of_parts(series, &periods.split)) {
        return Some(format!("its periods: {wrong}"));
    }
    let some = waits.steal_count.max(waits.called_late.count());
    (some > series.counts.recorded).then(|| "it counts more waits of one kind than waits".to_owned())
}

fn of_observation(observation: &Observation) -> Option<String> {
    if observation.worst.len() > WORST_MAX {
        return Some("it has more waits in full than any run keeps".to_owned());
    }
    if let Some(wakes) = &observation.wakes {
        if wakes.idle.len().max(wakes.rhythms.len()) > ROWS_MAX {
            return Some("it has more rows of wake-ups than any run keeps".to_owned());
        }
        let is_wrong = |of: &Rhythm| !(Nanos::ZERO <= of.p10_ns && of.p10_ns <= of.p50_ns && of.p50_ns <= of.p90_ns);
        if wakes.span_ns < Nanos::ZERO || wakes.rhythms.iter().any(is_wrong) {
            return Some("its wake-ups contradict themselves".to_owned());
        }
    }
    let wrong = observation.worst.iter().find(|wait| wait.parts.sum() != wait.lateness_ns)?;
    let (tid, late, sum) = (wrong.tid, wrong.lateness_ns, wrong.parts.sum());
    Some(format!("a wait of thread {tid} is {late} ns late, and its parts add up to {sum}"))
}

fn of_split(split: &LatenessSplit) -> Option<String> {
    let parts = [&split.total, &split.timer, &split.run_queue, &split.wake_return];
    let differs = parts.iter().find(|part| part.count() != split.attributed_count)?;
    Some(format!("{} waits are split, but a part holds {} values", split.attributed_count, differs.count()))
}
