//! Assertions as they are typed and as files hold them: `nanosleep(1ms).p99 < 2ms`, in the words of `ask`.

mod grammar;

use oversleep_lab::assert::{Assertion, Bound, Claim, Figure, Op, Unmatched, Value};
use oversleep_record::assertion::Place;

use crate::names::unknown_words;
use crate::refusal::Refusal;

/// Reads one assertion.
///
/// # Errors
/// What is wrong, with a mark under it.
pub fn parse(text: &str) -> Result<Assertion, Refusal> {
    at(text, None)
}

/// Reads what must not hold, as the assertion of its contrary. A figure alone is one of every observed wait: `p99>200us`.
///
/// # Errors
/// What is wrong.
pub fn fail_if(text: &str) -> Result<Assertion, Refusal> {
    let text = text.trim();
    let is_figure = Figure::ALL.iter().any(|(name, _)| text.starts_with(name)) && !text.contains('(');
    let whole = if is_figure { format!("why(*).{text}") } else { text.to_owned() };
    let Assertion { place, claim, .. } = parse(&whole)?;
    let claim = match claim {
        Claim::Figure { bound: None, .. } => {
            return Err(Refusal::usage(format!("'{text}' states no limit; write it like p99>200us")));
        }
        Claim::Figure { bound: Some(Bound { value: Value::Baseline(_), .. }), .. } => {
            return Err(Refusal::usage(format!(
                "'{text}' needs a base, and there is none here; `oversleep assert new.json --baseline old.json` has one"
            )));
        }
        Claim::Figure { subject, figure, bound: Some(Bound { op, value }) } => {
            let op = match op {
                Op::Below => Op::AtLeast,
                Op::AtMost => Op::Above,
                Op::Above => Op::AtMost,
                Op::AtLeast => Op::Below,
            };
            Claim::Figure { subject, figure, bound: Some(Bound { op, value }) }
        }
        Claim::Presence { name, is_present, is_cause } => Claim::Presence { name, is_present: !is_present, is_cause },
        Claim::Fact { name, value, is_equal } => Claim::Fact { name, value, is_equal: !is_equal },
    };
    Ok(Assertion { text: whole, place, claim })
}

/// Reads a file of assertions: one on each line, comments after `#`.
///
/// # Errors
/// The first line that is wrong, or that there is no assertion.
pub fn of_file(name: &str, text: &str) -> Result<Vec<Assertion>, Refusal> {
    let lines = (1..).zip(text.trim_start_matches('\u{feff}').lines());
    let stated = lines.map(|(line, text)| (line, without_comment(text).trim())).filter(|(_, text)| !text.is_empty());
    let assertions = stated.map(|(line, text)| at(text, Some(Place { file: name.to_owned(), line })));
    let assertions = assertions.collect::<Result<Vec<_>, _>>()?;
    if assertions.is_empty() {
        return Err(Refusal::usage(format!(
            "'{name}' has no assertion; write one a line, like nanosleep(1ms).p99 < 2ms"
        )));
    }
    Ok(assertions)
}

/// The longest assertion. An error repeats it.
const BYTES_MAX: usize = 1_000;

/// A comment begins at the line's begin or after a blank, because threads may be called `pool#1`.
fn without_comment(line: &str) -> &str {
    let begins = |(at, _): &(usize, &str)| line[..*at].chars().next_back().is_none_or(char::is_whitespace);
    line.match_indices('#').find(begins).map_or(line, |(at, _)| &line[..at])
}

fn at(text: &str, place: Option<Place>) -> Result<Assertion, Refusal> {
    let text = text.trim();
    if text.len() > BYTES_MAX {
        let place = place.map_or_else(String::new, |place| format!("{place}: "));
        let length = text.len();
        return Err(Refusal::usage(format!(
            "{place}this has {length} bytes, and an assertion at most {BYTES_MAX}; write one a line, like \
             nanosleep(1ms).p99 < 2ms"
        )));
    }
    match grammar::claim(text) {
        Ok(claim) => Ok(Assertion { text: text.to_owned(), place, claim }),
        Err(grammar::Fault { at, length, why }) => {
            let before = text[..at].chars().count();
            let marks = "^".repeat(text[at..].chars().take(length.max(1)).count().max(1));
            let place = place.map_or_else(String::new, |place| format!("{place}: "));
            Err(Refusal::Misread {
                what: format!("{place}{why}"),
                next: vec![format!("  {text}"), format!("  {}{marks}", " ".repeat(before))],
            })
        }
    }
}

/// Refuses what only a base could decide: undecided, it would let a build pass where undecided verdicts do.
///
/// # Errors
/// What is missing.
pub fn stands_alone(assertion: &Assertion) -> Result<(), Refusal> {
    let why = match &assertion.claim {
        Claim::Figure { bound: None, .. } => {
            "states no limit; write it like nanosleep(1ms).p99 < 2ms, or name a result of before with --baseline"
        }
        Claim::Figure { bound: Some(Bound { value: Value::Baseline(_), .. }), .. } => {
            "needs a base; name a result of before with --baseline"
        }
        _ => return Ok(()),
    };
    let place = assertion.place.as_ref().map_or_else(String::new, |place| format!("{place}: "));
    Err(Refusal::usage(format!("{place}'{}' {why}", assertion.text)))
}

/// The error about a name that matches nothing in a result.
pub fn unknown(unmatched: &Unmatched) -> Refusal {
    let Unmatched { text, place, what, name, known } = unmatched;
    let place = place.as_ref().map_or_else(String::new, |place| format!("{place}: "));
    let names: Vec<&str> = known.iter().map(String::as_str).collect();
    Refusal::usage(format!("{place}'{text}': {}", unknown_words(what, name, &names, None)))
}

