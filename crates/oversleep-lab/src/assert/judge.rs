//! Whether assertions hold of a result.

use oversleep_explain as explain;
use oversleep_record::assertion::{Judged, Place, Unit, Verdict};
use oversleep_record::environment::FactValue;
use oversleep_record::finding::Verdict as Found;
use oversleep_record::words::{counted, is_like};
use oversleep_record::{Nanos, ResultFile};

use super::figures::{self, Estimate};
use super::targets::{self, Target};
use super::{Assertion, Bound, Claim, Figure, Op, Subject, Unmatched, Value};

/// The verdicts on an assertion: one for each thing that it is about.
///
/// # Errors
/// A name that matches nothing in the result.
pub fn judge(file: &ResultFile, assertion: &Assertion) -> Result<Vec<Judged>, Unmatched> {
    match &assertion.claim {
        Claim::Figure { subject, figure, bound } => {
            let found = targets::targets(file, subject);
            if found.is_empty() {
                return none(file, assertion, subject, bound.as_ref());
            }
            Ok(found.iter().map(|target| judge_figure(file, assertion, target, *figure, bound.as_ref())).collect())
        }
        Claim::Presence { name, is_present, is_cause } => presence(file, assertion, name, *is_present, *is_cause),
        Claim::Fact { name, value, is_equal } => fact(file, assertion, name, value, *is_equal),
    }
}

/// The share of causes that the result doesn't have: nothing, where it can show them.
fn absent_causes(
    file: &ResultFile,
    assertion: &Assertion,
    name: &str,
    bound: Option<&Bound>,
) -> Result<Vec<Judged>, Unmatched> {
    let is_named = |entry: &&'static explain::FindingEntry| {
        is_observed(entry) && (is_like(entry.name, name) || is_like(entry.id, name))
    };
    let entries: Vec<_> = explain::registry().iter().copied().filter(is_named).collect();
    if entries.is_empty() {
        let known = explain::registry().iter().filter(|entry| is_observed(entry));
        let known = known.map(|entry| entry.name.to_owned()).collect();
        return Err(unmatched(assertion, "cause", name.to_owned(), known));
    }
    let limit = bound.map(|bound| (bound.op, bound.value));
    let judged = entries.into_iter().map(|entry| {
        let begun = begun(assertion, entry.name.to_owned());
        match (lacking(file, entry).filter(|_| file.observation.is_some()), limit) {
            (Some(why), _) => Judged { message: why, ..begun },
            (None, Some((op, Value::Share(limit)))) if file.observation.is_some() => {
                decided(begun, &Estimate::exact(0.0, Unit::Share), op, limit, more_values)
            }
            (None, _) => Judged { message: "it was not found".to_owned(), ..begun },
        }
    });
    Ok(judged.collect())
}

/// What is said of a subject that has no target: that only what a runtime does on its own has that name, that a cause was
/// not found or can't be shown, or that nothing has that name.
pub(super) fn none(
    file: &ResultFile,
    assertion: &Assertion,
    subject: &Subject,
    bound: Option<&Bound>,
) -> Result<Vec<Judged>, Unmatched> {
    if let Subject::Cause(name) = subject {
        return absent_causes(file, assertion, name, bound);
    }
    let (what, name, known) = targets::known(file, subject);
    let is_of_program = matches!(subject, Subject::Why(_) | Subject::Period(_)) && file.observation.is_some();
    let message = if targets::is_housekeeping(file, subject) {
        "these are the runtime's own housekeeping, which is judged only if its thread is named".to_owned()
    } else if is_of_program && known.is_empty() {
        format!("no {what} was recorded at all")
    } else {
        return Err(unmatched(assertion, what, name, known));
    };
    Ok(vec![Judged { message, ..begun(assertion, name) }])
}

fn unmatched(assertion: &Assertion, what: &'static str, name: String, known: Vec<String>) -> Unmatched {
    Unmatched { text: assertion.text.clone(), place: assertion.place.clone(), what, name, known }
}

/// The beginning of a verdict.
pub(super) fn begun(assertion: &Assertion, about: String) -> Judged {
    begun_as(assertion.text.clone(), assertion.place.clone(), about)
}

/// The beginning of a verdict on an assertion that is given as text.
pub(super) fn begun_as(assertion: String, place: Option<Place>, about: String) -> Judged {
    Judged {
        assertion,
        place,
        about,
        verdict: Verdict::Undecided,
        figure: None,
        interval: None,
        limit: None,
        unit: None,
        message: String::new(),
    }
}

