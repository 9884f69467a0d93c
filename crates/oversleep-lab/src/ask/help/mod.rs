//! What would make a late wait end closer to its time on a modelled machine: each candidate is tried there.

use std::fmt;

use oversleep_record::Nanos;
use oversleep_record::series::Pace;
use oversleep_system::runtime_calls::{CallWait, Host, Record, Rule, can_call_library, version_named};
use oversleep_system::waits::SLEEP_UNTIL;
use oversleep_system::{Clock, Platform};

use super::answer::{Answer, Meaning};
use super::calls::of_runtime;
use super::candidates::{finer, is_sleep, newer, of_system, other_calls};
use super::measured::ask;
use super::question::{Question, Subject};
use super::versions::is_same;
use crate::session::Laboratory;

/// What helps, and what the call took with it.
#[derive(Clone, Debug, PartialEq)]
pub struct Help {
    /// What to do, with the call.
    pub what: String,
    /// The median with it, ns.
    pub p50_ns: f64,
    /// What that is.
    pub meaning: Meaning,
    /// By how much the earliest ended before its time, if one did. A wait that ends at a tick may do so on some systems.
    pub early: Option<Nanos>,
}

impl fmt::Display for Help {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.what, self.meaning.words(self.p50_ns))?;
        match self.early {
            Some(early) => write!(f, ", at times {early} early"),
            None => Ok(()),
        }
    }
}

/// A wait that is less late than this, or than a tenth of its request, needs no help.
const LATE_NS: f64 = 20_000.0;
/// What doesn't take away a quarter of the lateness is no help.
const WORTHWHILE: f64 = 0.75;
/// A wait that is early by less ended on time: clocks are read one after the other.
const EARLY_NS: f64 = 1_000.0;

/// What would make that wait end closer to its time: a setting, another sleep of the runtime or of the system, a newer
/// version of the runtime, and the library's sleep, each if it helps; where none does alone, each under a setting. Nothing
/// for a real machine, where trying takes real time, and for a wait that is on time.
///
/// # Errors
/// Why nothing helps a wait that is late.
pub fn helps(machine: &Laboratory, question: &Question, answer: &Answer) -> Result<Vec<Help>, String> {
    let Subject::Wait { name, request } = &question.subject else { return Ok(Vec::new()) };
    let platform = machine.platform();
    let requested_ns = request.0 as f64;
    let usual = Question::of(question.subject.clone()).pace.unwrap_or(Pace::BackToBack);
    let is_usual = question.pace.unwrap_or(Pace::BackToBack) == usual;
    // A call at a fixed rate has deadlines, whose lateness is the answer.
    let on_time_ns = if answer.meaning() == Meaning::Lateness { 0.0 } else { requested_ns };
    let late_ns = answer.quantile_ns(0.5) - on_time_ns;
    if platform.id().modelled.is_none() || !is_usual || late_ns < LATE_NS.max(requested_ns / 10.0) {
        return Ok(Vec::new());
    }
    let call = of_runtime(machine, name).ok().flatten().map(CallWait::record);
    // The version that is meant; without one, it is the newest of those that the record is about.
    let version = machine.version.clone().or_else(|| version_named(name, call?));
    // By its name among waits, the call is that of its version wherever it is asked.
    let name = &call.map_or_else(|| name.clone(), Record::wait_name);
    let question = &Question { subject: Subject::Wait { name: name.clone(), request: *request }, ..question.clone() };
    // A newer version of a runtime may be asked, too.
    let any_version = Laboratory::on(machine.platform.clone());
    let with = |what: &str, question: &Question| {
        let answer = ask(&any_version, question).ok()?;
        let (p50_ns, early_ns) = (answer.quantile_ns(0.5), on_time_ns - answer.min_ns());
        let is_better = (p50_ns - on_time_ns).abs() <= late_ns * WORTHWHILE;
        let early = (early_ns >= EARLY_NS).then_some(Nanos(early_ns as i64));
        is_better.then_some(Help { what: what.to_owned(), p50_ns, meaning: answer.meaning(), early })
    };
    let instead = |what: &str, name: &str, question: &Question| {
        let subject = Subject::Wait { name: name.to_owned(), request: *request };
        with(what, &Question { subject, ..question.clone() })
    };
    let others = match call {
        Some(record) => other_calls(platform, record, version.as_ref()),
        None => of_system(platform, name),
    };
    // The library's sleep stands for nothing but a sleep: not for an event loop, nor for a wait for something besides.
    let may_block = call.map_or(!others.is_empty(), |record| is_sleep(record) && can_call_library(record.family()));
    let newer = call.and_then(|call| newer(&Host::of(platform), call));
    // What replaces the call, under the conditions of a question.
    let replacements = |under: &str, question: &Question| -> Vec<Help> {
        let tried = others.iter().filter_map(|other| Some((other, instead(&other.call, &other.wait, question)?)));
        let best = tried.min_by(|(_, one), (_, other)| one.p50_ns.total_cmp(&other.p50_ns));
        let best = best.map(|(other, help)| {
            let is_as_good =
                |name: &str| instead("", name, question).is_some_and(|older| is_same(older.p50_ns, help.p50_ns));
            Help { what: format!("{}{under}", other.words(is_as_good)), ..help }
        });
        let newer = newer.as_ref().and_then(|(what, name)| instead(&format!("{what}{under}"), name, question));
        let library = format!("this project's library, which spins at the end ({}){under}", SLEEP_UNTIL.name);
        let library = may_block.then(|| instead(&library, SLEEP_UNTIL.name, question)).flatten();
        [best, newer, library].into_iter().flatten().collect()
    };
    let settings = finer(platform, question);
    // The first setting that helps needs the least power.
    let mut all: Vec<Help> = settings.iter().find_map(|(what, question)| with(what, question)).into_iter().collect();
    all.extend(replacements("", question));
    if all.is_empty() {
        let under = |(setting, finer): &(String, Question)| replacements(&format!(", under {setting}"), finer);
        all = settings.iter().map(under).find(|helps| !helps.is_empty()).unwrap_or_default();
    }
    if all.is_empty() { Err(why_nothing(platform, question, call)) } else { Ok(all) }
}

