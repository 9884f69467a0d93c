//! What an assertion is about in a result: the series, clock, cause or part that its subject names.

use oversleep_explain::housekeeping;
use oversleep_explain::verdict::{Cause, causes};
use oversleep_record::distribution::Distribution;
use oversleep_record::observed::period::Periods;
use oversleep_record::part::Part;
use oversleep_record::series::{Quantity, Status};
use oversleep_record::words::is_like;
use oversleep_record::{ClockResult, Identity, ResultFile, Series};
use oversleep_system::waits::sets;

use super::{Observed, Subject};

/// One thing that an assertion is about.
pub enum Target<'a> {
    /// A series.
    Series(&'a Series),
    /// A part of the lateness of an observed series.
    Part(&'a Series, Part, Option<&'a Distribution>),
    /// The periods of an observed series, or a part of them.
    Periods(&'a Series, &'a Periods, Option<Part>),
    /// A clock.
    Clock(&'a ClockResult),
    /// A cause of the lateness of an observed program.
    Cause(Box<Cause>),
}

impl Target<'_> {
    /// Its name.
    pub fn name(&self) -> String {
        match self {
            Target::Series(series) => match Identity::of(series) {
                Some(identity) => identity.to_string(),
                None => series.key.to_string(),
            },
            Target::Part(series, part, _) => format!("{}, {}", Target::Series(series).name(), part.about()),
            Target::Periods(series, _, None) => format!("{}, period", Target::Series(series).name()),
            Target::Periods(series, _, Some(part)) => {
                format!("{}, period: {}", Target::Series(series).name(), part.about())
            }
            Target::Clock(clock) => clock.name.clone(),
            Target::Cause(cause) => match &cause.finding.instance {
                Some(instance) => format!("{} ({instance})", cause.finding.name),
                None => cause.finding.name.clone(),
            },
        }
    }
}

/// Everything in the result that the subject names.
pub fn targets<'a>(file: &'a ResultFile, subject: &Subject) -> Vec<Target<'a>> {
    match subject {
        Subject::Wait { .. } => {
            plain(file).filter(|series| is_wait(file, series, subject)).map(Target::Series).collect()
        }
        Subject::Clock(name) => {
            file.clocks.iter().filter(|clock| is_like(&clock.name, name)).map(Target::Clock).collect()
        }
        Subject::Series(key) => {
            file.series.iter().filter(|series| is_like(series.key.as_str(), key)).map(Target::Series).collect()
        }
        Subject::Why(observed) => seen(file, observed)
            .map(|series| match observed.part {
                None => Target::Series(series),
                Some(part) => {
                    let split = series.why.as_ref();
                    Target::Part(series, part, split.and_then(|split| split.parts.get(&part)))
                }
            })
            .collect(),
        Subject::Period(observed) => seen(file, observed)
            .filter_map(|series| {
                let periods = series.observed.as_ref()?.periods.as_ref()?;
                Some(Target::Periods(series, periods, observed.part))
            })
            .collect(),
        Subject::Cause(name) => causes(file)
            .into_iter()
            .filter(|cause| is_like(&cause.finding.name, name) || is_like(&cause.finding.id, name))
            .map(|cause| Target::Cause(Box::new(cause)))
            .collect(),
    }
}

