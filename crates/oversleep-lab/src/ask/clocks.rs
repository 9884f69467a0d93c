//! Clocks by the names of runtimes and systems: `time.monotonic()`, `System.nanoTime()`, `clock_gettime(CLOCK_MONOTONIC)`.

use oversleep_model::Source;
use oversleep_record::{Nanos, Unavailable};
use oversleep_system::clocks as catalogue;
use oversleep_system::runtime_calls::{RuntimeClock, clock_systems, find_clocks};
use oversleep_system::{Clock, ClockInfo, Platform};

use super::answer::NoAnswer;
use crate::session::Laboratory;

/// The systems with a catalogue of clocks.
const SYSTEMS: [&str; 3] = ["windows", "linux", "macos"];
/// Functions of the system that take the name of a clock.
const OF_A_CLOCK: [&str; 3] = ["clock_gettime", "clock_gettime_nsec_np", "timespec_get"];

/// The words of a call, its function first.
fn words_of(call: &str) -> impl Iterator<Item = &str> {
    call.split(|c: char| !c.is_ascii_alphanumeric() && !"_:.".contains(c)).filter(|word| !word.is_empty())
}

/// The clock that is meant by a call as it stands in the code, if its function reads one: a function of a runtime, of a
/// system, or `clock_gettime` with the name of a clock.
pub(super) fn read_by(function: &str, argument: &str) -> Option<String> {
    if OF_A_CLOCK.contains(&function) {
        let clock = argument.split(',').next().unwrap_or_default().trim();
        return (clock.starts_with("CLOCK_") || clock.starts_with("TIME_")).then(|| clock.to_owned());
    }
    is_known(function).then(|| function.to_owned())
}

/// Whether some system or runtime has a function of that name that reads a clock.
pub(super) fn is_known(name: &str) -> bool {
    let of_system = || {
        let infos = SYSTEMS.iter().flat_map(|os| catalogue::of(os));
        infos.into_iter().any(|info| names(info, name))
    };
    let plain = name.split('@').next().unwrap_or(name);
    !plain.is_empty() && (!clock_systems(plain).is_empty() || of_system())
}

/// Whether a call's function has that name, or ends in it: `Instant::now`.
pub(super) fn names(info: &ClockInfo, typed: &str) -> bool {
    let first = words_of(info.call).next().unwrap_or_default();
    let is_end = || typed.contains("::") && first.strip_suffix(typed).is_some_and(|before| before.ends_with("::"));
    // `time` and `clock` are other things as well.
    typed.len() > 5 && (first == typed || is_end())
}

/// A clock of a runtime that the question names.
pub(super) struct Read {
    /// What the table says of it.
    pub of: &'static RuntimeClock,
    /// A sentence about that, for the rule of the system's clock to follow.
    pub translation: String,
}

/// What a runtime's clock of that name reads on this machine; `None` if no record of any system has it.
///
/// # Errors
/// It is not known for that version, or on that system, and where it is.
pub(super) fn of_runtime(lab: &Laboratory, name: &str) -> Result<Option<Read>, NoAnswer> {
    let platform = lab.platform();
    let os = platform.id().os;
    let unknown = |why: String| NoAnswer::Unavailable {
        what: name.to_owned(),
        reason: Unavailable::failed("translating it", why),
    };
    let all = find_clocks(&os, name.split('@').next().unwrap_or(name), None);
    let found = find_clocks(&os, name, lab.version.as_ref());
    let is_there = |one: &&&RuntimeClock| platform.clock(&one.clock).is_some_and(|clock| clock.available().is_ok());
    // Of those that a name may mean, the newest that runs there.
    let Some(first) = found.iter().find(is_there).or(found.first()).copied() else {
        return match (all.is_empty(), &clock_systems(name)[..]) {
            (true, []) => Ok(None),
            (true, systems) => Err(unknown(format!("not known on {os}; known on: {}", systems.join(", ")))),
            (false, _) => {
                let versions: Vec<String> = all.iter().map(|clock| clock.version_words()).collect();
                Err(unknown(format!("not known for that version; known on {os}: {}", versions.join("; "))))
            }
        };
    };
    let call = |name: &str| platform.clock(name).map_or_else(|| name.to_owned(), |clock| clock.info().call.to_owned());
    let source = Source::find(&first.source).map_or_else(|| first.source.clone(), Source::citation);
    let unit = first.unit().map(|unit| format!(" and rounds it down to {unit}")).unwrap_or_default();
    let note = if first.note.is_empty() { String::new() } else { format!(" {}", first.note) };
    let told = |other: &&RuntimeClock| format!(" {} reads {}.", other.version_words(), call(&other.clock));
    let others: String = all.iter().filter(|other| other.clock != first.clock).map(told).collect();
    let plain = name.split('@').next().unwrap_or(name);
    let adds =
        if first.adds_ns > 0 { format!(", and {} ns that it adds to a read", first.adds_ns) } else { String::new() };
    let times = if first.reads > 1 { format!(", read {} times", first.reads) } else { String::new() };
    let translation = format!(
        "{plain} of {} reads {}{unit} (published: {source}).{note}{others} The runtime was not run: the figures are those of \
         {}{times}{adds}; ",
        first.version_words(),
        call(&first.clock),
        call(&first.clock),
    );
    Ok(Some(Read { of: first, translation }))
}

