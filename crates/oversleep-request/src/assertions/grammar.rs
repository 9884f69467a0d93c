//! The grammar of assertions.

// assertion = subject ["." figure] [op value]
//           | ("finding" | "cause") "(" name ")" ("absent" | "present")
//           | fact ("=" | "!=") text
// subject   = [runtime ":"] wait ["(" word ")"] "(" span ")" | ("clock" | "cost" | "step") "(" clock ")"
//           | "series" "(" key ")" | "cause" "(" name ")"
//           | ("why" | "period") "(" program ["/" thread ["/" call]] ")" ["." part]
// op        = "<" | "<=" | ">" | ">="
// value     = span | number "%" | number | "baseline" ["*" number]

use oversleep_lab::assert::{Bound, Claim, Figure, Observed, Op, Subject, Value};
use oversleep_record::part::Part;
use oversleep_record::{FactName, Nanos};

use crate::names::unknown_words;

/// What is wrong, and where.
#[derive(Debug)]
pub struct Fault {
    /// The byte at which it begins.
    pub at: usize,
    /// Its length in letters.
    pub length: usize,
    /// What is wrong.
    pub why: String,
}

const FORM: &str =
    "write an assertion like nanosleep(1ms).p99 < 2ms, finding(timer-slack) absent or timer.slack_ns = 50us";

/// Reads what an assertion claims. The text has no blanks around it.
pub fn claim(text: &str) -> Result<Claim, Fault> {
    let here = |part: &str| part.as_ptr() as usize - text.as_ptr() as usize;
    let fault = |part: &str, why: String| Fault { at: here(part).min(text.len()), length: part.chars().count(), why };
    let Some(open) = opening(text) else {
        return fact(text).map_err(|why| fault(text, why));
    };
    let Some(close) = closing(text, open) else {
        return Err(fault(&text[open..=open], "the closing parenthesis is missing".to_owned()));
    };
    let (verb, argument, rest) = (text[..open].trim(), text[open + 1..close].trim(), text[close + 1..].trim());
    if verb.is_empty() || argument.is_empty() {
        return Err(fault(&text[..=close], FORM.to_owned()));
    }
    if verb == "finding" || (verb == "cause" && !rest.starts_with('.')) {
        let is_present = match rest {
            "absent" => false,
            "present" => true,
            _ => return Err(fault(rest, format!("{verb}({argument}) is either absent or present"))),
        };
        return Ok(Claim::Presence { name: argument.to_owned(), is_present, is_cause: verb == "cause" });
    }
    let mut subject = subject(verb, argument).map_err(|why| fault(argument, why))?;
    let (named, compared) = match rest.find(['<', '>', '=']) {
        Some(at) => rest.split_at(at),
        // What follows the figure should be a comparison.
        None => match rest.find(char::is_whitespace) {
            Some(at) => {
                return Err(fault(rest[at..].trim(), "a comparison is missing: one of <, <=, > and >=".to_owned()));
            }
            None => rest.split_at(rest.len()),
        },
    };
    let mut figure = match verb {
        "cost" => Some(Figure::Cost),
        "step" => Some(Figure::Step),
        _ => None,
    };
    let mut words = words(named.trim());
    if let Subject::Why(observed) | Subject::Period(observed) = &mut subject
        && let Some((part, more)) = words.split_first()
        && let Some(found) = Part::ALL.iter().find(|known| known.name() == *part)
    {
        observed.part = Some(*found);
        words = more.to_vec();
    }
    if let Some((word, more)) = words.split_first() {
        let names = Figure::ALL.map(|(name, _)| name);
        let found = Figure::ALL.iter().find(|(name, _)| name == word).map(|(_, figure)| *figure);
        let is_observed = matches!(subject, Subject::Why(_) | Subject::Period(_));
        figure = Some(match found {
            Some(figure) => figure,
            None if is_observed && (!more.is_empty() || !word.starts_with('p')) => {
                let names: Vec<&str> = Part::ALL.iter().map(|part| part.name()).collect();
                return Err(fault(word, unknown_words("part", word, &names, None)));
            }
            None => return Err(fault(word, unknown_words("figure", word, &names, None))),
        });
        if let Some(extra) = more.first() {
            return Err(fault(extra, "nothing follows the figure but a comparison".to_owned()));
        }
    }
    let figure = figure.unwrap_or(Figure::Quantile(0.5));
    let compared = compared.trim();
    if compared.is_empty() {
        return Ok(Claim::Figure { subject, figure, bound: None });
    }
    let Some((typed, op)) = Op::ALL.into_iter().find(|(typed, _)| compared.starts_with(typed)) else {
        return Err(fault(&compared[..1], "figures are compared by <, <=, > and >=".to_owned()));
    };
    let typed = compared[typed.len()..].trim();
    let value = value(typed).ok_or_else(|| {
        fault(
            typed,
            format!("'{typed}' is no value; write a span like 2ms, a share like 1%, a number, or baseline * 1.25"),
        )
    })?;
    let is_span = !matches!(figure, Figure::Missed | Figure::Early | Figure::Backward | Figure::Steal | Figure::Share);
    let (name, is_share) = (figure.name(), matches!(figure, Figure::Steal | Figure::Share));
    match value {
        Value::Baseline(_) => {}
        Value::Span(_) if is_span => {}
        Value::Share(_) if !is_span => {}
        Value::Count(_) if !is_span && !is_share => {}
        _ if is_span => return Err(fault(typed, format!("{name} is a span of time, like 2ms"))),
        _ if is_share => return Err(fault(typed, format!("{name} is a share, like 1%"))),
        _ => return Err(fault(typed, format!("{name} is a number or a share, like 0 or 1%"))),
    }
    Ok(Claim::Figure { subject, figure, bound: Some(Bound { op, value }) })
}

