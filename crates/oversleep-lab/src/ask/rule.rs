//! The rule behind an answer, in a sentence, as it is while the conditions are held. Only models know theirs.

use oversleep_record::Nanos;
use oversleep_record::conditions::LoadSpec;
use oversleep_record::label::JoinStyle;

use super::answer::hold;
use super::calls::plainest;
use super::question::{Question, Subject};
use oversleep_measure::find_wait;
use oversleep_system::{Clock, Family, Platform, Scope, WaitInfo};

/// Threads of a fork-join, as experiment D1 has them.
const FORKED: usize = 8;

/// The sleep between two looks of a main thread that polls.
const POLLED: Nanos = Nanos(1_000_000);

/// A clock that moves by more than this shows a wait in its steps.
const COARSE_STEP: Nanos = Nanos(1_000);

/// The rule by which that question is answered there now.
pub(super) fn of(platform: &dyn Platform, question: &Question) -> Option<String> {
    let _held = hold(platform, question);
    let loads = question.conditions.load.iter();
    let _loads: Vec<_> = loads.filter_map(|load| platform.load(&load.kind)?.start(load.hogs).ok()).collect();
    match &question.subject {
        Subject::Wait { name, request } => {
            let wait = find_wait(platform, name).or_else(|| plainest(platform))?;
            let wait = wait.rule(*request).or_else(|| of_spinning(platform, wait.info()))?;
            Some(wait + &of_stamps(platform, question.clock.as_deref()) + &of_neighbours(platform, question))
        }
        Subject::Yield { name } => platform.wait(name)?.rule(Nanos::ZERO),
        Subject::Step { clock } | Subject::Shows { clock } => platform.clock(clock)?.rule(),
        Subject::Resolution => platform.resolution_tunable()?.rule(),
        // A clock that knows how it moves is a modelled one.
        Subject::Cost { clock } => platform.clock(clock)?.rule().map(|_| {
            "no rule computes it: what a read takes is a figure of the profile, which names its source".to_owned()
        }),
        Subject::ForkJoin { .. } if question.clock.is_some() => {
            let clock = platform.clock(question.clock.as_deref()?)?;
            Some(format!("the fork-join is timed by {}: {}", clock.info().name, clock.rule()?))
        }
        Subject::ForkJoin { coarse: true, .. } => {
            let is_coarse = |clock: &&dyn Clock| clock.stated_step_ns().is_some_and(oversleep_record::clock::is_coarse);
            let clock = platform.clocks().iter().map(AsRef::as_ref).find(is_coarse)?;
            Some(format!("the fork-join is timed by {}: {}", clock.info().name, clock.rule()?))
        }
        Subject::ForkJoin { style, .. } => {
            of_fork_join(platform, *style, computing(question), &plainest(platform)?.rule(POLLED)?)
        }
    }
}

/// The waits that look at the clock themselves. A clock that knows how it moves is a modelled one.
fn of_spinning(platform: &dyn Platform, info: &WaitInfo) -> Option<String> {
    platform.clock(platform.reference_clock())?.rule()?;
    let is_own = info.family == Family::Spin;
    is_own.then(|| {
        format!("no timer ends it: the thread looks at the clock itself ({}), and takes the CPU for that", info.call)
    })
}

/// That neighbours are of no account, where what they hold is a thread's own.
fn of_neighbours(platform: &dyn Platform, question: &Question) -> String {
    let own = platform.resolution_tunable().filter(|tunable| tunable.info().scope == Scope::Thread);
    match own {
        Some(tunable) if !question.neighbours.is_empty() => format!(
            "; {} is each thread's own here: what another process holds of it reaches nobody else",
            tunable.info().name
        ),
        _ => String::new(),
    }
}

/// What a clock that moves in steps makes of the spans it stamps.
fn of_stamps(platform: &dyn Platform, clock: Option<&str>) -> String {
    let of = |name: &str| {
        let clock = platform.clock(name)?;
        let rule = clock.rule().filter(|_| clock.stated_step_ns().is_some_and(|step| step >= COARSE_STEP))?;
        Some(format!(
            "; the stamps are those of {name}, and {rule}: whatever passed shows as a multiple of its steps, 0 included"
        ))
    };
    clock.and_then(of).unwrap_or_default()
}

/// Threads of a load that compute without a pause.
fn computing(question: &Question) -> usize {
    let endless = |load: &&LoadSpec| matches!(load.kind.as_str(), "spin" | "syscalls");
    question.conditions.load.iter().filter(endless).map(|load| load.hogs as usize).sum()
}

