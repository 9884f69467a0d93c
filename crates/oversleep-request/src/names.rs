//! Looks up names in registries, and suggests the nearest one for an unknown name.

use oversleep_lab::Laboratory;
use oversleep_lab::ask::call_named;
use oversleep_lab::catalogue::Kind;
use oversleep_report::words::capitalised;

use crate::refusal::Refusal;

pub use oversleep_record::nearest;

/// The most names that an error lists.
const LISTED: usize = 20;

/// All names of a kind.
pub fn of(lab: &Laboratory, kind: Kind) -> Vec<&'static str> {
    lab.names(kind)
}

/// The noun for one of this kind, and the command that lists all of them.
fn words(kind: Kind) -> (&'static str, Option<&'static str>) {
    match kind {
        Kind::Clock => ("clock", Some("oversleep clocks --list")),
        Kind::Wait => ("wait", Some("oversleep waits --list")),
        Kind::Handoff => ("hand-off", Some("oversleep handoff --list")),
        Kind::Tunable => ("tunable", Some("oversleep doctor")),
        Kind::Load => ("load", None),
        Kind::Strategy => ("idle strategy", Some("oversleep idle --list")),
    }
}

/// These names without duplicates, if all of them are known. A wait may also be named as its call is, or as a question names
/// it: the call of a runtime gets its name among waits.
///
/// # Errors
/// The first unknown name, with the nearest known one.
pub fn checked(lab: &Laboratory, kind: Kind, names: Vec<String>) -> Result<Vec<String>, Refusal> {
    if names.is_empty() {
        return Ok(names);
    }
    let known = of(lab, kind);
    let mut kept: Vec<String> = Vec::new();
    for name in names {
        let is_called = kind == Kind::Wait && !known.contains(&name.as_str());
        // As it stands in the code: `TimeUnit.MILLISECONDS.sleep`.
        let meant = if is_called && lab.wait_called(&name).is_none() { call_named(&name) } else { None };
        let name = meant.unwrap_or(name);
        let call = if is_called { lab.runtime_call(&name).map_err(Refusal::usage)? } else { None };
        let wait = || lab.wait_called(&name).filter(|_| is_called);
        let name = match call.or_else(wait) {
            Some(call) => call.to_owned(),
            None => name,
        };
        if !known.contains(&name.as_str()) && call.is_none() {
            let (what, list) = words(kind);
            return Err(unknown(what, &name, &known, list));
        }
        if !kept.contains(&name) {
            kept.push(name);
        }
    }
    Ok(kept)
}

/// The error about an unknown name.
pub fn unknown(what: &str, name: &str, known: &[&str], list: Option<&str>) -> Refusal {
    Refusal::usage(unknown_words(what, name, known, list))
}

/// Says that a name is unknown: with the one that was probably meant, and those that there are or the command that lists
/// them.
pub fn unknown_words(what: &str, name: &str, known: &[&str], list: Option<&str>) -> String {
    let all = match (list, known.len().checked_sub(LISTED)) {
        (Some(command), _) => format!("`{command}` lists them all"),
        (None, _) if known.is_empty() => format!("there is no {what} at all"),
        (None, Some(more @ 1..)) => format!("choose from {} and {more} more", known[..LISTED].join(", ")),
        (None, _) => format!("choose from {}", known.join(", ")),
    };
    match nearest(name, known) {
        Some(near) => format!("unknown {what} '{name}'; did you mean '{near}'? {}", capitalised(&all)),
        None => format!("unknown {what} '{name}'; {all}"),
    }
}

#[cfg(test)]
mod tests {
    use oversleep_lab::machines;

    use super::*;

    #[test]
    fn a_wait_has_every_name_that_a_question_knows() {
        let lab = machines::load("windows-11", &[], machines::SEED).unwrap_or_else(|error| panic!("{error}"));
        for (typed, name) in [
            ("TimeUnit.MILLISECONDS.sleep", "Thread.sleep@java-21-and-later"),
            ("TimeUnit.SECONDS.sleep@java-17", "Thread.sleep@java-14-to-20"),
            ("async_std::task::sleep", "async_io::Timer@async-io-2.6-and-later"),
            ("java.lang.Thread.sleep", "Thread.sleep@java-21-and-later"),
            ("executor.schedule", "ScheduledExecutorService.schedule@java-25"),
            ("Sleep", "sleep"),
            ("sleep", "sleep"),
        ] {
            let found = checked(&lab, Kind::Wait, vec![typed.to_owned()]);
            assert_eq!(found.unwrap_or_else(|error| panic!("{typed}: {error}")), [name], "{typed}");
        }
    }

    #[test]
    fn an_error_says_what_to_do() {
        let with_list = unknown("wait", "nanoslep", &["nanosleep"], Some("oversleep waits --list"));
        let text = "unknown wait 'nanoslep'; did you mean 'nanosleep'? `oversleep waits --list` lists them all";
        assert_eq!(with_list.to_string(), text);
        let without = unknown("load", "zzz", &["spin", "memory"], None);
        assert_eq!(without.to_string(), "unknown load 'zzz'; choose from spin, memory");
        let near = unknown("load", "spim", &["spin", "memory"], None);
        assert_eq!(near.to_string(), "unknown load 'spim'; did you mean 'spin'? Choose from spin, memory");
    }
}
