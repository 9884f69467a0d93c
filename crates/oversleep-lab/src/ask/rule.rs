//! The rule behind an answer, in a sentence, under the question's conditions. Only models know theirs.

use oversleep_measure::{FORK_JOIN_THREADS, POLL_PAUSE, beneath_library, coarse_clock, find_wait};
use oversleep_record::clock::Counts;
use oversleep_record::conditions::LoadSpec;
use oversleep_record::label::JoinStyle;
use oversleep_record::{FactName, Nanos};
use oversleep_system::{
    ClockInfo, ClockUnit, Family, Follows, Platform, Scope, SharedPlatform, WaitInfo, runtime_calls,
};

use super::calls::beneath;
use super::held::hold;
use super::question::{Question, Subject};

/// From this step on, a clock visibly rounds durations to its steps.
const STEP_SHOWS_FROM: Nanos = Nanos(1_000);

/// No clock is read in less time than such a step.
const FINER_THAN_A_READ: Nanos = Nanos(1);

/// The rule by which this machine answers the question.
pub(super) fn of(shared: &SharedPlatform, question: &Question) -> Option<String> {
    if let Some(beneath) = beneath(shared, question) {
        let (due, seen) = (until_due(shared, question), by_own_clock(shared, question));
        return Some(of(shared, &beneath)? + &due.unwrap_or_default() + &seen.unwrap_or_default());
    }
    let platform = &**shared;
    let _held = hold(platform, question);
    let loads = question.conditions.load.iter();
    let _loads: Vec<_> = loads.filter_map(|load| platform.load(&load.kind)?.start(load.hogs).ok()).collect();
    match &question.subject {
        Subject::Wait { name, request } => {
            let wait = find_wait(platform, name).or_else(|| platform.simplest(Family::Sleep))?;
            let wait = wait
                .rule(*request)
                .or_else(|| of_spinning(platform, wait.info()))
                .or_else(|| of_library(shared, wait.info(), *request))?;
            Some(wait + &of_timestamps(platform, question.clock.as_deref()) + &of_neighbours(platform, question))
        }
        Subject::Yield { name } => platform.wait(name)?.rule(Nanos::ZERO),
        Subject::Shows { clock } => platform.clock(clock)?.rule(),
        Subject::Step { clock } => {
            let clock = platform.clock(clock)?;
            let is_finer = clock.stated_step_ns().is_some_and(|step| step <= FINER_THAN_A_READ);
            Some(
                clock.rule()?
                    + if is_finer { ", in steps finer than a read, so the step is what a read takes" } else { "" },
            )
        }
        Subject::Resolution => platform.resolution_tunable()?.rule(),
        // A clock that knows its rule is a modelled one.
        Subject::Cost { clock } => {
            let clock = platform.clock(clock)?;
            clock.rule().map(|_| of_cost(platform, clock.info()))
        }
        Subject::ForkJoin { style, coarse } => {
            let clock = match question.clock.as_deref() {
                Some(name) => Some(platform.clock(name)?),
                None if *coarse => Some(coarse_clock(platform)?),
                None => None,
            };
            match clock {
                Some(clock) => Some(format!("{} times the fork-join: {}", clock.info().name, clock.rule()?)),
                None => {
                    let sleep = platform.simplest(Family::Sleep)?.rule(POLL_PAUSE)?;
                    Some(of_fork_join(platform, *style, computing(question), &sleep))
                }
            }
        }
    }
}

/// Why a read of a clock costs what it does, as far as the machine says.
fn of_cost(platform: &dyn Platform, clock: &ClockInfo) -> String {
    let facts = platform.environment();
    let reads_source = clock.follows == Follows::Time
        && clock.unit != ClockUnit::Ticks
        && matches!(clock.counts, Counts::ElapsedTime | Counts::TimeOfDay);
    let source = facts.text(FactName::ClocksourceCurrent).filter(|_| reads_source);
    let why = match (source, facts.flag(FactName::ClocksourceVdso)) {
        (Some(source), Some(false)) => {
            format!("each read is a system call, because user space can't read the clock source, {source}")
        }
        (Some(source @ ("hpet" | "acpi_pm")), _) => {
            format!("each read asks a device of the mainboard, the clock source {source}")
        }
        _ => "the cost of a read follows from no rule".to_owned(),
    };
    format!("{why}: it is a figure of the profile, which names its source")
}

/// The rule of waits that read the clock themselves. A clock that knows its rule is a modelled one.
fn of_spinning(platform: &dyn Platform, info: &WaitInfo) -> Option<String> {
    platform.clock(platform.reference_clock())?.rule()?;
    let call = info.call;
    (info.family == Family::Spin).then(|| {
        format!(
            "no timer ends the wait: the thread itself reads the clock until the deadline ({call}), which takes the CPU"
        )
    })
}

