//! What helps, by machine, call and version.

use oversleep_model::platform;
use oversleep_system::runtime_calls;
use oversleep_system::waits::ASYNC_SLEEP;

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
                let named = help.split_once(" (from ").and_then(|(call, rest)| Some((call, rest.split_once(')')?.0)));
                let Some((call, from)) = named else { continue };
                let from = from.parse().ok();
                let is_its = |one: &&Record| one.names[0] == call && one.from == from && one.system == os;
                let is_sourced = |one: &&Record| one.evidence == runtime_calls::Evidence::Published;
                assert!(runtime_calls::all().iter().filter(is_sourced).any(|one| is_its(&one)), "{machine}: {help}");
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
                let may_call = |one: &Record| {
                    let aside = |aside: &runtime_calls::Aside| aside.family.as_deref() == Some(one.family());
                    one.family() == record.family() || runtime_calls::asides(record).any(aside)
                };
                let is_its = |one: &Record| may_call(one) && one.names.iter().any(|name| name == call);
                let is_setting = lab.platform().tunable(call).is_some();
                let is_async = help.what.contains(ASYNC_SLEEP.name) && ["tokio", "async-io"].contains(&record.family());
                let is_library = help.what.contains(SLEEP_UNTIL.name) && can_call_library(record.family()) || is_async;
                let native = runtime_calls::native(record.family()).filter(|native| help.what.contains(&native.how));
                let is_of_system = |wait: &dyn oversleep_system::Wait| help.what.starts_with(wait.info().call);
                let is_native = lab.platform().waits().iter().any(|wait| is_of_system(&**wait)) && native.is_some();
                assert!(is_setting || is_library || is_native || runtime_calls::all().iter().any(is_its), "{what}");
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
    let of_beam = why("linux-hz250", "timer:sleep(1)");
    assert!(of_beam.starts_with("the BEAM calls "), "{of_beam}");
    // A call that nothing is known of may exist.
    assert!(of_beam.ends_with("and no record knows a better call of it for such a wait"), "{of_beam}");
    let of_page = why("windows-11", "nested.setTimeout(1)");
    assert!(of_page.starts_with("no call of Firefox changes a setting") || of_page.contains("itself"), "{of_page}");
}

#[test]
fn a_newer_version_under_a_setting_helps_where_neither_does_alone() {
    let of_python = texts("windows-11", "threading.Lock.acquire@python-3.9(1ms)");
    let begins = "threading.Lock.acquire of CPython 3.14, under resolution 1 ms";
    assert!(of_python[0].starts_with(begins), "{of_python:?}");
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
        // The machine's time goes on from one to the other.
        assert!((other.p50_ns - its.quantile_ns(0.5)).abs() < 1_000.0, "{version}: {other:?}");
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

/// What a runtime's programs can call themselves is advice, and who holds a setting for them.
#[test]
fn advice_says_how_each_runtime_follows_it() {
    let hidden = "for this process alone, and not while all its windows are hidden)";
    for (machine, text, part) in [
        ("windows-11", "sleep_for(1ms)", "CreateWaitableTimerExW(CREATE_WAITABLE_TIMER_HIGH_RESOLUTION)"),
        ("windows-11", "SysUtils.Sleep(1)", "CreateWaitableTimerExW(CREATE_WAITABLE_TIMER_HIGH_RESOLUTION)"),
        ("windows-11", "SDL_Delay@sdl-2(1)", "CreateWaitableTimerExW(CREATE_WAITABLE_TIMER_HIGH_RESOLUTION)"),
        ("windows-11", "uv_timer_start(1)", "in a thread of its own that calls uv_async_send"),
        ("windows-11", "Thread.Sleep(1)", "+ WaitForSingleObject by P/Invoke"),
        (
            "windows-11",
            "parkNanos(1ms)",
            "(a daemon thread in Thread.sleep(Long.MAX_VALUE) holds it for this process alone",
        ),
        ("windows-11", "parkNanos@java-8(1ms)", hidden),
        ("windows-10-2004", "parkNanos@java-17(1ms)", "holds it for this process alone)"),
        ("windows-10-1909", "parkNanos@java-11(1ms)", "(Long.MAX_VALUE) holds it for every process)"),
        ("windows-11", "time.sleep@python-3.10(1ms)", "ctypes.windll.winmm.timeBeginPeriod(1) holds it"),
        (
            "windows-11",
            "setTimeout(1)",
            "timeBeginPeriod(1) in a native add-on (JavaScript has no call for it) holds it",
        ),
        ("windows-11", "Task.Delay(1)", "timeBeginPeriod(1) of winmm.dll by P/Invoke holds it"),
        ("windows-11", "tokio::time::sleep(1ms)", "oversleep_async::sleep (oversleep-async-sleep)"),
        ("linux-hz250", "tokio::time::sleep(1ms)", "oversleep_async::sleep (oversleep-async-sleep)"),
        ("linux-hz250", "tokio::time::sleep(1ms)", "thread::sleep, as tokio::task::spawn_blocking"),
        ("windows-11", "task::sleep(1ms)", "oversleep_async::sleep (oversleep-async-sleep)"),
        ("windows-11", "tokio::time::interval(10ms)", "oversleep_async::sleep (oversleep-async-sleep)"),
    ] {
        let found = texts(machine, text);
        assert!(found.iter().any(|help| help.contains(part)), "{machine} {text}: {found:?}");
    }
    let of_page = texts("windows-11", "nested.setTimeout(1)");
    assert!(of_page.iter().all(|help| !help.starts_with("resolution")), "a page holds none: {of_page:?}");
    let of_java = texts("windows-11", "Thread.sleep(1)");
    assert!(of_java.iter().all(|help| !help.contains("Long.MAX_VALUE")), "it holds no 500 µs: {of_java:?}");
}