fn of_fork_join(platform: &dyn Platform, style: JoinStyle, hogs: usize, sleep: &str) -> Option<String> {
    let cpus = platform.cpus().len();
    let turns = |own: usize| match own + hogs {
        threads if threads > cpus => format!("; {threads} threads that compute take turns on {cpus} CPUs"),
        _ => String::new(),
    };
    match style {
        JoinStyle::Blocked => Some(format!(
            "the last thread that ends wakes the main thread, which takes a wake-up and no tick: it is the longest portion of \
             work, plus starting the threads{}",
            turns(FORKED)
        )),
        JoinStyle::Spinning => Some(format!(
            "the main thread looks all the time, so it sees the last thread end at once, and takes a CPU meanwhile{}",
            turns(FORKED + 1)
        )),
        JoinStyle::Polling => Some(format!("the main thread looks after each sleep of 1 ms: {sleep}")),
        JoinStyle::Single => {
            Some(format!("one thread does all portions in turn: nothing waits, so no timer can show in it{}", turns(1)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ask::{ask, setting};
    use crate::machines::load;

    fn asked(machine: &str, set: &[&str], subject: &str) -> (crate::session::Laboratory, Question) {
        let set: Vec<String> = set.iter().map(|&change| change.to_owned()).collect();
        let question = Question { count: 20, ..Question::of(subject.parse().unwrap()) };
        (load(machine, &set, 1).unwrap_or_else(|error| panic!("{error}")), question)
    }

    fn rule(lab: &crate::session::Laboratory, question: &Question) -> String {
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
            if machine.starts_with("macos") {
                subjects.retain(|subject| !subject.contains("coarse"));
            }
            for subject in subjects {
                let (_, question) = asked(machine, &[], &subject);
                assert!(of(&*platform, &question).is_some_and(|rule| rule.len() > 20), "{machine} {subject}");
            }
        }
    }

    #[test]
    fn a_grant_and_who_won_it_are_said() {
        let (lab, mut question) = asked("windows-10-2004", &[], "resolution()");
        assert!(rule(&lab, &question).starts_with("no process asks for a shorter period than the default, 15.6"));
        question.neighbours = vec![setting("2ms").unwrap()];
        assert!(rule(&lab, &question).starts_with("the shortest period that any process asks for holds, 2 ms now"));
        question.conditions = question.conditions.with("resolution", setting("501.3us").unwrap());
        let said = rule(&lab, &question);
        assert!(said.contains("holds, 500 µs now") || said.contains("holds, 500.4 µs now"), "{said}");
        assert!(said.contains("multiple of 1.28 µs"), "{said}");
    }

    #[test]
    fn a_hidden_window_and_a_coarse_clock_are_said() {
        let (lab, mut question) = asked("windows-11", &["window-hidden=true"], "sleep(1ms)");
        assert!(!rule(&lab, &question).contains("window"), "nothing was asked for");
        question.conditions = question.conditions.with("resolution", setting("1ms").unwrap());
        assert!(rule(&lab, &question).contains("is ignored while its window can't be seen"));
        let opted_out = question.conditions.clone().with("power-throttling", setting("off").unwrap());
        assert!(!rule(&lab, &Question { conditions: opted_out, ..question }).contains("window"));
        let (lab, mut question) = asked("windows-11", &[], "sleep(1ms)");
        assert!(!rule(&lab, &question).contains("stamps"));
        question.clock = Some("get-tick-count-64".to_owned());
        let said = rule(&lab, &question);
        assert!(said.contains("the stamps are those of get-tick-count-64") && said.contains("15.6 ms"), "{said}");
    }

    #[test]
    fn turns_are_said_where_threads_outnumber_cpus() {
        let (pi, blocked) = asked("raspberry-pi-4", &[], "forkjoin(blocked)");
        assert!(rule(&pi, &blocked).ends_with("8 threads that compute take turns on 4 CPUs"));
        let (windows, spinning) = asked("windows-11", &[], "forkjoin(spinning)");
        assert!(!rule(&windows, &spinning).contains("turns"));
        let (windows, waits) = asked("windows-11", &[], "waitable-timer-high-resolution(1ms)");
        let loaded = Question { conditions: waits.conditions.clone().with_load("spin", 16), ..waits };
        let said = rule(&windows, &loaded);
        assert!(said.contains("17 threads share 16 CPUs") && said.contains("slice of 31.2"), "{said}");
        let (windows, single) = asked("windows-11", &[], "forkjoin(single)");
        let loaded = Question { conditions: single.conditions.clone().with_load("spin", 16), ..single };
        assert!(rule(&windows, &loaded).ends_with("17 threads that compute take turns on 16 CPUs"));
        let (windows, gives) = asked("windows-11", &[], "yield(switch-to-thread)");
        let loaded = Question { conditions: gives.conditions.clone().with_load("spin", 16), ..gives };
        assert!(rule(&windows, &loaded).contains("17 threads share 16 CPUs"));
    }

    #[test]
    fn what_a_policy_does_beside_a_load_is_said() {
        let said = |machine: &str, policy: &str, hogs: u32| {
            let wait = if machine.starts_with("windows") { "sleep(1ms)" } else { "nanosleep(1ms)" };
            let (lab, question) = asked(machine, &[], wait);
            let conditions =
                question.conditions.clone().with("policy", setting(policy).unwrap()).with_load("spin", hogs);
            rule(&lab, &Question { conditions, ..question })
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
                "it ranks below them, so it has a slice when it has waited for 4 s (looked at every 1 s)",
            ),
            ("linux-hz250", "fifo:50", 8, "it ranks above them"),
            ("linux-hz250", "other:0", 8, "protected until its slice of 2.1 ms is over, at a tick (4 ms each)"),
            ("linux-hz250", "other:19", 8, "it weighs 15 against 1024"),
            ("linux-hz250", "batch:0", 8, "a thread of this policy displaces none by waking up"),
            ("linux-hz250", "idle:0", 8, "it weighs 3 against 1024"),
            ("wsl2", "other:0", 8, "credited 9 ms, and displaces one that has had more than it by 3 ms"),
            ("macos-14-m1", "time-constraint:0", 16, "it ranks above them"),
            ("macos-14-m1", "other:31", 16, "it runs at once while it has had less than its share"),
            ("macos-14-m1", "fifo:31", 16, "divided by 8, at most 1 ms (tier-0)"),
        ] {
            let said = said(machine, policy, hogs);
            assert!(said.contains(part), "{machine} {policy}: {said}");
        }
    }

    /// Every sentence names what makes its figure: rounding, whose request, what is held while it waits.
    #[test]
    fn what_makes_the_figure_is_said() {
        let neighbour = |asked: (crate::session::Laboratory, Question), setting: &str| {
            (asked.0, Question { neighbours: vec![super::super::setting(setting).unwrap()], ..asked.1 })
        };
        let holding = |asked: (crate::session::Laboratory, Question), setting: &str| {
            let conditions = asked.1.conditions.clone().with("resolution", super::super::setting(setting).unwrap());
            (asked.0, Question { conditions, ..asked.1 })
        };
        let hidden = &["window-hidden=true"][..];
        for ((lab, question), says) in [
            (asked("linux-hz250", &[], "poll(300us)"), "the call takes whole milliseconds: 300 µs is 1 ms"),
            (asked("linux-hz250", &[], "select(1500ns)"), "the call takes whole microseconds: 1.5 µs is 2 µs"),
            (holding(asked("windows-11", &[], "sleep(1500us)"), "1ms"), "whole milliseconds: 1.5 ms is 2 ms"),
            (holding(asked("windows-11", &[], "sleep(1ms)"), "1ms"), "every 1 ms, as this process asks"),
            (asked("windows-11", &[], "time-set-event(1ms)"), "every 1 ms, as this process asks"),
            (asked("windows-11", hidden, "time-set-event(1ms)"), "is ignored while its window can't be seen"),
            (neighbour(asked("windows-7", &[], "sleep(1ms)"), "2ms"), "every 2 ms because another process asks"),
            (neighbour(asked("windows-11", &[], "sleep(1ms)"), "10ms"), "every 10 ms because another process asks"),
            (neighbour(asked("windows-11", &[], "sleep(1ms)"), "5ms"), "every 3rd only, each 15 ms; of neighbours"),
            (neighbour(asked("linux-hz250", &[], "sleep(1ms)"), "1ms"), "slack is each thread's own here"),
            (asked("linux-hz250", &[], "resolution()"), "timer slack is each thread's own, 50 µs for a new one"),
            (asked("linux-hz250", &[], "so-rcvtimeo(300ms)"), "in steps of 32 ms"),
            (asked("linux-hz250", &[], "step(monotonic-coarse)"), "steps of 4 ms, the period of the kernel's tick"),
            (asked("windows-11", &[], "step(get-tick-count-64)"), "whatever resolution is held"),
        ] {
            let said = rule(&lab, &question);
            assert!(said.contains(says), "{}: {said}", question.subject);
        }
        let (lab, plain) = asked("linux-hz250", &[], "nanosleep(300us)");
        let said = rule(&lab, &plain);
        assert!(!said.contains("takes") && !said.contains("own here"), "{said}");
    }
}