/// The least step of a clock that puts off the end of a wait that looks at it.
const COARSE: Nanos = Nanos::from_micros(100);

/// Why nothing makes that wait end closer to its time.
fn why_nothing(platform: &dyn Platform, question: &Question, call: Option<&Record>) -> String {
    let Some(record) = call else {
        return "no setting and no other sleep or timer of this system ends closer to the time".to_owned();
    };
    let runtime = &record.runtime;
    if record.least_ms > 0 || record.grid_ms > 0 {
        return format!("{runtime} itself puts the end off, and the system's timers have no part in that");
    }
    let is_otherwise = platform.wait(&record.wait).is_none();
    let moves_in_steps = |clock: &&dyn Clock| clock.stated_step_ns().is_some_and(|step| step >= COARSE);
    if let Some(clock) = record.due_by(platform, is_otherwise).filter(moves_in_steps) {
        let call = clock.info().call;
        return format!(
            "{runtime} waits until {call} shows that the span has passed, and no setting makes that clock finer"
        );
    }
    let passes = record.passes(|name| platform.wait(name).is_some());
    let makes_more = match &question.subject {
        Subject::Wait { request, .. } => passes.span(*request, Nanos::ZERO) > *request,
        _ => false,
    };
    let beneath = platform.wait(passes.wait).map_or(passes.wait, |wait| wait.info().call);
    if makes_more || passes.rounds == Rule::RoundsUpToGrid {
        let clause = passes.rounds.clause();
        return format!("{runtime} calls {beneath}{clause}, and no record knows a better call of it for such a wait");
    }
    format!(
        "{beneath} is as late with every setting of this machine, and no record knows a call of {runtime} for such a wait \
         that ends closer to its time"
    )
}

#[cfg(test)]
mod tests {
    use oversleep_model::platform;
    use oversleep_system::runtime_calls;

    use super::*;

    fn helped(machine: &str, text: &str) -> Vec<Help> {
        let lab = Laboratory::on(platform(machine, &[], 1).expect("a machine"));
        let question = Question::of(text.parse().expect("a question"));
        let answer = ask(&lab, &question).unwrap_or_else(|error| panic!("{error}"));
        helps(&lab, &question, &answer).unwrap_or_default()
    }