#[cfg(test)]
mod tests {
    use oversleep_lab::assert::{Observed, Subject};
    use oversleep_record::Nanos;

    use super::*;

    fn error(text: &str) -> (String, Vec<String>) {
        match parse(text) {
            Err(Refusal::Misread { what, next }) => (what, next),
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn a_line_that_can_not_be_an_assertion_is_not_repeated() {
        let long = "x".repeat(5_000_000);
        let error = of_file("a", &long).unwrap_err().to_string();
        assert_eq!(
            error,
            "a:1: this has 5000000 bytes, and an assertion at most 1000; write one a line, like nanosleep(1ms).p99 < 2ms"
        );
    }

    #[test]
    fn a_mark_stands_under_what_is_wrong() {
        for (text, why, under) in [
            ("nanosleep(1ms).p9 < 2ms", "unknown figure 'p9'; did you mean 'p99'?", "p9"),
            ("nanosleep(1ms).p99 < 2mss", "'2mss' is no value", "2mss"),
            ("nanosleep(1ms).p99 2ms", "a comparison is missing", "2ms"),
            ("nanosleep(1ms.p99 < 2ms", "the closing parenthesis is missing", "("),
            ("nanosleep(1xs).p99 < 2ms", "1xs", "1xs"),
            ("finding(timer-slack) gone", "absent or present", "gone"),
            ("why(app).slak.p50 < 1ms", "unknown part 'slak'; did you mean 'slack'?", "slak"),
            ("why(a/b/c/d).p50 < 1ms", "program/thread/call", "a/b/c/d"),
            ("nanosleep(1ms).missed < 1ms", "missed is a number or a share", "1ms"),
            ("nanosleep(1ms).p50 < 5%", "p50 is a span of time", "5%"),
            ("late", "write an assertion like", "late"),
            ("cpu.count > 1", "a fact is compared by = and !=", "cpu.count > 1"),
            ("cpu.cnt > 1", "write an assertion like", "cpu.cnt > 1"),
            ("time.sleep(busy)(1xs).p50 < 1ms", "1xs", "1xs"),
        ] {
            let (what, next) = error(text);
            assert!(what.contains(why), "{text}: {what}");
            assert_eq!(next[0], format!("  {text}"));
            let marked: String = next[0]
                .chars()
                .zip(next[1].chars())
                .filter(|(_, mark)| *mark == '^')
                .map(|(letter, _)| letter)
                .collect();
            assert_eq!(marked, under, "{next:#?}");
        }
    }

    /// The names of some waits have parentheses of their own.
    #[test]
    fn the_last_parentheses_hold_the_request() {
        let subject = |text: &str| match parse(text).expect(text).claim {
            Claim::Figure { subject, .. } => subject,
            other => panic!("{other:?}"),
        };
        let wait = Subject::Wait {
            runtime: Some("python".to_owned()),
            name: "time.sleep(busy)".to_owned(),
            request: Nanos::from_millis(1),
        };
        assert_eq!(subject("python:time.sleep(busy)(1ms).p50 < 6ms"), wait);
        assert_eq!(
            subject("series(R1/time.sleep(busy)/*).p50 < 6ms"),
            Subject::Series("R1/time.sleep(busy)/*".to_owned())
        );
        // A thread's name may open one that it doesn't close.
        let named = Observed { program: "app".to_owned(), thread: Some("a(b".to_owned()), ..Observed::default() };
        assert_eq!(subject("why(app/a(b).p50 < 6ms"), Subject::Why(named));
    }

    #[test]
    fn what_must_not_hold_is_the_contrary_of_an_assertion() {
        for (condition, contrary) in [
            ("p99>200us", "why(*).p99 <= 200us"),
            ("max > 5 ms", "why(*).max <= 5ms"),
            ("why(app).slack.p50 >= 1ms", "why(app).slack.p50 < 1ms"),
            ("cause(late-by-quota) present", "cause(late-by-quota) absent"),
            ("cpu.count = 1", "cpu.count != 1"),
        ] {
            let claims = (fail_if(condition).expect(condition).claim, parse(contrary).expect(contrary).claim);
            assert_eq!(claims.0, claims.1, "{condition}");
        }
        assert!(fail_if("why(app).p50 > baseline * 2").is_err(), "there is no baseline");
        assert!(fail_if("often").is_err() && fail_if("p101>1ms").is_err() && fail_if("why(app)").is_err());
    }

    #[test]
    fn files_have_comments_and_their_lines_have_numbers() {
        let text = "# of the release\n\nnanosleep(1ms).p99 < 2ms # late\r\nwhy(app/pool#1).p50 < 1ms\n";
        let read = of_file("timing.assert", text).expect("two assertions");
        let lines: Vec<u64> = read.iter().filter_map(|one| one.place.as_ref().map(|place| place.line)).collect();
        assert_eq!(lines, [3, 4]);
        assert_eq!(read[0].text, "nanosleep(1ms).p99 < 2ms");
        let wrong = of_file("timing.assert", "sleep(1ms).p50 < 1ms\nsleep(1ms).px < 1ms\n").unwrap_err().to_string();
        assert!(wrong.starts_with("timing.assert:2: unknown figure 'px'"), "{wrong}");
        assert!(of_file("none", "# nothing\n").unwrap_err().to_string().contains("has no assertion"));
    }
}