/// The words of `.slack.p99.9`: a dot between digits is part of a word.
fn words(text: &str) -> Vec<&str> {
    let Some(text) = text.strip_prefix('.') else {
        return if text.is_empty() { Vec::new() } else { vec![text] };
    };
    match text.strip_suffix("p99.9") {
        Some("") => vec![text],
        Some(before) => vec![before.trim_end_matches('.'), &text[before.len()..]],
        None => text.split('.').map(str::trim).collect(),
    }
}

fn subject(verb: &str, argument: &str) -> Result<Subject, String> {
    let argument = argument.to_owned();
    Ok(match verb {
        "clock" | "cost" | "step" => Subject::Clock(argument),
        "series" => Subject::Series(argument),
        "cause" => Subject::Cause(argument),
        "why" | "period" => {
            let names: Vec<&str> = argument.split('/').collect();
            let of = |at: usize| names.get(at).filter(|name| !name.is_empty()).map(|name| (*name).to_owned());
            let most = if verb == "why" { 3 } else { 2 };
            let form = if verb == "why" { "program/thread/call" } else { "program/thread" };
            let program = of(0).filter(|_| names.len() <= most).ok_or_else(|| format!("{verb} takes {form}"))?;
            let observed = Observed { program, thread: of(1), call: of(2), part: None };
            if verb == "why" { Subject::Why(observed) } else { Subject::Period(observed) }
        }
        wait => {
            let request: Nanos = argument.parse().map_err(|error| format!("{error}"))?;
            let (runtime, name) = match wait.split_once(':') {
                Some((runtime, name)) if !name.starts_with(':') => (Some(runtime.trim().to_owned()), name),
                _ => (None, wait),
            };
            Subject::Wait { runtime, name: name.trim().to_owned(), request }
        }
    })
}

fn value(text: &str) -> Option<Value> {
    if let Some(rest) = text.strip_prefix("baseline") {
        let rest = rest.trim();
        return match rest.strip_prefix('*') {
            None if rest.is_empty() => Some(Value::Baseline(1.0)),
            None => None,
            Some(factor) => number(factor).filter(|factor| *factor > 0.0).map(Value::Baseline),
        };
    }
    if let Some(share) = text.strip_suffix('%') {
        return number(share).map(|share| Value::Share(share / 100.0));
    }
    match number(text) {
        Some(count) => Some(Value::Count(count)),
        None => text.parse::<Nanos>().ok().map(|span| Value::Span(span.0 as f64)),
    }
}

fn number(text: &str) -> Option<f64> {
    let text = text.trim();
    text.parse().ok().filter(|number: &f64| number.is_finite() && text.starts_with(|c: char| c.is_ascii_digit()))
}

/// Where the parenthesis of a subject opens. The names of some waits end with one of their own: `time.sleep(busy)(1ms)`.
fn opening(text: &str) -> Option<usize> {
    let mut open = text.find('(').filter(|&open| !text[..open].contains(['=', '<', '>']))?;
    while let Some(close) = closing(text, open)
        && text[close + 1..].starts_with('(')
    {
        open = close + 1;
    }
    Some(open)
}

/// Where the parenthesis closes that opens there: its own, or the next one where names leave some open.
fn closing(text: &str, open: usize) -> Option<usize> {
    let mut depth = 0;
    for (at, letter) in text[open..].char_indices() {
        match letter {
            '(' => depth += 1,
            ')' if depth == 1 => return Some(open + at),
            ')' => depth -= 1,
            _ => {}
        }
    }
    text[open..].find(')').map(|at| open + at)
}

fn fact(text: &str) -> Result<Claim, String> {
    let (name, value, is_equal) = match text.split_once("!=") {
        Some((name, value)) => (name, value, false),
        None => match text.split_once('=').filter(|(name, _)| !name.contains(['<', '>'])) {
            Some((name, value)) => (name, value.trim_start_matches('='), true),
            None if text.split_once(['<', '>']).is_some_and(|(name, _)| FactName::find(name.trim()).is_some()) => {
                return Err("a fact is compared by = and !=".to_owned());
            }
            None => return Err(FORM.to_owned()),
        },
    };
    let (name, value) = (name.trim(), value.trim().trim_matches('"'));
    let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c));
    match is_name && !value.is_empty() {
        true => Ok(Claim::Fact { name: name.to_owned(), value: value.to_owned(), is_equal }),
        false => Err(FORM.to_owned()),
    }
}