/// What a read of that clock costs on a modelled machine, in words.
pub(super) fn cost_words(platform: &dyn Platform, clock: &dyn Clock, mean_ns: f64) -> Option<String> {
    platform.id().modelled?;
    Some(format!("; a read of {} costs {} (cost({}))", clock.info().call, nanos(mean_ns), clock.info().name))
}

fn nanos(ns: f64) -> String {
    if ns < 100.0 { format!("{ns:.1} ns") } else { Nanos(ns.round() as i64).to_string() }
}

#[cfg(test)]
mod tests {
    use oversleep_model::platform;

    use super::*;
    use crate::ask::{Question, ask};

    fn answer(machine: &str, typed: &str, version: Option<&str>) -> (f64, String) {
        let lab = Laboratory::on(platform(machine, &[], 1).expect("a machine"));
        let lab = lab.of_version(version.map(|version| version.parse().expect("a version")));
        let question = Question::of(typed.parse().unwrap_or_else(|error| panic!("{error}")));
        let answer = ask(&lab, &question).unwrap_or_else(|error| panic!("{typed}: {error}"));
        (answer.mean_ns(), answer.rule().unwrap_or_default().to_owned())
    }

    #[test]
    fn a_clock_that_stands_in_the_code_is_answered_by_its_steps_and_its_cost() {
        for (machine, typed, version, step_ns, part) in [
            ("windows-11", "time.monotonic()", Some("3.11"), 15_625_000.0, "reads GetTickCount64 (published: CPython"),
            ("windows-11", "time.monotonic", Some("3.13"), 100.0, "reads QueryPerformanceCounter"),
            ("windows-11", "time.perf_counter()", Some("3.11"), 100.0, "reads QueryPerformanceCounter"),
            ("windows-11", "GetTickCount64()", None, 15_625_000.0, "a read of GetTickCount64 costs"),
            ("windows-11", "System.nanoTime()", None, 100.0, "a read of QueryPerformanceCounter costs"),
            ("windows-11", "Stopwatch.GetTimestamp()", None, 100.0, "of .NET 5 and later"),
            ("windows-11", "Stopwatch", None, 100.0, "of .NET 5 and later"),
            ("windows-11", "Date.now()", None, 1_000_000.0, "rounds it down to 1 ms"),
            (
                "windows-11",
                "performance.now()",
                None,
                100_000.0,
                "of Chromium 91 and later reads QueryPerformanceCounter",
            ),
            ("windows-11", "QueryPerformanceCounter(&now)", None, 100.0, "a read of QueryPerformanceCounter costs"),
            ("linux-hz250", "clock_gettime(CLOCK_MONOTONIC_COARSE, &ts)", None, 4_000_000.0, "costs"),
            ("linux-hz250", "GetTickCount64()", None, 1_000_000.0, "of Free Pascal 3"),
        ] {
            let (mean, rule) = answer(machine, typed, version);
            let near = (mean - step_ns).abs() <= step_ns * 0.05;
            assert!(near && rule.contains(part), "{typed} on {machine}: {mean}: {rule}");
        }
        assert!(answer("windows-11", "time.Now()", None).1.contains("reads QueryInterruptTime"));
        assert!(answer("linux-hz250", "clock_gettime(CLOCK_MONOTONIC)", None).1.contains("costs"));
        assert!(answer("linux-hz250", "Instant::now()", None).1.contains("costs"));
    }

    #[test]
    fn the_clock_of_a_question_may_be_a_runtimes() {
        let by = |clock: &str| {
            let lab = Laboratory::on(platform("windows-11", &[], 1).expect("a machine"));
            let lab = lab.of_version(Some("3.11".parse().expect("a version")));
            let question = Question::of("asyncio.sleep(20ms)".parse().expect("a question"));
            ask(&lab, &Question { clock: Some(clock.to_owned()), ..question })
        };
        let values = |clock: &str| by(clock).map(|answer| answer.values_ns().to_vec());
        assert_eq!(values("time.monotonic"), values("get-tick-count-64"));
        assert_eq!(values("time.perf_counter"), values("qpc"));
        let unknown = by("Date.now").expect_err("not of that version").to_string();
        assert!(unknown.contains("known on windows: ") && unknown.contains("Node 18 and later"), "{unknown}");
    }

    #[test]
    fn a_clock_that_is_known_elsewhere_says_where() {
        let lab = Laboratory::on(platform("linux-hz250", &[], 1).expect("a machine"));
        let question = Question::of("erlang:monotonic_time".parse().expect("a question"));
        let why = ask(&lab, &question).expect_err("no record").to_string();
        assert!(why.contains("known on: windows"), "{why}");
    }
}