    fn texts(machine: &str, text: &str) -> Vec<String> {
        helped(machine, text).into_iter().map(|help| help.what).collect()
    }

    #[test]
    fn each_late_wait_has_its_cure() {
        let of_windows = texts("windows-11", "Sleep(1ms)");
        assert!(of_windows[0].starts_with("resolution 1 ms (NtSetTimerResolution)"), "{of_windows:?}");
        assert!(of_windows[1].contains("HIGH_RESOLUTION"), "{of_windows:?}");
        assert!(of_windows[2].contains("library"), "{of_windows:?}");
        let of_java = texts("windows-11", "parkNanos(1ms)");
        // Those before 21 gain the same.
        assert_eq!(of_java[1], "Thread.sleep, where nothing has to wake the thread earlier");
    }

    /// A first version is named where a source says that it is one and those before gain less.
    #[test]
    fn a_first_version_is_named_only_where_those_before_gain_less() {
        let of_go = texts("linux-hz250", "time.Sleep(300us)");
        assert!(of_go.iter().all(|help| !help.contains("(from ")), "it was measured in that version alone: {of_go:?}");
        let of_python = texts("linux-hz250", "asyncio.sleep(300us)");
        assert!(of_python.iter().any(|help| help.starts_with("time.sleep, as await")), "{of_python:?}");
        for machine in oversleep_model::names() {
            let lab = Laboratory::on(platform(machine, &[], 1).expect("a machine"));
            let (os, host) = (lab.platform_id().os, Host::of(lab.platform()));
            let its = runtime_calls::all().iter().filter(|one| one.system == os && host.runs(one));
            for record in its.filter(|one| matches!(one.family(), "java" | "python" | "go" | "rust")) {
                for help in texts(machine, &format!("{}(1ms)", record.wait_name())) {
                    let named =
                        help.split_once(" (from ").and_then(|(call, rest)| Some((call, rest.split_once(')')?.0)));
                    let Some((call, from)) = named else { continue };
                    let from = from.parse().ok();
                    let is_its = |one: &&Record| one.names[0] == call && one.from == from && one.system == os;
                    let is_sourced = |one: &&Record| one.evidence == runtime_calls::Evidence::Published;
                    assert!(
                        runtime_calls::all().iter().filter(is_sourced).any(|one| is_its(&one)),
                        "{machine}: {help}"
                    );
                }
            }
        }
    }

    #[test]
    fn a_program_of_the_system_gets_no_call_of_a_language() {
        for machine in oversleep_model::names() {
            for help in helped(machine, "sleep(1ms)") {
                assert!(!help.what.contains("::"), "{machine}: {}", help.what);
            }
        }
        let beside = |text: &str| {
            let lab = Laboratory::on(platform("windows-10-1909", &[], 1).expect("a machine"));
            let neighbours = vec![crate::ask::setting("1ms").expect("a setting")];
            let question = Question { neighbours, ..Question::of(text.parse().expect("a question")) };
            let answer = ask(&lab, &question).unwrap_or_else(|error| panic!("{error}"));
            helps(&lab, &question, &answer).unwrap_or_default()
        };
        assert!(beside("Sleep(1)").iter().all(|help| !help.what.contains("std::thread")), "{:?}", beside("Sleep(1)"));
    }