/// The rule of the library's own waits, which are made of one of the system's.
fn of_library(shared: &SharedPlatform, info: &WaitInfo, request: Nanos) -> Option<String> {
    let beneath = beneath_library(shared, info.name)?;
    Some(format!(
        "the library's own algorithm, on this machine's figures: it has {} end early, by as much as it has learned of its \
         lateness here, and spins for the rest, 600 µs at most; the first waits are still learning. Beneath it, {}",
        beneath.info().call,
        beneath.rule(request)?
    ))
}

/// What a call adds whose runtime decides by a clock of its own whether its time is up.
fn until_due(shared: &SharedPlatform, question: &Question) -> Option<String> {
    let Subject::Wait { name, .. } = &question.subject else { return None };
    let clock = runtime_calls::wait(&**shared, name)?.due_by(shared)?;
    let _held = hold(&**shared, question);
    Some(format!(
        "; the runtime then waits again until {} shows that the span has passed, and {}",
        clock.info().call,
        clock.rule()?
    ))
}

/// What the program sees of the wait whose runtime's own clock moves in steps.
fn by_own_clock(shared: &SharedPlatform, question: &Question) -> Option<String> {
    let Subject::Wait { name, .. } = &question.subject else { return None };
    let own = runtime_calls::wait(&**shared, name)?.record().own_clock.as_ref()?;
    let clock = shared.clock(&own.clock)?;
    Some(format!(
        "; {} is {} there, and {}: by it, the wait can seem up to a step too short (--clock {} shows how long)",
        own.name,
        clock.info().call,
        clock.rule()?,
        own.clock
    ))
}

/// Neighbours don't matter if their settings belong to each thread.
fn of_neighbours(platform: &dyn Platform, question: &Question) -> String {
    let own = platform.resolution_tunable().filter(|tunable| tunable.info().scope == Scope::Thread);
    match own {
        Some(tunable) if !question.neighbours.is_empty() && !question.neighbours_left => {
            let name = tunable.info().name;
            format!("; {name} belongs to each thread here, so what another process holds affects no other process")
        }
        _ => String::new(),
    }
}

/// The effect of a stamping clock that moves in steps on durations.
fn of_timestamps(platform: &dyn Platform, clock: Option<&str>) -> String {
    let of = |name: &str| {
        let clock = platform.clock(name)?;
        let rule = clock.rule().filter(|_| clock.stated_step_ns().is_some_and(|step| step >= STEP_SHOWS_FROM))?;
        Some(format!(
            "; the timestamps are those of {name}, and {rule}: every duration shows as a multiple of its steps, or as 0"
        ))
    };
    clock.and_then(of).unwrap_or_default()
}

/// The number of load threads that compute without a pause.
fn computing(question: &Question) -> usize {
    let is_endless = |load: &&LoadSpec| matches!(load.kind.as_str(), "spin" | "syscalls");
    question.conditions.load.iter().filter(is_endless).map(|load| load.hogs as usize).sum()
}