/// The names of a kind of subjects that the result has, and the noun for one of them.
pub fn known(file: &ResultFile, subject: &Subject) -> (&'static str, String, Vec<String>) {
    let observed = |of: &Observed| {
        [Some(&of.program), of.thread.as_ref(), of.call.as_ref()]
            .into_iter()
            .flatten()
            .cloned()
            .collect::<Vec<_>>()
            .join("/")
    };
    let (what, name, mut all): (_, _, Vec<String>) = match subject {
        Subject::Wait { runtime, name, request } => {
            let of = runtime.as_ref().map_or_else(String::new, |runtime| format!("{runtime}:"));
            let waits = plain(file).filter(|series| is_lateness(series) && is_as_asked(file, series));
            let waits = waits.filter_map(|series| {
                let of = series.runtime.as_ref().map_or_else(String::new, |runtime| format!("{}:", runtime.name));
                Some(format!("{of}{}({})", series.subject, series.requested_ns?.as_typed()))
            });
            let mut all: Vec<String> = waits.collect();
            if all.is_empty() {
                // What has no request, or isn't as found, has other names.
                all.extend(file.series.iter().map(|series| match Identity::of(series) {
                    Some(Identity { program, thread, call, .. }) => format!("why({program}/{thread}/{call})"),
                    None => format!("series({})", series.key),
                }));
            }
            ("wait", format!("{of}{name}({})", request.as_typed()), all)
        }
        Subject::Clock(name) => ("clock", name.clone(), file.clocks.iter().map(|clock| clock.name.clone()).collect()),
        Subject::Series(key) => {
            ("series", key.clone(), file.series.iter().map(|series| series.key.to_string()).collect())
        }
        Subject::Why(of) | Subject::Period(of) => {
            let names = file.series.iter().filter_map(|series| {
                let identity = Identity::of(series)?;
                let has_periods = series.observed.as_ref().is_some_and(|observed| observed.periods.is_some());
                match subject {
                    Subject::Period(_) if !has_periods => None,
                    Subject::Period(_) => Some(format!("{}/{}", identity.program, identity.thread)),
                    _ => Some(format!("{}/{}/{}", identity.program, identity.thread, identity.call)),
                }
            });
            let what = if matches!(subject, Subject::Period(_)) { "loop" } else { "observed wait" };
            (what, observed(of), names.collect())
        }
        Subject::Cause(name) => {
            ("cause", name.clone(), causes(file).into_iter().map(|cause| cause.finding.name).collect())
        }
    };
    all.sort_unstable();
    all.dedup();
    (what, name, all)
}

/// Series that are measured as the machine was found, with values, each once: not those of trials or under settings.
fn plain(file: &ResultFile) -> impl Iterator<Item = &Series> {
    let is_measured = |series: &&Series| !matches!(series.status, Status::Unavailable { .. });
    file.series.iter().filter(is_measured).filter(|series| series.observed.is_none())
}

fn is_wait(file: &ResultFile, series: &Series, subject: &Subject) -> bool {
    let Subject::Wait { runtime, name, request } = subject else { return false };
    let is_named = match (runtime, &series.runtime) {
        (None, None) if name == "sleep" => {
            sets::plain_sleeps(&file.platform.os).first().is_some_and(|plain| series.subject == *plain)
        }
        (None, None) => is_like(&series.subject, name),
        (Some(runtime), Some(of)) => {
            (is_like(&of.name, runtime) || is_like(&of.to_string(), runtime)) && is_like(&series.subject, name)
        }
        _ => false,
    };
    is_named && is_lateness(series) && series.requested_ns == Some(*request) && is_as_asked(file, series)
}

/// Some experiments have durations of the same waits.
fn is_lateness(series: &Series) -> bool {
    series.quantity == Quantity::Lateness || series.runtime.is_some()
}

/// Whether a series is measured as the whole run was, and not under a setting of its experiment.
fn is_as_asked(file: &ResultFile, series: &Series) -> bool {
    let has_no_labels = series.labels.is_empty() || series.runtime.is_some();
    // A run under settings has them in every series.
    let everywhere = || file.series.iter().all(|other| other.conditions.requested == series.conditions.requested);
    has_no_labels && (series.conditions.is_as_found() || everywhere())
}

/// Observed series of these names. What a runtime waits for on its own is judged only if its thread is named.
fn seen<'a>(file: &'a ResultFile, observed: &Observed) -> impl Iterator<Item = &'a Series> {
    let names_thread = observed.thread.as_ref().is_some_and(|thread| !thread.contains('*'));
    named(file, observed).filter(move |series| names_thread || housekeeping::of(file, series).is_none())
}

/// Whether the subject names nothing but what a runtime waits for on its own.
pub fn is_housekeeping(file: &ResultFile, subject: &Subject) -> bool {
    let (Subject::Why(observed) | Subject::Period(observed)) = subject else { return false };
    seen(file, observed).next().is_none() && named(file, observed).next().is_some()
}

fn named<'a>(file: &'a ResultFile, observed: &Observed) -> impl Iterator<Item = &'a Series> {
    let is_any = |name: &str, pattern: &Option<String>| pattern.as_ref().is_none_or(|pattern| is_like(name, pattern));
    file.series.iter().filter(move |series| {
        Identity::of(series).is_some_and(|identity| {
            is_like(&identity.program, &observed.program)
                && is_any(&identity.thread, &observed.thread)
                && is_any(&identity.call, &observed.call)
        })
    })
}
