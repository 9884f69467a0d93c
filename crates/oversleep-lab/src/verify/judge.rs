//! Asks the model of a row and judges its answer.

use super::allowance::Allowance;
use super::evidence::is_real_time;
use super::expect::{Expect, Other};
use super::tolerance::Judged;
use super::{Basis, Described, Fallback, Observation};
use crate::ask::{Answer, NoAnswer, Question, Subject, ask};
use crate::machines::{self, Description};
use crate::session::Laboratory;

pub(super) fn judge(
    observation: &Observation,
    leaves_out: bool,
    known: &mut Described,
) -> Result<(Basis, Vec<Fallback>, Judged), String> {
    let question = observation.question()?;
    let described = known.get(name_of(observation)?, &observation.set)?;
    let machine = machine_of(observation, None)?;
    let basis = Basis::of(&machine, described, &question, &observation.source);
    match &basis {
        Basis::Fitted(figures) | Basis::Shared(figures) if leaves_out || !basis.is_fitted() => {
            let without = fallbacks(observation, figures);
            let source = Some(observation.source.as_str());
            let judged = predicted(observation, &question, described, source)?;
            Ok((basis, without, judged))
        }
        Basis::Fitted(_) => Ok((basis, Vec::new(), ask_of(observation, &machine)?.0)),
        Basis::Predicted | Basis::Shared(_) => {
            let judged = predicted(observation, &question, described, None)?;
            Ok((basis, Vec::new(), judged))
        }
    }
}

/// Judges the answer of a machine for which the row's source states no figure: a cost or wake-up must be within the
/// factor by which other sources differ about it.
fn predicted(
    observation: &Observation,
    question: &Question,
    described: &Description,
    without: Option<&str>,
) -> Result<Judged, String> {
    let (judged, answer) = ask_of(observation, &machine_of(observation, without)?)?;
    let Some(answer) = answer else { return Ok(judged) };
    Ok(match of_machines(observation, question, described, without, &answer)? {
        Some(OfMachines { is_within, held_to, factor }) => {
            Judged { reproduced: judged.reproduced || is_within, held_to, of_machines: Some(factor), ..judged }
        }
        None => judged,
    })
}

/// A predicted cost or wake-up, held to the factor by which sources differ about such machines.
pub(super) struct OfMachines {
    pub is_within: bool,
    pub factor: f64,
    held_to: String,
}

/// Whether that answer to the row's question is within the factor by which sources differ; `None` if none applies.
pub(super) fn of_machines(
    observation: &Observation,
    question: &Question,
    described: &Description,
    without: Option<&str>,
    answer: &Answer,
) -> Result<Option<OfMachines>, String> {
    let Some(allowed) = Allowance::of(observation, question, is_real_time(question, described))? else {
        return Ok(None);
    };
    let (request, rule) = match question.subject {
        Subject::Wait { request, .. } => (Some(request), rule_alone(observation, question, without)?),
        _ => (None, None),
    };
    let expect = observation.expect.as_ref().ok_or("it expects nothing")?;
    let Some(is_within) = expect.is_within(allowed.factor, answer, rule.as_ref(), request) else { return Ok(None) };
    let what = if rule.is_some() { "what the rule leaves, to a factor" } else { "a factor" };
    let held_to = format!("{what} of {:.2}, {}", allowed.factor, allowed.because);
    Ok(Some(OfMachines { is_within, factor: allowed.factor, held_to }))
}

/// The interrupts of other programs, each of which ends a wait whose leeway has begun.
pub(super) const OTHERS: &str = "timers.others-hz";

/// The part of a wait that the rules alone decide: the answer of the same machine where a wake-up takes no time and, if
/// other interrupts end waits, one comes at once.
pub(super) fn rule_alone(
    observation: &Observation,
    question: &Question,
    without: Option<&str>,
) -> Result<Option<Answer>, String> {
    let at_once = has(observation, OTHERS)?.then(|| format!("{OTHERS}=1000000"));
    let machine = varied(observation, without, 0.0, at_once.as_slice())?;
    Ok(ask(&machine, question).ok())
}

/// Whether the machine of the row states that figure.
pub(super) fn has(observation: &Observation, path: &str) -> Result<bool, String> {
    Ok(figures_of(observation)?.figures.iter().any(|figure| figure.path == path))
}

pub(super) fn figures_of(observation: &Observation) -> Result<Description, String> {
    machines::describe(name_of(observation)?, &observation.set).map_err(|error| error.to_string())
}

/// The machine of a row with the cost of wake-ups multiplied, and other changes.
pub(super) fn varied(
    observation: &Observation,
    without: Option<&str>,
    times: f64,
    changes: &[String],
) -> Result<Laboratory, String> {
    let set = [&observation.set, changes].concat();
    let machine = machines::load_with_wakes_times(name_of(observation)?, without, &set, times, machines::SEED);
    machine.map_err(|error| error.to_string())
}

pub(super) fn name_of(observation: &Observation) -> Result<&str, String> {
    observation.machine.as_deref().ok_or_else(|| "it names no machine".to_owned())
}

pub(super) fn machine_of(observation: &Observation, without: Option<&str>) -> Result<Laboratory, String> {
    let machine = machines::load_without(name_of(observation)?, without, &observation.set, machines::SEED);
    machine.map_err(|error| error.to_string())
}