    #[test]
    fn every_help_of_every_call_is_better_and_of_its_own_language_on_every_machine() {
        let (mut questions, mut helped) = (0, 0);
        for machine in oversleep_model::names() {
            let lab = Laboratory::on(platform(machine, &[], 1).expect("a machine"));
            let os = lab.platform_id().os;
            let host = Host::of(lab.platform());
            for record in runtime_calls::all().iter().filter(|record| record.system == os && host.runs(record)) {
                let subject = Subject::Wait { name: record.wait_name(), request: Nanos::from_millis(1) };
                let question = Question { count: 6, ..Question::of(subject) };
                let Ok(answer) = ask(&lab, &question) else { continue };
                questions += 1;
                let advice = helps(&lab, &question, &answer);
                let late_ns = answer.quantile_ns(0.5) - if answer.meaning() == Meaning::Lateness { 0.0 } else { 1e6 };
                match &advice {
                    Ok(helps) => assert!(late_ns <= 2e6 || !helps.is_empty(), "{machine} {}", record.wait_name()),
                    Err(why) => assert!(why.len() > 20, "{machine} {}: {why}", record.wait_name()),
                }
                for help in advice.unwrap_or_default() {
                    let what = format!("{machine} {}: {}", record.wait_name(), help.what);
                    assert!(help.p50_ns < answer.quantile_ns(0.5), "{what}");
                    let call = help.what.split([',', ' ']).next().unwrap_or_default();
                    assert!(runtime_calls::call(call).is_none_or(|call| !call.internal), "{what}: nobody can call it");
                    let is_its =
                        |one: &Record| one.family() == record.family() && one.names.iter().any(|name| name == call);
                    let is_setting = lab.platform().tunable(call).is_some();
                    let is_library = help.what.contains(SLEEP_UNTIL.name) && can_call_library(record.family());
                    assert!(is_setting || is_library || runtime_calls::all().iter().any(is_its), "{what}");
                    helped += 1;
                }
            }
        }
        assert!(questions > 1_500 && helped > 500, "{questions} {helped}");
    }

    #[test]
    fn what_helps_a_named_version_is_tried_on_that_version() {
        let lab = Laboratory::on(platform("windows-11", &[], 1).expect("a machine"));
        for (text, version, setting) in [("Task.Delay(1)", "6", None), ("time.sleep(1ms)", "3.10", Some(2e6))] {
            let of_version = lab.clone().of_version(Some(version.parse().expect("a version")));
            let question = Question::of(text.parse().expect("a question"));
            let answer = ask(&of_version, &question).unwrap_or_else(|error| panic!("{error}"));
            let helps = helps(&of_version, &question, &answer).unwrap_or_default();
            let tried = helps.iter().find(|help| help.what.starts_with("resolution")).map(|help| help.p50_ns);
            let is_it = tried.zip(setting).map_or(tried == setting, |(one, other)| (one - other).abs() < 20_000.0);
            assert!(is_it, "{text} of {version}: {helps:?}");
        }
    }

    #[test]
    fn an_early_end_is_said_and_no_reason_to_say_nothing() {
        for machine in ["windows-7", "windows-8.1"] {
            let of_game = texts(machine, "Sleep(1)");
            assert!(of_game[0].starts_with("resolution 1 ms"), "{machine}: {of_game:?}");
            let of_dotnet = texts(machine, "Thread.Sleep(1)");
            assert!(of_dotnet[0].starts_with("resolution 1 ms"), "{machine}: {of_dotnet:?}");
        }
    }

    #[test]
    fn where_nothing_helps_the_reason_is_said() {
        let why = |machine: &str, text: &str| {
            let lab = Laboratory::on(platform(machine, &[], 1).expect("a machine"));
            let question = Question::of(text.parse().expect("a question"));
            let answer = ask(&lab, &question).unwrap_or_else(|error| panic!("{error}"));
            helps(&lab, &question, &answer).expect_err(text)
        };
        let of_browser = why("windows-11", "background.setTimeout(10ms)");
        assert!(of_browser.contains("itself puts the end off"), "{of_browser}");
        let of_tokio = why("linux-hz250", "tokio::time::sleep(1ms)");
        assert!(of_tokio.starts_with("tokio calls epoll_wait, its deadline rounded up"), "{of_tokio}");
        // A call that nothing is known of may exist.
        assert!(of_tokio.ends_with("and no record knows a better call of it for such a wait"), "{of_tokio}");
    }

    #[test]
    fn a_newer_version_under_a_setting_helps_where_neither_does_alone() {
        let of_dotnet = texts("windows-11", "Task.Delay@dotnet-3(1ms)");
        assert!(of_dotnet[0].starts_with("Task.Delay of .NET 7 and later, under resolution 1 ms"), "{of_dotnet:?}");
    }

    #[test]
    fn an_old_version_is_told_of_a_newer_one_that_is_better() {
        let of_python = texts("windows-11", "time.sleep@python-3.10(1ms)");
        assert!(of_python.contains(&"time.sleep of CPython since 3.11".to_owned()), "{of_python:?}");
        assert!(texts("windows-11", "time.sleep(20ms)").iter().all(|help| !help.contains("CPython")));
    }

