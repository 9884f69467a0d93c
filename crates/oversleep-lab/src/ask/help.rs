//! What would make a late wait end closer to its time on a modelled machine: each candidate is tried there.

use std::fmt;

use oversleep_record::conditions::Setting;
use oversleep_record::series::{Pace, Series};
use oversleep_record::{ExperimentId, Nanos, ResultFile, label};
use oversleep_system::runtime_calls::{self, CallWait, Evidence, Host, Record, Rule, Thread, can_call_library};
use oversleep_system::waits::SLEEP_UNTIL;
use oversleep_system::{Clock, Family, Platform, Wait, examples};

use super::answer::{Answer, Meaning};
use super::calls::of_runtime;
use super::measured::ask;
use super::question::{Question, Subject};
use crate::records::version_words;
use crate::session::Laboratory;

/// What helps, and what the call took with it.
#[derive(Clone, Debug, PartialEq)]
pub struct Help {
    /// What to do, with the call.
    pub what: String,
    /// The median with it, ns.
    pub p50_ns: f64,
}

impl fmt::Display for Help {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.what, Nanos(self.p50_ns as i64))
    }
}

/// A wait that is less late than this, or than a tenth of its request, needs no help.
const LATE_NS: f64 = 20_000.0;
/// What doesn't take away a quarter of the lateness is no help.
const WORTHWHILE: f64 = 0.75;
/// A wait that is early by less ended on time: clocks are read one after the other.
const EARLY_NS: f64 = 1_000.0;

/// What would make that wait end closer to its time: a setting, another sleep of the runtime or of the system, a newer
/// version of the runtime, and the library's sleep, each if it helps. Nothing for a real machine, where trying takes real
/// time, and for a wait that is on time.
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
    // By its name among waits, the call is that of its version wherever it is asked.
    let name = &call.map_or_else(|| name.clone(), Record::wait_name);
    let question = &Question { subject: Subject::Wait { name: name.clone(), request: *request }, ..question.clone() };
    // A newer version of a runtime may be asked, too.
    let any_version = Laboratory::on(machine.platform.clone());
    let with = |what: String, question: Question| {
        let answer = ask(&any_version, &question).ok()?;
        let (p50_ns, early_ns) = (answer.quantile_ns(0.5), on_time_ns - answer.min_ns());
        let is_better = (p50_ns - on_time_ns).abs() <= late_ns * WORTHWHILE;
        // A wait that ends at a tick may do so before its time on some systems, as it may without any help.
        let what = match early_ns >= EARLY_NS {
            true => format!("{what}, may end {} early", Nanos(early_ns as i64)),
            false => what,
        };
        is_better.then_some(Help { what, p50_ns })
    };
    let instead = |what: String, name: &str| {
        let subject = Subject::Wait { name: name.to_owned(), request: *request };
        with(what, Question { subject, ..question.clone() })
    };
    let others = match call {
        Some(record) => other_calls(platform, record),
        None => of_system(platform, name),
    };
    // The library's sleep stands for nothing but a sleep: not for an event loop, nor for a wait for something besides.
    let may_block = call.map_or(!others.is_empty(), |record| is_sleep(record) && can_call_library(record.family()));
    let others = others.into_iter().filter_map(|(what, name)| instead(what, &name));
    let best = others.min_by(|one, other| one.p50_ns.total_cmp(&other.p50_ns));
    let finer = finer(platform, question);
    let setting = finer.clone().and_then(|(what, question)| with(what, question));
    let library = may_block.then(|| {
        instead(format!("this project's library, which spins at the end ({})", SLEEP_UNTIL.name), SLEEP_UNTIL.name)
    });
    let newer = call.and_then(|call| newer(&Host::of(platform), call));
    let alone = newer.clone().and_then(|(what, name)| instead(what, &name));
    let mut all: Vec<Help> = [setting, best, alone, library.flatten()].into_iter().flatten().collect();
    // A newer version may be one that a setting helps.
    if let (true, Some((version, name)), Some((setting, finer))) = (all.is_empty(), newer, finer) {
        let subject = Subject::Wait { name, request: *request };
        all.extend(with(format!("{version}, under {setting}"), Question { subject, ..finer }));
    }
    if all.is_empty() { Err(why_nothing(platform, question, call)) } else { Ok(all) }
}

/// The request that advice in a result is about, if the result has it.
const ADVISED: Nanos = Nanos::from_millis(1);

/// Says in a result of `runtimes` on that modelled machine what helps each late call, by the label of its series, and
/// explains it again. Nothing happens to any other result.
pub fn advise(machine: &Laboratory, file: &mut ResultFile) {
    let os = file.platform.os.clone();
    let is_late =
        |series: &Series| series.experiment == ExperimentId::R1 && series.runtime.is_some() && series.has_values();
    let has_usual = file.series.iter().any(|series| is_late(series) && series.requested_ns == Some(ADVISED));
    let is_advised = |series: &Series| is_late(series) && (!has_usual || series.requested_ns == Some(ADVISED));
    let mut is_any = false;
    for series in file.series.iter_mut().filter(|series| is_advised(series)) {
        let runtime = series.runtime.as_ref().expect("it is of one");
        let record = runtime_calls::behind(&os, &runtime.name, &runtime.version, &series.subject);
        let fresh = record.and_then(|record| Some((record, machine.platform.restarted()?)));
        let Some((record, platform)) = fresh else { continue };
        if let Some(advice) = advice(&Laboratory::on(platform), record, series) {
            series.labels.set(label::ADVICE, advice);
            is_any = true;
        }
    }
    if is_any {
        file.findings = oversleep_explain::findings(file);
    }
}