fn judge_figure(
    file: &ResultFile,
    assertion: &Assertion,
    target: &Target,
    figure: Figure,
    bound: Option<&Bound>,
) -> Judged {
    let begun = begun(assertion, target.name());
    let Some(bound) = bound else {
        return Judged { message: "it states no limit, and there is no base to compare it with".to_owned(), ..begun };
    };
    let limit = match bound.value {
        Value::Span(limit) | Value::Share(limit) | Value::Count(limit) => limit,
        Value::Baseline(_) => {
            return Judged { message: "it needs a baseline; name one with --baseline".to_owned(), ..begun };
        }
    };
    match figures::of(file, target, figure, matches!(bound.value, Value::Count(_))) {
        Err(why) => match lowest(file, target, figure, bound.op, limit) {
            Some(median) => Judged {
                verdict: Verdict::Fail,
                limit: Some(limit),
                unit: Some(Unit::Ns),
                message: format!("even its median is {} or more, with 99 % confidence", in_unit(median, Unit::Ns)),
                ..begun
            },
            None => Judged { limit: Some(limit), message: why, ..begun },
        },
        Ok(estimate) => {
            let judged = decided(begun, &estimate, bound.op, limit, more_values);
            match longer_calls(target, figure, bound.op, limit) {
                Some(why) if judged.verdict == Verdict::Pass => {
                    Judged { verdict: Verdict::Undecided, message: format!("{}; {why}", judged.message), ..judged }
                }
                _ => judged,
            }
        }
    }
}

/// What is said where a wait's calls are later than the limit. A call that ends after the next deadline leaves that one
/// little to be late, so half of the deadlines may look as if the wait were fast.
fn longer_calls(target: &Target, figure: Figure, op: Op, limit: f64) -> Option<String> {
    let Target::Series(series) = target else { return None };
    let calls = series.calls_only.as_ref().filter(|_| matches!(op, Op::Below | Op::AtMost))?;
    let of_calls = match figure {
        Figure::Quantile(share) => calls.quantile(share)? as f64,
        Figure::Mean => calls.mean()?,
        _ => return None,
    };
    let passed = series.counts.missed;
    (of_calls > limit).then(|| {
        format!(
            "{} had passed before the wait could be called, and of the calls it is {}; limit `.missed`, or measure a longer \
             request",
            counted(passed, "deadline"),
            in_unit(of_calls, Unit::Ns)
        )
    })
}

/// The least that a higher percentile can be, if that is too much already.
fn lowest(file: &ResultFile, target: &Target, figure: Figure, op: Op, limit: f64) -> Option<f64> {
    let is_higher = matches!(figure, Figure::Quantile(share) if share > 0.5) && matches!(op, Op::Below | Op::AtMost);
    let median = figures::of(file, target, Figure::Quantile(0.5), false).ok().filter(|_| is_higher)?;
    (median.low > limit).then_some(median.low)
}

/// What would decide it: so many times as many values, as intervals narrow with the square root of their number.
pub(super) fn more_values(times: Option<f64>) -> String {
    match times {
        Some(times) => format!("; about {times:.0} times as many values would decide it"),
        None => "; the limit is too near the figure to decide it".to_owned(),
    }
}

/// How many times as many values would part the interval from the limit, if that isn't beyond all measure.
fn times(estimate: &Estimate, limit: f64) -> Option<f64> {
    let scale = |value: f64| if estimate.unit == Unit::Ratio { value.ln() } else { value };
    let [value, low, high, limit] = [estimate.value, estimate.low, estimate.high, limit].map(scale);
    let times = ((high - low) / 2.0 / (value - limit).abs().max(f64::MIN_POSITIVE)).powi(2);
    (times <= 1_000.0).then(|| times.ceil().max(2.0))
}

/// The verdict on a figure with its interval; `more` says what would decide it.
pub(super) fn decided(
    begun: Judged,
    estimate: &Estimate,
    op: Op,
    limit: f64,
    more: impl Fn(Option<f64>) -> String,
) -> Judged {
    let Estimate { value, low, high, unit, note } = *estimate;
    let (passes, fails) = match op {
        Op::Below => (high < limit, low >= limit),
        Op::AtMost => (high <= limit, low > limit),
        Op::Above => (low > limit, high <= limit),
        Op::AtLeast => (low >= limit, high < limit),
    };
    let verdict = match (passes, fails) {
        (true, _) => Verdict::Pass,
        (_, true) => Verdict::Fail,
        _ => Verdict::Undecided,
    };
    let [figure, from, to] = [value, low, high].map(|value| in_unit(value, unit));
    let mut message = match from == to {
        true => figure,
        false => format!("{figure}, with 99 % confidence {from} to {to}"),
    };
    if verdict == Verdict::Undecided {
        message += &more(times(estimate, limit));
    }
    if let Some(note) = note {
        message += &format!("; {note}");
    }
    Judged {
        verdict,
        figure: Some(value),
        interval: Some([low, high]),
        limit: Some(limit),
        unit: Some(unit),
        message,
        ..begun
    }
}

/// A figure in words.
pub(super) fn in_unit(value: f64, unit: Unit) -> String {
    match unit {
        Unit::Ns if value.abs() < 1_000.0 && value.fract() != 0.0 => format!("{value:.1} ns"),
        Unit::Ns => Nanos(value as i64).to_string(),
        Unit::Share => format!("{:.2} %", value * 100.0),
        Unit::Count => format!("{value:.0}"),
        Unit::Ratio => format!("{value:.3} times the base"),
    }
}

