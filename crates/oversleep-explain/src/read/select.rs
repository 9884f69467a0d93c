//! Finds series: the waits of a result, its simplest sleep, two waits at one request, trials of remedies.

use std::fmt::Display;

use oversleep_record::conditions::Outcome;
use oversleep_record::file::Completion;
use oversleep_record::series::{Quantity, Status};
use oversleep_record::trial::TrialPair;
use oversleep_record::words::list;
use oversleep_record::{ExperimentId, ResultFile, Series, SeriesKey, Trial, Unavailable};

use crate::entry::{Checked, Conclusion};
use crate::names::{HYBRID, plain_sleeps};
use crate::read::{COMMON_REQUEST, is_sound, sound, sound_median};

/// "… was not measured", with the run that would measure it.
pub(crate) fn not_measured(file: &ResultFile, experiment: impl Display, what: impl Display) -> Conclusion {
    Conclusion::lacks(match file.completion {
        Completion::Interrupted => format!("the run was interrupted before it measured {what}. Run it again"),
        Completion::Complete => format!("{what} was not measured. Run `oversleep check --only {experiment}`"),
    })
}

/// A wait that was not measured, in words and by the key of a suitable series.
pub(crate) fn lacks_wait(file: &ResultFile, what: &str, key: &SeriesKey) -> Conclusion {
    not_measured(file, key.experiment(), format_args!("{what} ({key})"))
}

/// A series that a check requires, fit for a conclusion. If there is none, the reason names this key.
pub(crate) fn needed<'a>(file: &ResultFile, key: &SeriesKey, series: Option<&'a Series>) -> Checked<&'a Series> {
    series.ok_or_else(|| not_measured(file, key.experiment(), key)).and_then(sound)
}

/// A series that a check requires, fit for a conclusion about the median alone.
pub(crate) fn needed_for_median<'a>(
    file: &ResultFile,
    key: &SeriesKey,
    series: Option<&'a Series>,
) -> Checked<&'a Series> {
    series.ok_or_else(|| not_measured(file, key.experiment(), key)).and_then(sound_median)
}

/// The key of a wait in experiment B5, at 1 ms.
pub(crate) fn common_wait(wait: &str) -> SeriesKey {
    SeriesKey::new(ExperimentId::B5, wait).span(COMMON_REQUEST)
}

/// The only series of a subject in an experiment, fit for a conclusion.
pub(crate) fn of_key<'a>(file: &'a ResultFile, experiment: ExperimentId, subject: &str) -> Checked<&'a Series> {
    let key = SeriesKey::new(experiment, subject);
    needed(file, &key, file.series(&key))
}

/// Every lateness series of a wait in experiment B5, whatever was requested.
pub(crate) fn waits_of<'a>(file: &'a ResultFile, wait: &'a str) -> impl Iterator<Item = &'a Series> {
    file.experiment(ExperimentId::B5)
        .filter(move |series| series.subject == wait && series.quantity == Quantity::Lateness)
}

fn distance_from_common_request(series: &&Series) -> i64 {
    series.requested_ns.map_or(i64::MAX, |requested| (requested - COMMON_REQUEST).0.saturating_abs())
}

/// The lateness of a wait in experiment B5: at 1 ms, else at the request nearest to it.
pub(crate) fn wait_series<'a>(file: &'a ResultFile, wait: &'a str) -> Option<&'a Series> {
    waits_of(file, wait).filter(|series| series.has_values()).min_by_key(distance_from_common_request)
}

/// Whether this system may have a wait: false if it was tried and isn't there.
pub(crate) fn may_have(file: &ResultFile, wait: &str) -> bool {
    use Unavailable::{Missing, NotOnThisPlatform, TooOld};
    let is_absent = |series: &Series| match &series.status {
        Status::Unavailable { reason } => matches!(reason, TooOld { .. } | Missing { .. } | NotOnThisPlatform),
        _ => false,
    };
    let mut tried = file.series.iter().filter(|series| series.subject == wait).peekable();
    tried.peek().is_none() || tried.any(|series| !is_absent(series))
}

/// The same, fit for a conclusion.
pub(crate) fn sound_wait<'a>(file: &'a ResultFile, wait: &'a str) -> Option<&'a Series> {
    wait_series(file, wait).filter(|series| is_sound(series))
}

/// The first of these waits that was measured at 1 ms.
pub(crate) fn first_wait<'a>(file: &'a ResultFile, waits: &'a [&'a str]) -> Option<&'a Series> {
    let mut comparable = waits.iter().filter_map(|wait| sound_wait(file, wait));
    comparable.find(|series| series.requested_ns == Some(COMMON_REQUEST))
}

/// The same wait at the request of `other`.
pub(crate) fn wait_like<'a>(file: &'a ResultFile, wait: &'a str, other: &Series) -> Option<&'a Series> {
    waits_of(file, wait).find(|series| series.requested_ns == other.requested_ns && is_sound(series))
}

/// The plain sleeps of the result's system, simplest first.
pub(crate) fn sleeps_of(file: &ResultFile) -> &'static [&'static str] {
    plain_sleeps(&file.platform.os)
}

/// The simplest sleep that was measured, with which other waits are compared. It must support a conclusion.
pub(crate) fn reference_sleep(file: &ResultFile) -> Checked<&Series> {
    let simplest = sleeps_of(file).iter().find_map(|wait| wait_series(file, wait));
    needed(file, &common_wait(sleeps_of(file)[0]), simplest)
}

/// The simplest sleep that supports a conclusion.
pub(crate) fn plain_sleep(file: &ResultFile) -> Option<&Series> {
    sleeps_of(file).iter().find_map(|wait| sound_wait(file, wait))
}