/// What helps the call of that record, which took as long as in the series, in words. `None` if it needs no help.
fn advice(machine: &Laboratory, record: &Record, series: &Series) -> Option<String> {
    let subject = Subject::Wait { name: record.wait_name(), request: series.requested_ns? };
    let count = series.counts.recorded.max(1);
    let question = Question { count, conditions: series.conditions.clone(), ..Question::of(subject) };
    match helps(machine, &question, &Answer::of_series(series).ok()?) {
        Ok(all) if all.is_empty() => None,
        Ok(all) => Some(all.iter().map(Help::to_string).collect::<Vec<_>>().join("; ")),
        Err(why) => Some(format!("nothing: {why}")),
    }
}

/// The least step of a clock that puts off the end of a wait that looks at it.
const COARSE: Nanos = Nanos::from_micros(100);

/// Why nothing makes that wait end closer to its time.
fn why_nothing(platform: &dyn Platform, question: &Question, call: Option<&Record>) -> String {
    let Some(record) = call else {
        return "no setting and no other sleep or timer of this system ends nearer under these conditions".to_owned();
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
            "{runtime} waits until {call} shows that the span has passed, and nothing moves that clock sooner"
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
        return format!("{runtime} calls {beneath}{clause}, and has no other call for such a wait");
    }
    format!(
        "{beneath} ends so on this machine, no setting changes that, and {runtime} has no call for such a wait that ends \
         nearer"
    )
}

/// The setting that makes waits of this system finer, unless the question has it already.
fn finer(platform: &dyn Platform, question: &Question) -> Option<(String, Question)> {
    let id = platform.id();
    let (name, setting) = examples::of(&id.os, &id.arch)?.finer;
    let info = platform.tunable(name)?.info();
    if question.conditions.setting(name).is_some() {
        return None;
    }
    let setting: Setting = setting.parse().ok()?;
    let what = format!("{name} {setting} ({})", info.call);
    let conditions = question.conditions.clone().with(name, setting);
    Some((what, Question { conditions, ..question.clone() }))
}

fn is_sleep(record: &Record) -> bool {
    record.thread() != Thread::Serves
}

/// The other blocking sleeps of that runtime's version, if the call is one.
fn other_calls(platform: &dyn Platform, call: &Record) -> Vec<(String, String)> {
    if !is_sleep(call) {
        return Vec::new();
    }
    let (os, host) = (platform.id().os, Host::of(platform));
    let fits = |one: &&Record| {
        one.system == os
            && host.runs(one)
            && one.family() == call.family()
            && one.overlaps(call)
            && one.id != call.id
            && is_sleep(one)
            && one.is_public()
    };
    let named = |one: &Record| {
        // Some versions that the call is of may lack the other one.
        let since = match &one.from {
            Some(from) if one.from > call.from => format!(" (from {from})"),
            _ => String::new(),
        };
        let what = match call.thread() == Thread::Parks && one.thread() != Thread::Parks {
            true => format!("{}{since}, where nothing has to wake the thread earlier", one.names[0]),
            false => format!("{}{since}", one.names[0]),
        };
        (what, one.wait_name())
    };
    runtime_calls::all().iter().filter(fits).map(named).collect()
}

/// That call of the runtime's newest version that runs there, if the call is of an older one.
fn newer(host: &Host, call: &Record) -> Option<(String, String)> {
    let fits = |one: &&Record| {
        host.runs(one)
            && one.system == call.system
            && one.family() == call.family()
            && one.evidence == Evidence::Published
            && one.names[0] == call.names[0]
            && one.from > call.from
    };
    let newest = runtime_calls::all().iter().filter(fits).max_by(|one, other| one.from.cmp(&other.from))?;
    Some((format!("{} of {}", newest.names[0], version_words(newest)), newest.wait_name()))
}

/// The system's other sleeps and timers, for a sleep or timer. What only one language calls is none of them.
fn of_system(platform: &dyn Platform, name: &str) -> Vec<(String, String)> {
    let is_kin = |wait: &dyn Wait| matches!(wait.info().family, Family::Sleep | Family::Timer);
    let waits = || platform.waits().iter().map(AsRef::as_ref).filter(|wait| is_kin(*wait));
    if name != "sleep" && !waits().any(|wait| wait.info().name == name || wait.info().call.contains(name)) {
        return Vec::new();
    }
    let is_of_all = |wait: &&dyn Wait| runtime_calls::call(wait.info().call).is_none();
    waits().filter(is_of_all).map(|wait| (wait.info().call.to_owned(), wait.info().name.to_owned())).collect()
}

#[cfg(test)]
mod tests {
    use oversleep_model::platform;

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
        assert!(of_java[1].starts_with("Thread.sleep, where nothing has to wake the thread earlier"), "{of_java:?}");
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
    fn no_version_is_advised_that_does_not_run_there() {
        for (machine, has) in [("windows-7", false), ("windows-10-1909", true)] {
            let of_python = texts(machine, "time.sleep@python-3.8(1ms)");
            let is_there = of_python.iter().any(|help| help.contains("CPython since 3.11"));
            assert!(!is_there || has, "{machine}: {of_python:?}");
        }
    }

    #[test]
    fn a_wait_on_time_and_an_event_loop_get_no_blocking_sleep() {
        assert_eq!(texts("linux-hz250", "nanosleep(10ms)"), Vec::<String>::new());
        let of_loop = texts("windows-11", "asyncio.sleep(1ms)");
        assert!(of_loop.iter().all(|help| !help.contains("time.sleep") && !help.contains("library")), "{of_loop:?}");
    }
}