fn is_observed(entry: &explain::FindingEntry) -> bool {
    matches!(entry.scope, explain::Scope::Observed)
}

/// What the check of a finding lacks in this result, such as a part that a recording doesn't show.
fn lacking(file: &ResultFile, entry: &explain::FindingEntry) -> Option<String> {
    let all = entry.check.run(file).into_iter();
    let lacks = all.filter(|conclusion| conclusion.verdict == Found::NotEnoughData);
    lacks.map(|conclusion| explain::next_step(file, &conclusion.sentence)).next()
}

fn presence(
    file: &ResultFile,
    assertion: &Assertion,
    name: &str,
    is_present: bool,
    is_cause: bool,
) -> Result<Vec<Judged>, Unmatched> {
    let is_in_scope = |entry: &explain::FindingEntry| !is_cause || is_observed(entry);
    let Some(entry) = explain::entry(name).filter(|entry| is_in_scope(entry)) else {
        let known = explain::registry().iter().filter(|entry| is_in_scope(entry)).map(|entry| entry.name.to_owned());
        return Err(unmatched(assertion, if is_cause { "cause" } else { "finding" }, name.to_owned(), known.collect()));
    };
    let findings: Vec<_> = file.findings.iter().filter(|finding| finding.id == entry.id).collect();
    let begun = begun(assertion, entry.name.to_owned());
    let found: Vec<_> = findings.iter().filter(|finding| finding.verdict == Found::Found).collect();
    let (verdict, message) = match (found.first(), findings.iter().find(|finding| finding.verdict != Found::NotFound)) {
        (Some(finding), _) => (Some(true), finding.whole_sentence()),
        (None, Some(open)) => (None, open.sentence.clone()),
        (None, None) => match findings.first() {
            Some(absent) => (Some(false), absent.sentence.clone()),
            // Findings about observed programs are kept where they were found; others have to be looked for.
            None if is_observed(entry) && file.observation.is_some() => match lacking(file, entry) {
                Some(what) => (None, what),
                None => (Some(false), "it was not found".to_owned()),
            },
            None if matches!(entry.scope, explain::Scope::Fleet) => (
                None,
                "it is about a fleet, so no result has a verdict on it; `oversleep archive report` looks for it"
                    .to_owned(),
            ),
            None => (None, "the result has no verdict on it; `oversleep check` looks for it".to_owned()),
        },
    };
    let verdict = match verdict {
        None => Verdict::Undecided,
        Some(is_there) if is_there == is_present => Verdict::Pass,
        Some(_) => Verdict::Fail,
    };
    Ok(vec![Judged { verdict, message, ..begun }])
}

/// What a flag may be compared with.
const FLAGS: [[&str; 3]; 2] = [["yes", "true", "on"], ["no", "false", "off"]];

fn fact(
    file: &ResultFile,
    assertion: &Assertion,
    name: &str,
    value: &str,
    is_equal: bool,
) -> Result<Vec<Judged>, Unmatched> {
    let Some(fact) = file.environment.facts.get(name) else {
        if oversleep_record::FactName::find(name).is_some() {
            let message = "the result doesn't state it".to_owned();
            return Ok(vec![Judged { message, ..begun(assertion, name.to_owned()) }]);
        }
        return Err(unmatched(assertion, "fact", name.to_owned(), file.environment.facts.keys().cloned().collect()));
    };
    let is_it = match &fact.value {
        FactValue::Unknown(_) => None,
        FactValue::Integer(number) => value.parse().ok().map(|wanted: i64| wanted == *number),
        FactValue::Real(number) => value.parse().ok().map(|wanted: f64| wanted == *number),
        FactValue::Nanos(span) => value.parse().ok().map(|wanted: Nanos| wanted == *span),
        FactValue::Flag(flag) => match FLAGS.iter().position(|words| words.contains(&value)) {
            Some(place) => Some(*flag == (place == 0)),
            None => {
                let known = FLAGS.iter().map(|words| words[0].to_owned()).collect();
                return Err(unmatched(assertion, "value of a fact", value.to_owned(), known));
            }
        },
        FactValue::Text(text) => Some(is_like(text, value)),
        FactValue::List(words) => Some(is_like(&words.join(","), value)),
    };
    let verdict = match (is_it, &fact.value) {
        (Some(is_it), _) if is_it == is_equal => Verdict::Pass,
        (None, FactValue::Unknown(_)) => Verdict::Undecided,
        // What is no number isn't that number.
        (None, _) if !is_equal => Verdict::Pass,
        _ => Verdict::Fail,
    };
    let message = match &fact.value {
        FactValue::Unknown(why) => {
            format!("{}unknown: {why}", if verdict == Verdict::Undecided { "" } else { "it is " })
        }
        known => format!("it is {known}"),
    };
    Ok(vec![Judged { verdict, message, ..begun(assertion, name.to_owned()) }])
}