/// The figures of a row's machine without their source.
fn fallbacks(observation: &Observation, figures: &[String]) -> Vec<Fallback> {
    let source = observation.source.as_str();
    let name = name_of(observation).unwrap_or_default();
    let left: Option<Description> = machines::describe_without(name, Some(source), &observation.set).ok();
    let fallback = |path: &String| {
        let now = left.as_ref().and_then(|left| left.figures.iter().find(|figure| figure.path == *path));
        let source = now.map(|now| now.source_id.clone()).filter(|id| id != machines::ASSUMED);
        Fallback { path: path.clone(), value: now.map(|now| now.value.clone()), source }
    };
    figures.iter().map(fallback).collect()
}

/// Asks the model of a row.
///
/// # Errors
/// What is wrong with the row or its machine.
#[cfg(test)]
pub(crate) fn measured(observation: &Observation) -> Result<Judged, String> {
    Ok(ask_of(observation, &machine_of(observation, None)?)?.0)
}

fn ask_of(observation: &Observation, machine: &Laboratory) -> Result<(Judged, Option<Answer>), String> {
    let question = observation.question()?;
    let expect = observation.expect.as_ref().ok_or("it expects nothing")?;
    match (ask(machine, &question), expect) {
        (Ok(answer), Expect::Other(Other::Agrees { agrees_with, to })) => {
            let other = Question { subject: agrees_with.clone(), ..question };
            let other = ask(machine, &other).map_err(|error| error.to_string())?;
            Ok((Expect::agree(&answer, &other, *to), None))
        }
        (Ok(answer), _) => {
            let request = match question.subject {
                Subject::Wait { request, .. } => Some(request),
                _ => None,
            };
            let judged = Judged { held_to: expect.held_to(), ..expect.judge(&answer, request) };
            Ok((judged, Some(answer)))
        }
        (Err(NoAnswer::Unknown { .. } | NoAnswer::Unavailable { .. }), Expect::Other(Other::Absent { .. })) => {
            Ok((Judged::of(true, "it has none".to_owned()), None))
        }
        (Err(reason), _) => Err(reason.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verify::FACTOR_MAX;

    /// The judgement of a row with that text, asked as it is or without its source.
    fn judged(text: &str, leaves_out: bool) -> Judged {
        let row = format!("id = 'x'\npublished = ''\ncount = 300\n{text}");
        judge(&toml::from_str(&row).unwrap(), leaves_out, &mut Described::default()).unwrap().2
    }

    #[test]
    fn a_cost_is_held_to_its_own_source_where_it_is_from_there_and_to_other_machines_where_it_is_predicted() {
        let cost = |source: &str, ns: &str, leaves_out| {
            let text = format!(
                "source = '{source}'\nkind = 'cost'\nmachine = 'linux-4'\nask = 'cost(monotonic)'\n\
                 expect = {{ mean = '{ns} ns', factor = 1.02 }}\nbecause = 'read twice'"
            );
            judged(&text, leaves_out)
        };
        assert!(cost("clockperf", "23.3", false).reproduced && !cost("clockperf", "20", false).reproduced);
        let other = cost("dawson-2020", "20", false);
        assert!(other.reproduced && other.of_machines.is_some() && !other.as_exactly, "{other:?}");
        let far = cost("dawson-2020", "60", false);
        assert!(!far.reproduced && far.held_to == other.held_to, "what is published doesn't widen it: {far:?}");
        assert!(other.held_to.starts_with(&format!("a factor of {FACTOR_MAX:.2}, between ")), "{}", other.held_to);
        let left_out = cost("clockperf", "23.3", true);
        assert!(
            left_out.reproduced && left_out.of_machines.is_some() && !left_out.held_to.contains("clockperf"),
            "{left_out:?}"
        );
    }

    #[test]
    fn the_rule_of_a_wait_is_exact_and_the_factor_is_for_what_it_leaves() {
        let late = |us: &str| {
            let text = format!(
                "source = 'dawson-2020'\nkind = 'cost'\nmachine = 'linux-cloud'\nask = 'cond-timedwait(100us)'\n\
                 expect = {{ overshoot_mean = '{us} us' }}"
            );
            judged(&text, false)
        };
        // 50 µs of slack and 7 µs.
        for us in ["54", "57", "63"] {
            assert!(late(us).reproduced, "{us}: {:?}", late(us));
        }
        for us in ["45", "51", "70", "100"] {
            assert!(!late(us).reproduced, "{us}: {:?}", late(us));
        }
        assert!(late("63").held_to.starts_with("what the rule leaves, to a factor of "), "{:?}", late("63"));
    }

    #[test]
    fn a_rule_and_a_share_of_near_misses_have_no_factor() {
        let mean = |kind: &str| {
            let text = format!(
                "source = 'go-17696'\nkind = '{kind}'\nmachine = 'windows-10-laptop'\nask = 'sleep(1ms)'\n\
                 own = {{ resolution = '1ms' }}\nexpect = {{ mean = '1.9 ms' }}"
            );
            judged(&text, false)
        };
        for kind in ["rule", "cost"] {
            let judged = mean(kind);
            assert!(
                !judged.reproduced && judged.of_machines.is_none() && judged.held_to == "2 %",
                "{kind}: {judged:?}"
            );
        }
    }
}