    #[test]
    fn a_version_is_told_of_a_call_that_the_runtime_always_had() {
        for version in ["1.16", "1.22", "1.26"] {
            let of_go = texts("linux-hz250", &format!("time.Sleep@go-{version}(300us)"));
            assert!(of_go.iter().any(|help| help.starts_with("syscall.Nanosleep")), "{version}: {of_go:?}");
        }
    }

    #[test]
    fn no_version_is_advised_that_does_not_run_there() {
        for (machine, has) in [("windows-7", false), ("windows-10-1909", true)] {
            let of_python = texts(machine, "time.sleep@python-3.8(1ms)");
            let is_there = of_python.iter().any(|help| help.contains("CPython since 3.11"));
            assert!(!is_there || has, "{machine}: {of_python:?}");
        }
    }

    #[test]
    fn a_finer_resolution_is_tried_where_one_millisecond_is_held() {
        let lab = Laboratory::on(platform("windows-11", &[], 1).expect("a machine"));
        let conditions = oversleep_record::Conditions::as_found();
        let conditions = conditions.with("resolution", crate::ask::setting("1ms").expect("a setting"));
        let question = Question { conditions, ..Question::of("WaitForSingleObject(1)".parse().expect("a question")) };
        let answer = ask(&lab, &question).unwrap_or_else(|error| panic!("{error}"));
        let helps = helps(&lab, &question, &answer).expect("500 µs helps");
        assert!(helps[0].what.starts_with("resolution 500 µs"), "{helps:?}");
    }

    /// Advice for a version is of calls of that version, with their figures.
    #[test]
    fn no_other_version_s_figure_is_quoted() {
        for (version, is_of) in [("17", "java-14-to-20"), ("25", "java-21-and-later"), ("11", "java-8-to-11")] {
            let lab = Laboratory::on(platform("windows-10-2004", &[], 1).expect("a machine"));
            let of_version = lab.clone().of_version(Some(version.parse().expect("a version")));
            let question = Question { count: 50, ..Question::of("parkNanos(1ms)".parse().expect("a question")) };
            let answer = ask(&of_version, &question).unwrap_or_else(|error| panic!("{error}"));
            let found = helps(&of_version, &question, &answer).expect("something helps");
            let other = found.iter().find(|help| help.what.starts_with("Thread.sleep")).expect("the other sleep");
            assert!(!other.what.contains("(from "), "{other:?}");
            let its = format!("Thread.sleep@{is_of}(1ms)").parse().expect("a question");
            let its = ask(&lab, &Question { count: 50, ..Question::of(its) }).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(other.p50_ns, its.quantile_ns(0.5), "{version}");
        }
    }

    #[test]
    fn what_helps_a_timer_with_a_period_says_that_its_figure_is_a_lateness() {
        let of_timer = helped("windows-11", "PeriodicTimer(20ms)");
        assert!(of_timer.iter().all(|help| help.to_string().ends_with(" late")), "{of_timer:?}");
        assert!(helped("windows-11", "Sleep(1)").iter().all(|help| !help.to_string().ends_with(" late")));
    }

    #[test]
    fn a_wait_on_time_and_an_event_loop_get_no_blocking_sleep() {
        assert_eq!(texts("linux-hz250", "nanosleep(10ms)"), Vec::<String>::new());
        let of_loop = texts("windows-11", "asyncio.sleep(1ms)");
        let may_help = |help: &String| !help.contains("time.sleep") || help.contains("asyncio.to_thread");
        assert!(of_loop.iter().all(|help| may_help(help) && !help.contains("library")), "{of_loop:?}");
    }

    #[test]
    fn another_thread_waits_for_an_event_loop_where_its_language_can() {
        let of_new = texts("windows-11", "asyncio.sleep@python-3.13(1ms)");
        assert!(of_new.iter().any(|help| help.starts_with("time.sleep, as await asyncio.to_thread(")), "{of_new:?}");
        let of_old = texts("windows-11", "asyncio.sleep@python-3.8(1ms)");
        assert!(of_old.iter().all(|help| !help.contains("to_thread")), "{of_old:?}");
    }
}
