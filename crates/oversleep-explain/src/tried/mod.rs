//! The gain of a remedy in this run, or why it was not measured; and which remedies to try after the first pass.

use oversleep_record::finding::{Advice, Tried};
use oversleep_record::series::{Quantity, Status};
use oversleep_record::stats::VALUES_MIN;
use oversleep_record::words::counted;
use oversleep_record::{Conditions, ExperimentId, Nanos, ResultFile, Series, Trial as TrialRecord, Unavailable};

use crate::entry::{RemedyEntry, Trial};
use crate::figures::{helped, median_of, values};
use crate::read::mentions;
use crate::read::{COMMON_REQUEST, pairs, refusal, sound, trial_of, wait_series};

/// Why no remedy is tried on an observed program.
pub const UNASKED: &str = "oversleep doesn't run your program a second time unasked";

/// Remedies that also do what another one does, by id.
const INCLUDES: [(&str, &str); 1] = [("real-time-policy", "lower-timer-slack")];

/// A remedy as advice for this result, among all those of a finding.
pub(crate) fn advice(file: &ResultFile, entry: &RemedyEntry, of_finding: &[&RemedyEntry]) -> Advice {
    let missing = missing_clocks(file);
    Advice {
        remedy: entry.id.to_owned(),
        sentence: without(&missing, entry.how, ". "),
        example: entry.example.map(|example| without(&missing, example, "\n")),
        tried: beyond_another(file, entry, of_finding).unwrap_or_else(|| tried(file, entry)),
    }
}

/// The calls of clocks that this system doesn't have, in lower case: it is too old for them, or never had them.
pub(crate) fn missing_clocks(file: &ResultFile) -> Vec<String> {
    use Unavailable::{Missing, NotOnThisPlatform, TooOld};
    let is_missing = |reason: &Unavailable| matches!(reason, TooOld { .. } | Missing { .. } | NotOnThisPlatform);
    let missing = file.clocks.iter().filter(|clock| clock.unavailable.as_ref().is_some_and(is_missing));
    // `clock_gettime(CLOCK_TAI)` is about CLOCK_TAI.
    let of_call =
        |call: &str| call.trim_end_matches([')', '(']).rsplit(['(', ' ']).next().unwrap_or_default().to_lowercase();
    let names = missing.map(|clock| of_call(&clock.call)).filter(|call| call.len() > 4);
    names.collect()
}

/// A text without its parts that mention any of these calls; the whole of it if nothing would be left.
fn without(calls: &[String], text: &str, end: &str) -> String {
    let is_kept = |part: &&str| !calls.iter().any(|call| mentions(part, call));
    let kept: Vec<&str> = text.split(end).filter(is_kept).collect();
    match kept.is_empty() {
        true => text.to_owned(),
        false => kept.join(end),
    }
}

/// What a remedy gained beyond another one that it includes and that isn't about this finding: a real-time policy ends the
/// timer slack, too, and what that gained says nothing about other threads. Where the other one has too few figures, its own
/// gain isn't known. `None` if there is no such other one.
fn beyond_another(file: &ResultFile, entry: &RemedyEntry, of_finding: &[&RemedyEntry]) -> Option<Tried> {
    let (_, included) = INCLUDES.iter().find(|(id, _)| *id == entry.id)?;
    if of_finding.iter().any(|other| other.id == *included) {
        return None;
    }
    let included_pairs = pairs(file, trial_of(file, included)?);
    let is_enough = |series: &Series| values(series).count() >= VALUES_MIN;
    let own: Vec<(&Series, &Series)> = pairs(file, trial_of(file, entry.id)?);
    // Without values it was refused, or says itself that they are too few.
    own.iter().find(|(_, with)| is_enough(with))?;
    let both = own.into_iter().find_map(|(_, with)| {
        let alike = |(_, other): &&(&Series, &Series)| {
            other.subject == with.subject && other.requested_ns == with.requested_ns && is_enough(other)
        };
        Some((included_pairs.iter().find(alike)?.1, with)).filter(|(_, with)| is_enough(with))
    });
    let Some((before, after)) = both else {
        let why =
            format!("it also does what {included} does, whose own trial is too short to say how much that gained");
        return Some(Tried::NotTried { why: format!("{why}. Use --thorough") });
    };
    match measured(before, after) {
        Tried::Measured {
            subject,
            requested_ns,
            before_p50_ns,
            after_p50_ns,
            before_p99_ns,
            after_p99_ns,
            helped,
            ..
        } => {
            let instead_of = Some(format!("{subject} with {included}"));
            Some(Tried::Measured {
                subject,
                instead_of,
                requested_ns,
                before_p50_ns,
                after_p50_ns,
                before_p99_ns,
                after_p99_ns,
                helped,
            })
        }
        other => Some(other),
    }
}