fn of_fork_join(platform: &dyn Platform, style: JoinStyle, hogs: usize, sleep: &str) -> String {
    let cpus = platform.cpus().len();
    let turns = |own: usize| match own + hogs {
        threads if threads > cpus => format!("; {threads} threads that compute take turns on {cpus} CPUs"),
        _ => String::new(),
    };
    match style {
        JoinStyle::Blocked => format!(
            "the last thread to end wakes the main thread, which takes a wake-up and no tick: the duration is that of the \
             longest portion of work, plus starting the threads{}",
            turns(FORK_JOIN_THREADS as usize)
        ),
        JoinStyle::Spinning => format!(
            "the main thread checks without a pause, so it sees at once that the last thread ended; it takes a CPU \
             meanwhile{}",
            turns(FORK_JOIN_THREADS as usize + 1)
        ),
        JoinStyle::Polling => format!("the main thread checks after each sleep of {POLL_PAUSE}: {sleep}"),
        JoinStyle::Single => {
            format!("one thread does one portion: nothing waits, so no timer shows{}", turns(1))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ask::{ask, setting};
    use crate::machines::load;
    use crate::session::Laboratory;

    fn on_machine(machine: &str, set: &[&str], subject: &str) -> (Laboratory, Question) {
        let set: Vec<String> = set.iter().map(|&change| change.to_owned()).collect();
        let question = Question { count: 20, ..Question::of(subject.parse().unwrap()) };
        (load(machine, &set, 1).unwrap_or_else(|error| panic!("{error}")), question)
    }

    fn rule_of(lab: &Laboratory, question: &Question) -> String {
        let answer = ask(lab, question).unwrap_or_else(|error| panic!("{error}"));
        answer.rule().unwrap_or_else(|| panic!("{} without a rule", question.subject)).to_owned()
    }

    #[test]
    fn every_kind_of_question_has_a_rule_on_every_model() {
        for machine in crate::machines::names() {
            let platform = oversleep_model::platform(machine, &[], 1).unwrap();
            let clock = platform.reference_clock();
            let mut subjects = vec![
                "sleep(1ms)".to_owned(),
                format!("cost({clock})"),
                format!("step({clock})"),
                format!("shows({clock})"),
                "forkjoin(single)".to_owned(),
                "forkjoin(blocked)".to_owned(),
                "forkjoin(spinning)".to_owned(),
                "forkjoin(polling)".to_owned(),
                "forkjoin(blocked, coarse)".to_owned(),
            ];
            if machine.starts_with("windows") {
                subjects.push("resolution()".to_owned());
            }
            // On these machines, no clock of elapsed time has steps long enough to show.
            if machine.starts_with("macos") || machine == "wsl1" {
                subjects.retain(|subject| !subject.contains("coarse"));
            }
            for subject in subjects {
                let (_, question) = on_machine(machine, &[], &subject);
                assert!(of(&platform, &question).is_some_and(|rule| rule.len() > 20), "{machine} {subject}");
            }
        }
    }

    #[test]
    fn the_rule_names_the_grant_and_whose_request_won() {
        let (lab, mut question) = on_machine("windows-10-2004", &[], "resolution()");
        assert!(rule_of(&lab, &question).starts_with("no process requests a shorter period than the default, 15.6"));
        question.neighbours = vec![setting("2ms").unwrap()];
        assert!(
            rule_of(&lab, &question)
                .starts_with("the shortest period that any process requests is in effect, 2 ms now")
        );
        question.conditions = question.conditions.with("resolution", setting("501.3us").unwrap());
        let rule = rule_of(&lab, &question);
        assert!(rule.contains("in effect, 500 µs now") || rule.contains("in effect, 500.4 µs now"), "{rule}");
        assert!(rule.contains("multiple of 1.28 µs"), "{rule}");
    }

    #[test]
    fn the_rule_names_a_hidden_window_and_a_coarse_clock() {
        let (lab, mut question) = on_machine("windows-11", &["window-hidden=true"], "sleep(1ms)");
        assert!(!rule_of(&lab, &question).contains("window"), "it requests nothing");
        question.conditions = question.conditions.with("resolution", setting("1ms").unwrap());
        assert!(rule_of(&lab, &question).contains("is ignored while its window is hidden"));
        let opted_out = question.conditions.clone().with("power-throttling", setting("off").unwrap());
        assert!(!rule_of(&lab, &Question { conditions: opted_out, ..question }).contains("window"));
        let (lab, mut question) = on_machine("windows-11", &[], "sleep(1ms)");
        assert!(!rule_of(&lab, &question).contains("timestamps"));
        question.clock = Some("get-tick-count-64".to_owned());
        let rule = rule_of(&lab, &question);
        assert!(rule.contains("the timestamps are those of get-tick-count-64") && rule.contains("15.6 ms"), "{rule}");
    }

    #[test]
    fn the_rule_names_turns_where_threads_outnumber_cpus() {
        let (pi, blocked) = on_machine("raspberry-pi-4", &[], "forkjoin(blocked)");
        assert!(rule_of(&pi, &blocked).ends_with("8 threads that compute take turns on 4 CPUs"));
        let (windows, spinning) = on_machine("windows-11", &[], "forkjoin(spinning)");
        assert!(!rule_of(&windows, &spinning).contains("turns"));
        let (windows, waits) = on_machine("windows-11", &[], "waitable-timer-high-resolution(1ms)");
        let loaded = Question { conditions: waits.conditions.clone().with_load("spin", 16), ..waits };
        let rule = rule_of(&windows, &loaded);
        assert!(rule.contains("17 threads share 16 CPUs") && rule.contains("slice of 31.2"), "{rule}");
        let (windows, single) = on_machine("windows-11", &[], "forkjoin(single)");
        let loaded = Question { conditions: single.conditions.clone().with_load("spin", 16), ..single };
        assert!(rule_of(&windows, &loaded).ends_with("17 threads that compute take turns on 16 CPUs"));
        let (windows, gives) = on_machine("windows-11", &[], "yield(switch-to-thread)");
        let loaded = Question { conditions: gives.conditions.clone().with_load("spin", 16), ..gives };
        assert!(rule_of(&windows, &loaded).contains("17 threads share 16 CPUs"));
    }

    #[test]
    fn the_rule_names_what_a_policy_does_under_load() {
        let rule_under = |machine: &str, policy: &str, hogs: u32| {
            let wait = if machine.starts_with("windows") { "sleep(1ms)" } else { "nanosleep(1ms)" };
            let (lab, question) = on_machine(machine, &[], wait);
            let conditions =
                question.conditions.clone().with("policy", setting(policy).unwrap()).with_load("spin", hogs);
            rule_of(&lab, &Question { conditions, ..question })
        };
        for (machine, policy, hogs, part) in [
            (
                "windows-11",
                "time-critical",
                32,
                "33 threads share 16 CPUs: it ranks above them and displaces one of them at once",
            ),
            (
                "windows-11",
                "lowest",
                16,
                "it ranks below them, so it gets a slice only after waiting for 4 s (the system checks every 1 s)",
            ),
            ("linux-hz250", "fifo:50", 8, "it ranks above them"),
            ("linux-hz250", "other:0", 8, "protected until their slice of 2.1 ms ends, at a tick (4 ms each)"),
            ("linux-hz250", "other:19", 8, "its weight is 15 against a plain thread's 1024"),
            ("linux-hz250", "batch:0", 8, "a thread of this policy displaces no other by waking up"),
            ("linux-hz250", "idle:0", 8, "its weight is 3 against a plain thread's 1024"),
            ("wsl2", "other:0", 8, "credited 9 ms and displaces one that has had 3 ms more than it"),
            ("macos-14-m1", "time-constraint:0", 16, "it ranks above them"),
            ("macos-14-m1", "other:31", 16, "it runs at once while it has had less than its share"),
            ("macos-14-m1", "fifo:31", 16, "divided by 8, at most 1 ms (tier-0)"),
        ] {
            let rule = rule_under(machine, policy, hogs);
            assert!(rule.contains(part), "{machine} {policy}: {rule}");
        }
    }

    /// Rounding, the request that applies, and the held settings.
    #[test]
    fn the_rule_names_what_makes_the_figure() {
        let neighbour = |question: (Laboratory, Question), setting: &str| {
            (question.0, Question { neighbours: vec![super::super::setting(setting).unwrap()], ..question.1 })
        };
        let holding = |question: (Laboratory, Question), setting: &str| {
            let conditions = question.1.conditions.clone().with("resolution", super::super::setting(setting).unwrap());
            (question.0, Question { conditions, ..question.1 })
        };
        let hidden = &["window-hidden=true"][..];
        for ((lab, question), part) in [
            (on_machine("linux-hz250", &[], "poll(300us)"), "the call takes whole milliseconds: 300 µs becomes 1 ms"),
            (
                on_machine("linux-hz250", &[], "select(1500ns)"),
                "the call takes whole microseconds: 1.5 µs becomes 2 µs",
            ),
            (holding(on_machine("windows-11", &[], "sleep(1500us)"), "1ms"), "whole milliseconds: 1.5 ms becomes 2 ms"),
            (holding(on_machine("windows-11", &[], "sleep(1ms)"), "1ms"), "every 1 ms, as this process requests"),
            (on_machine("windows-11", &[], "time-set-event(1ms)"), "every 1 ms, as this process requests"),
            (on_machine("windows-11", hidden, "time-set-event(1ms)"), "is ignored while its window is hidden"),
            (
                neighbour(on_machine("windows-7", &[], "sleep(1ms)"), "2ms"),
                "every 2 ms because another process requests",
            ),
            (
                neighbour(on_machine("windows-11", &[], "sleep(1ms)"), "10ms"),
                "every 10 ms because another process requests",
            ),
            (
                neighbour(on_machine("windows-11", &[], "sleep(1ms)"), "5ms"),
                "served only at every 3rd one, once every 15 ms in the mean; beside a neighbour",
            ),
            (neighbour(on_machine("linux-hz250", &[], "sleep(1ms)"), "1ms"), "slack belongs to each thread here"),
            (on_machine("linux-hz250", &[], "resolution()"), "timer slack is each thread's own, 50 µs for a new one"),
            (on_machine("linux-hz250", &[], "so-rcvtimeo(300ms)"), "in steps of 32 ms"),
            (
                on_machine("linux-hz250", &[], "step(monotonic-coarse)"),
                "steps of 4 ms, the period of the kernel's tick",
            ),
            (on_machine("windows-11", &[], "step(get-tick-count-64)"), "whatever resolution is held"),
            (on_machine("linux-hz250", &[], "step(monotonic)"), "finer than a read, so the step is what a read takes"),
        ] {
            let rule = rule_of(&lab, &question);
            assert!(rule.contains(part), "{}: {rule}", question.subject);
        }
        // Its counter has 19.2 MHz: a step takes longer than a read.
        let (lab, coarser) = on_machine("android-phone", &[], "step(monotonic)");
        assert_eq!(rule_of(&lab, &coarser), "it follows elapsed time");
        let (lab, plain) = on_machine("linux-hz250", &[], "nanosleep(300us)");
        let rule = rule_of(&lab, &plain);
        assert!(!rule.contains("takes") && !rule.contains("each thread"), "{rule}");
    }
}