/// The simplest sleep at the request of `other`.
pub(crate) fn sleep_like<'a>(file: &'a ResultFile, other: &Series) -> Option<&'a Series> {
    sleeps_of(file).iter().find_map(|wait| wait_like(file, wait, other))
}

/// The series of a wait that spins, in experiment B12.
pub(crate) fn spinning<'a>(file: &'a ResultFile, wait: &'a str) -> impl Iterator<Item = &'a Series> {
    file.experiment(ExperimentId::B12).filter(move |series| series.subject == wait && series.has_values())
}

/// The simplest sleep beside the hybrid wait of experiment B12, at 1 ms where there is a choice.
pub(crate) fn sleep_and_hybrid(file: &ResultFile) -> Option<(&Series, &Series)> {
    let is_lateness = |series: &&Series| series.quantity == Quantity::Lateness && is_sound(series);
    let hybrid = spinning(file, HYBRID).filter(is_lateness).min_by_key(distance_from_common_request)?;
    Some((sleep_like(file, hybrid)?, hybrid))
}

/// The simplest sleep, and another wait at the same request.
pub(crate) fn sleep_and<'a>(file: &'a ResultFile, wait: &'a str) -> Option<(&'a Series, &'a Series)> {
    let sleep = plain_sleep(file)?;
    Some((sleep, wait_like(file, wait, sleep)?))
}

/// One wait, and another at the same request.
pub(crate) fn two_waits<'a>(file: &'a ResultFile, one: &'a str, other: &'a str) -> Option<(&'a Series, &'a Series)> {
    let one = sound_wait(file, one)?;
    Some((one, wait_like(file, other, one)?))
}

/// One wait and another at its request, for a check that needs both; otherwise what is missing.
pub(crate) fn side_by_side<'a>(
    file: &'a ResultFile,
    one: &'a str,
    other: &'a str,
) -> Checked<(&'a Series, &'a Series)> {
    let one = needed(file, &common_wait(one), wait_series(file, one))?;
    let same_request = waits_of(file, other).find(|series| series.requested_ns == one.requested_ns);
    Ok((one, needed(file, &common_wait(other), same_request)?))
}

/// Two waits at every request both were measured at, shortest first.
pub(crate) fn common_requests<'a>(file: &'a ResultFile, one: &'a str, other: &'a str) -> Vec<(&'a Series, &'a Series)> {
    let sound = waits_of(file, one).filter(|series| is_sound(series));
    let mut both: Vec<_> = sound.filter_map(|series| Some((series, wait_like(file, other, series)?))).collect();
    both.sort_by_key(|(series, _)| series.requested_ns);
    both
}

/// The trial of a remedy.
pub(crate) fn trial_of<'a>(file: &'a ResultFile, remedy: &str) -> Option<&'a Trial> {
    file.trials.iter().find(|trial| trial.remedy == remedy)
}

/// The series of a trial in pairs, those of the simplest sleep first, so that reports name the simplest wait if possible.
pub(crate) fn pairs<'a>(file: &'a ResultFile, trial: &'a Trial) -> Vec<(&'a Series, &'a Series)> {
    let both = |pair: &TrialPair| Some((file.series(&pair.before)?, file.series(&pair.after)?));
    let mut pairs: Vec<(&Series, &Series)> = trial.pairs.iter().filter_map(both).collect();
    pairs.sort_by_key(|(before, _)| before.subject != sleeps_of(file)[0]);
    pairs
}

/// Why the system refused the conditions of a series.
pub(crate) fn refusal(series: &Series) -> Option<String> {
    let denied = series.conditions.outcomes.values().filter_map(|outcome| match outcome {
        Outcome::Denied { why } => Some(why.to_string()),
        _ => None,
    });
    let denied: Vec<String> = denied.collect();
    (!denied.is_empty()).then(|| list(&denied))
}

/// The simplest pair of a remedy's trial that was measured as requested: without it and with it.
pub(crate) fn trial_pair<'a>(file: &'a ResultFile, remedy: &str) -> Option<(&'a Series, &'a Series)> {
    let is_measured =
        |(before, after): &(&Series, &Series)| before.has_values() && after.has_values() && refusal(after).is_none();
    pairs(file, trial_of(file, remedy)?).into_iter().find(is_measured)
}

/// Every pair of a remedy's trial that supports a conclusion.
pub(crate) fn sound_pairs<'a>(file: &'a ResultFile, remedy: &str) -> Vec<(&'a Series, &'a Series)> {
    let Some(trial) = trial_of(file, remedy) else { return Vec::new() };
    let is_fit = |series: &Series| is_sound(series) && refusal(series).is_none();
    pairs(file, trial).into_iter().filter(|(before, after)| is_fit(before) && is_fit(after)).collect()
}

/// Waits of the system, measured without a load or policy set by oversleep. A wait that spins is excluded, because it
/// keeps a CPU busy itself.
pub(crate) fn waits_as_found(file: &ResultFile) -> impl Iterator<Item = &Series> {
    let is_plain = |series: &&Series| {
        series.quantity == Quantity::Lateness && series.conditions.is_as_found() && series.runtime.is_none()
    };
    file.series.iter().filter(is_plain).filter(|series| series.experiment != ExperimentId::B12)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Sheet;

    #[test]
    fn what_was_not_measured_says_what_would() {
        let mut file = Sheet::linux().file;
        let reason = |file: &ResultFile| of_key(file, ExperimentId::B3, "monotonic-coarse").unwrap_err().sentence;
        assert_eq!(reason(&file), "B3/monotonic-coarse was not measured. Run `oversleep check --only B3`");
        file.completion = Completion::Interrupted;
        assert_eq!(reason(&file), "the run was interrupted before it measured B3/monotonic-coarse. Run it again");
    }
}