/// The outcome of a remedy in this run.
pub(crate) fn tried(file: &ResultFile, entry: &RemedyEntry) -> Tried {
    if let Some(trial) = trial_of(file, entry.id) {
        return of_trial(file, trial);
    }
    if file.observation.is_some() {
        return Tried::NotTried { why: UNASKED.to_owned() };
    }
    let why = match entry.trial {
        Trial::Here { .. } => "this run did not try it".to_owned(),
        Trial::Never(why) => why.to_owned(),
        Trial::ByExperiment { experiment, waits, compare } => match compare(file) {
            Some((before, after)) => return measured(before, after),
            None => not_compared(file, experiment, waits),
        },
    };
    Tried::NotTried { why }
}

/// Why the series of an experiment that measures a remedy can't be compared: it did not run, or its outcome.
fn not_compared(file: &ResultFile, experiment: ExperimentId, waits: &[&str]) -> String {
    if file.experiment(experiment).next().is_none() {
        return format!(
            "experiment {experiment} measures it and was not run. Run `oversleep check --only {experiment}`"
        );
    }
    let of_remedy = file
        .experiment(experiment)
        .filter(|series| series.quantity == Quantity::Lateness && waits.contains(&series.subject.as_str()));
    let Some(best) = of_remedy.max_by_key(|series| values(series).count()) else {
        return format!("experiment {experiment} measures it, but did not include {} in this run", waits[0]);
    };
    match sound(best) {
        Err(refusal) => refusal.sentence,
        Ok(_) => format!(
            "{} was measured, but no conclusive wait without the remedy. Run `oversleep check --only {experiment} --thorough`",
            best.key
        ),
    }
}

fn of_trial(file: &ResultFile, trial: &TrialRecord) -> Tried {
    let pairs = pairs(file, trial);
    if let Some(why) = pairs.iter().find_map(|(_, after)| refusal(after)) {
        return Tried::Refused { why };
    }
    let is_enough = |series: &Series| values(series).count() >= VALUES_MIN;
    match pairs.iter().find(|(before, after)| is_enough(before) && is_enough(after)) {
        Some((before, after)) => measured(before, after),
        None => Tried::NotTried { why: too_few(&pairs) },
    }
}

fn too_few(pairs: &[(&Series, &Series)]) -> String {
    let Some((before, after)) = pairs.first() else { return "the trial has no series".to_owned() };
    match [before, after].map(|series| &series.status) {
        [Status::Unavailable { reason }, _] | [_, Status::Unavailable { reason }] => reason.to_string(),
        _ => {
            let fewest = values(before).count().min(values(after).count());
            format!("the trial has only {} and needs {VALUES_MIN}. Use --thorough", counted(fewest, "value"))
        }
    }
}

/// Before and after as figures, and whether the rounds agree that it helped.
fn measured(before: &Series, after: &Series) -> Tried {
    let p99 = |series: &Series| values(series).safe_quantile(0.99);
    Tried::Measured {
        subject: after.subject.clone(),
        instead_of: (before.subject != after.subject).then(|| before.subject.clone()),
        requested_ns: after.requested_ns.filter(|_| before.requested_ns == after.requested_ns),
        before_p50_ns: median_of(before),
        after_p50_ns: median_of(after),
        before_p99_ns: p99(before),
        after_p99_ns: p99(after),
        helped: helped(before, after),
    }
}

/// One remedy to try: its waits are measured without it and with it, round by round.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemedyTrialSpec {
    /// The remedy's id.
    pub remedy: &'static str,
    /// The conditions it consists of.
    pub conditions: Conditions,
    /// Registry names of the waits to try it on.
    pub waits: Vec<String>,
    /// The request.
    pub requested: Nanos,
}

/// How to try a remedy on the waits of this result; `None` if it can't be tried or there is no reason to.
pub(crate) fn trial_spec(file: &ResultFile, entry: &'static RemedyEntry) -> Option<RemedyTrialSpec> {
    let Trial::Here { conditions, waits, is_worth_it } = entry.trial else { return None };
    if !entry.scope.covers(file) || !is_worth_it(file) {
        return None;
    }
    let is_measured = |wait: &&&str| wait_series(file, wait).is_some();
    let first_measured = |kind: &&[&str]| kind.iter().find(is_measured).map(|&wait| wait.to_owned());
    let waits: Vec<String> = waits.iter().filter_map(first_measured).collect();
    (!waits.is_empty()).then(|| RemedyTrialSpec {
        remedy: entry.id,
        conditions: conditions(),
        waits,
        requested: COMMON_REQUEST,
    })
}

#[cfg(test)]
mod tests;
