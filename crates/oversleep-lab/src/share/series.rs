//! Series for others: the subject, the method, and every value as a distribution.

use oversleep_record::conditions::{Conditions, Outcome};
use oversleep_record::label::{self, Labels};
use oversleep_record::samples::Samples;
use oversleep_record::series::Status;
use oversleep_record::split::{LatenessSplit, WHY_METHOD};
use oversleep_record::{Series, SeriesKey};

use super::{reason, words};

/// The methods of observing splits on Linux; other texts are left out.
const SPLIT_METHODS: [&str; 2] = ["perf context-switch records and /proc/thread-self/schedstat", "model"];

/// The series; `None` if oversleep doesn't know a name in it.
pub(super) fn shared(series: &Series) -> Option<Series> {
    let is_known = words::is_experiment(series.experiment)
        && is_key(&series.key)
        && words::is_subject(&series.subject)
        && (series.clock.is_empty() || words::is_name(&series.clock))
        && series.runtime.as_ref().is_none_or(|runtime| words::is_runtime(&runtime.name));
    if !is_known {
        return None;
    }
    let runtime = series.runtime.clone().map(|mut runtime| {
        runtime.version = words::version(&runtime.version).unwrap_or_default();
        runtime
    });
    let status = status(&series.status);
    let samples = Samples { beyond_cap: 0, ..Samples::default() };
    let conditions = conditions(&series.conditions)?;
    let labels = labels(&series.labels)?;
    let split = series.split.clone().map(split);
    let why = series.why.clone().map(|mut why| {
        if why.method != WHY_METHOD {
            why.method = super::LEFT_OUT.to_owned();
        }
        why
    });
    Some(Series { runtime, status, samples, conditions, labels, split, why, ..series.clone() })
}

/// The status, without the words of a reason.
pub(super) fn status(status: &Status) -> Status {
    match status {
        Status::Unavailable { reason } => Status::Unavailable { reason: self::reason(reason) },
        status => status.clone(),
    }
}

/// Whether each part of the key is a name, a number or a setting that oversleep knows.
pub(super) fn is_key(key: &SeriesKey) -> bool {
    let is_part = |part: &str| {
        let is_experiment = part.parse().is_ok_and(words::is_experiment);
        let is_remedy = oversleep_explain::remedy(part).is_some();
        is_experiment
            || is_remedy
            || words::is_subject(part)
            || match part.split_once('=') {
                Some((name, value)) => is_label(name) && words::is_value(value),
                None => words::is_value(part),
            }
    };
    key.as_str().split('/').all(is_part)
}

const LABELS: [&str; 20] = [
    label::STYLE.name(),
    label::THREAD.name(),
    label::CLOCK_ROLE.name(),
    label::THREADS.name(),
    label::TASKS.name(),
    label::WORK.name(),
    label::TASK.name(),
    label::WAY.name(),
    label::PHASE.name(),
    label::REMEDY.name(),
    label::TRIAL_SIDE.name(),
    label::CPU_KIND.name(),
    label::COMPETITION.name(),
    label::ACTIVITY.name(),
    label::COUNTED.name(),
    label::INTERRUPT_KIND.name(),
    label::HELD.name(),
    label::NEIGHBOUR.name(),
    label::GRANTED.name(),
    label::TOLERANCE.name(),
];

fn is_label(name: &str) -> bool {
    words::is_name(name) || LABELS.contains(&name)
}

/// All labels, or `None` if one of them is unknown: without it, the series could be mistaken for another.
fn labels(labels: &Labels) -> Option<Labels> {
    let is_kept = |(name, value): (&str, &str)| {
        let is_remedy = name == label::REMEDY.name() && oversleep_explain::remedy(value).is_some();
        is_label(name) && (is_remedy || words::is_value(value))
    };
    labels.iter().all(is_kept).then(|| labels.clone())
}

/// The conditions without the words of refusals, or `None` if one of them is unknown.
pub(super) fn conditions(conditions: &Conditions) -> Option<Conditions> {
    let of_setting =
        conditions.requested.iter().all(|(name, setting)| words::is_name(name) && words::is_setting(setting));
    let of_load = conditions.load.iter().all(|load| words::is_name(&load.kind));
    if !(of_setting && of_load) {
        return None;
    }
    let outcomes = conditions.outcomes.iter().map(|(name, outcome)| {
        let settings: Vec<_> = match outcome {
            Outcome::Applied { was, now } => was.iter().chain([now]).collect(),
            Outcome::AlreadySo { is } => vec![is],
            Outcome::Denied { .. } => Vec::new(),
        };
        let is_known = words::is_name(name) && settings.into_iter().all(words::is_setting);
        let outcome = match outcome {
            Outcome::Denied { why } => Outcome::Denied { why: reason(why) },
            outcome => outcome.clone(),
        };
        is_known.then(|| (name.clone(), outcome))
    });
    Some(Conditions { outcomes: outcomes.collect::<Option<_>>()?, ..conditions.clone() })
}

fn split(mut split: LatenessSplit) -> LatenessSplit {
    if !SPLIT_METHODS.contains(&split.method.as_str()) {
        split.method = super::LEFT_OUT.to_owned();
    }
    split
}
