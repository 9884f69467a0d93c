//! Built-in records, and records derived from results.

use oversleep_measure::{Limit, Plan, Silent, StopFlag};
use oversleep_model::platform;
use oversleep_record::conditions::Setting;
use oversleep_record::{CommandName, Conditions, ExperimentId, label};
use oversleep_system::Granularity;
use oversleep_system::runtime_calls::tricks;
use oversleep_system::tunables::names::RESOLUTION;

use super::*;
use crate::Laboratory;
use crate::ask::{Question, Subject, ask};

/// A laboratory on that modelled machine.
pub(super) fn lab(machine: &str) -> Laboratory {
    lab_with(machine, &[])
}

/// A laboratory on that modelled machine with some changes.
fn lab_with(machine: &str, changes: &[&str]) -> Laboratory {
    let changes: Vec<String> = changes.iter().map(|&change| change.to_owned()).collect();
    Laboratory::on(platform(machine, &changes, 1).unwrap_or_else(|error| panic!("{error}")))
}

/// The sentence about a request of that call, on that machine.
fn sentence_of(machine: &str, name: &str, request: Nanos) -> (String, String) {
    let lab = lab(machine);
    let wait = lab.runtime_call(name).unwrap().expect("it is listed").to_owned();
    let call = oversleep_system::runtime_calls::wait(lab.platform(), &wait).unwrap();
    (call.record().id.clone(), sentence(&lab.platform, call, name, request))
}

#[test]
fn every_record_and_trick_has_a_source() {
    for record in runtimes() {
        assert!(Source::find(&record.source).is_some(), "{}: {}", record.id, record.source);
    }
    for trick in tricks() {
        assert!(Source::find(&trick.source).is_some(), "{}: {}", trick.name, trick.source);
        let is_its = |record: &&Record| record.family() == trick.family && record.names.contains(&trick.wait);
        assert!(runtimes().iter().any(|record| is_its(&record) && record.system == "windows"), "{}", trick.name);
    }
}

#[test]
fn a_sentence_names_the_record_and_says_that_nothing_of_the_runtime_ran() {
    let (_, sentence) = sentence_of("windows-11", "parkNanos", Nanos(1_999_000));
    assert!(sentence.contains("record R01, published: OpenJDK, os_windows.cpp"), "{sentence}");
    assert!(sentence.contains("The runtime was not run: the figures are those of WaitForSingleObject"), "{sentence}");
}

#[test]
fn what_was_measured_answers_like_what_was_published() {
    let (id, sentence) = sentence_of("linux-hz250", "select.poll", Nanos(300_000));
    assert_eq!(id, "python-3.11.7/select.poll");
    let part = "300 µs becomes 1 ms (record python-3.11.7/select.poll, measured: oversleep, ";
    assert!(sentence.contains(part), "{sentence}");
}

#[test]
fn versions_that_make_something_else_of_a_request_are_named() {
    let (id, sentence) = sentence_of("linux-hz250", "Thread.sleep@java-17", Nanos(1_500_000));
    assert_eq!(id, "R05");
    assert!(sentence.contains("1.5 ms becomes 2 ms (record R05"), "{sentence}");
    let (id, sentence) = sentence_of("linux-hz250", "Thread.sleep", Nanos(1_500_000));
    assert_eq!(id, "R25", "the newest");
    assert!(sentence.contains(" OpenJDK 12 to 20 and 8 to 11 pass 2 ms (records R05, R286)."), "{sentence}");
    let (_, sentence) = sentence_of("windows-11", "Task.Delay", Nanos::from_millis(1));
    let older = ".NET 6, Core 3 to .NET 5 and Core 2.1 and 2.2 pass 1 ms to SleepEx(alertable) and \
                 wait until GetTickCount64 shows that it has passed (records R282, R47, R420).";
    assert!(sentence.contains(&format!(". {older}")), "{sentence}");
    let (_, sentence) = sentence_of("windows-11", "setTimeout", Nanos::from_millis(1));
    assert!(
        sentence.contains(
            "asked as background-5min.setTimeout, background.setTimeout, bun.setTimeout, deno.setTimeout, \
             nested.setTimeout, on-battery.setTimeout, window.setTimeout."
        ),
        "{sentence}"
    );
}

/// `ask`, `waits` and `runtimes` on that machine say the same of every version.
#[test]
fn a_version_that_does_not_run_there_is_refused_by_every_command() {
    let mut refused = 0;
    for machine in oversleep_model::names() {
        let os = lab(machine).platform_id().os;
        for record in runtimes().iter().filter(|record| record.system == os && record.evidence == Evidence::Published) {
            let Some(version) = &record.from else { continue };
            let lab = lab(machine).of_version(Some(version.clone()));
            let (family, name) = (record.family().to_owned(), format!("{}@{}", record.names[0], record.family()));
            let what = format!("{machine} {name} {version}");
            let of_runtimes = lab.runs_none(&[family], Some(version));
            let of_waits = lab.runtime_call(&name).map(|_| ());
            let subject = Subject::Wait { name: name.clone(), request: Nanos::from_millis(1) };
            let of_ask = ask(&lab, &Question { count: 1, ..Question::of(subject) }).map(|_| ());
            match (&of_runtimes, &of_waits) {
                (None, Ok(())) => {}
                (Some(why), Err(of_waits)) => {
                    let of_ask = of_ask.expect_err(&what).to_string();
                    assert!(
                        of_waits.starts_with(why) && of_ask.contains(of_waits),
                        "{what}: {why} {of_waits} {of_ask}"
                    );
                    refused += 1;
                }
                _ => panic!("{what}: {of_runtimes:?} {of_waits:?}"),
            }
        }
    }
    assert!(refused > 100, "{refused}");
}

#[test]
fn a_span_of_more_than_32_bits_is_refused_or_becomes_another() {
    let of = |machine: &str, text: &str| {
        let question = Question { count: 1, ..Question::of(text.parse().unwrap_or_else(|error| panic!("{error}"))) };
        ask(&lab(machine), &question)
            .map_or_else(|error| error.to_string(), |answer| format!("{:.1}", answer.mean_ns() / 8.64e13))
    };
    for (machine, text, part) in [
        ("windows-11", "Sleep(50d)", "Sleep takes 32 bits of milliseconds, 49.7 days at most"),
        ("windows-11", "WaitForSingleObject(50d)", "takes 32 bits of milliseconds"),
        ("windows-11", "Sleep(49d)", "49.0"),
        ("linux-hz250", "poll(25d)", "takes 32 bits of milliseconds with a sign"),
        ("linux-hz250", "epoll_wait(25d)", "takes 32 bits of milliseconds with a sign"),
        ("linux-hz250", "usleep(2h)", "takes 32 bits of microseconds"),
        ("macos-14-m1", "poll(25d)", "takes 32 bits of milliseconds with a sign"),
        ("windows-11", "time.sleep@python-3.10(50d)", "raises OverflowError for 50 d"),
        ("windows-11", "time.sleep(50d)", "50.0"),
        ("windows-11", "thread::sleep@rust-1.70(50d)", "waits without end for 50 d"),
        ("windows-11", "thread::sleep(50d)", "50.0"),
        ("windows-8.1", "thread::sleep@rust-1.77(50d)", "waits without end for 50 d"),
        ("windows-11", "setTimeout(25d)", "0.0"),
        ("windows-11", "window.setTimeout(50d)", "0.3"),
        ("windows-11", "parkNanos(1200h)", "0.3"),
        ("windows-11", "Thread.sleep(1200h)", "50.0"),
    ] {
        assert!(of(machine, text).contains(part), "{machine} {text}: {}", of(machine, text));
    }
}

#[test]
fn older_windows_has_another_clock_end_the_timers_of_dotnet() {
    let p50 = |machine: &str| {
        let conditions = Conditions::as_found().with(RESOLUTION, Setting::Nanos(HELD));
        let question = Question { count: 40, conditions, ..Question::of("Task.Delay(1)".parse().unwrap()) };
        ask(&lab(machine), &question).unwrap_or_else(|error| panic!("{error}")).quantile_ns(0.5)
    };
    assert!(p50("windows-7") > 15e6 && p50("windows-8.1") < 2.1e6, "{} {}", p50("windows-7"), p50("windows-8.1"));
    let (_, sentence) = sentence_of("windows-7", "Task.Delay", Nanos::from_millis(1));
    assert!(!sentence.contains("wait until GetTickCount64 shows that it has passed"), "no other clock: {sentence}");
}

#[test]
fn a_timer_with_a_period_has_it_in_the_mean() {
    let lab = lab("windows-11");
    let question = Question { count: 500, ..Question::of("new Timer(cb, null, 0, 20)".parse().unwrap()) };
    let answer = ask(&lab, &question).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(answer.meaning(), crate::ask::Meaning::Lateness);
    assert!(answer.mean_ns() < 16e6, "no deadline is later than the one before: {}", answer.mean_ns());
    let once = Question { count: 50, ..Question::of("new Timer(cb, null, 20, -1)".parse().unwrap()) };
    let once = ask(&lab, &once).unwrap_or_else(|error| panic!("{error}"));
    assert!((31e6..32e6).contains(&once.mean_ns()), "{}", once.mean_ns());
}

fn run(machine: &str, command: CommandName, ids: &[ExperimentId], plan: Plan) -> ResultFile {
    run_on(&lab(machine), command, ids, plan)
}

pub(super) fn run_on(lab: &Laboratory, command: CommandName, ids: &[ExperimentId], plan: Plan) -> ResultFile {
    let request = crate::Request {
        command,
        experiments: ids.iter().filter_map(|&id| oversleep_measure::experiment(id)).collect(),
        plan,
        name: None,
        try_remedies: false,
    };
    lab.run(&request, &StopFlag::new(), &mut Silent).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn a_timer_that_the_tick_count_ends_is_no_finer_under_a_resolution() {
    let p50 = |name: &str| {
        let subject = Subject::Wait { name: name.to_owned(), request: Nanos::from_millis(1) };
        let conditions = Conditions::as_found().with(RESOLUTION, Setting::Nanos(HELD));
        let question = Question { count: 40, conditions, ..Question::of(subject) };
        ask(&lab("windows-10-2004"), &question).unwrap_or_else(|error| panic!("{error}")).quantile_ns(0.5)
    };
    let [stepped, exact] = ["Task.Delay@dotnet-3", "Task.Delay@dotnet-7"].map(p50);
    assert!(stepped > 15e6 && exact < 2.1e6, "{stepped} {exact}");
    let [stepped, exact] = ["receive-after@erlang-22", "receive-after@erlang-25"].map(p50);
    assert!(stepped > 15e6 && exact < 3.1e6, "{stepped} {exact}");
    let slow = lab_with("windows-10-2004", &["frequencies.qpc=3000000"]);
    let subject = Subject::Wait { name: "receive-after@erlang-25".to_owned(), request: Nanos::from_millis(1) };
    let conditions = Conditions::as_found().with(RESOLUTION, Setting::Nanos(HELD));
    let answer = ask(&slow, &Question { count: 40, conditions, ..Question::of(subject) }).expect("an answer");
    assert!(answer.mean_ns() > 15e6, "the runtime takes no such counter");
}

/// The mean duration of a wait on a machine, in µs.
fn mean_us(machine: &str, name: &str, request: Nanos) -> i64 {
    let subject = Subject::Wait { name: name.to_owned(), request };
    let answer = ask(&lab(machine), &Question { count: 400, ..Question::of(subject) }).expect("an answer");
    (answer.mean_ns() / 1e3) as i64
}

#[test]
fn a_timer_of_dotnet_on_linux_ends_at_a_tick_of_the_kernel() {
    for (machine, requested_ms, least_us, most_us) in [
        ("linux-hz250", 1, 3_950, 4_050),
        ("linux-hz250", 5, 7_950, 8_050),
        ("linux-hz1000", 1, 1_050, 1_150),
        ("linux-hz1000", 5, 5_050, 5_150),
    ] {
        let mean_us = mean_us(machine, "Task.Delay", Nanos::from_millis(requested_ms));
        assert!((least_us..=most_us).contains(&mean_us), "{machine} {requested_ms} ms: {mean_us} µs");
    }
}

#[test]
fn advice_names_a_better_call_of_the_same_runtime_on_every_machine() {
    let mut advised = 0;
    for machine in oversleep_model::names() {
        let plan = Plan { limit: Some(Limit::Count(36)), ..Plan::default() };
        let file = run(machine, CommandName::Runtimes, &[ExperimentId::R1, ExperimentId::R2], plan);
        for id in ["OVS-R001", "OVS-R002", "OVS-R201"] {
            let entry = oversleep_explain::entry(id).expect(id);
            for remedy in entry.remedies.iter().filter(|remedy| remedy.scope.covers(&file)) {
                // What a model has tried is advice of its own.
                let oversleep_explain::Trial::ByExperiment { compare, .. } = remedy.trial else {
                    assert_eq!(remedy.id, "runtime-tried-there", "{id}");
                    continue;
                };
                let (before, after) = compare(&file).unwrap_or_else(|| panic!("{machine} {}", remedy.id));
                let runtimes = [before, after].map(|series| series.runtime.as_ref().expect("a runtime").name.clone());
                assert_eq!(runtimes[0], runtimes[1], "{machine} {}", remedy.id);
                let p50 = [before, after].map(|series| series.distribution.p50().expect("values"));
                assert!(oversleep_explain::is_gain(p50[0], p50[1]), "{machine} {}: {p50:?}", remedy.id);
                advised += 1;
            }
        }
    }
    assert!(advised > 20, "{advised}");
}

#[test]
fn every_late_call_of_a_result_has_advice_or_the_reason_why_none_helps() {
    const LATE_NS: i64 = 2_000_000;
    let mut advised = 0;
    for machine in ["windows-7", "windows-11", "wine-8", "linux-hz250", "macos-14-m1"] {
        let lab = lab(machine);
        let plan = Plan { requests: vec![Nanos::from_millis(1)], limit: Some(Limit::Count(12)), ..Plan::default() };
        let mut file = run_on(&lab, CommandName::Runtimes, &[ExperimentId::R1], plan);
        crate::ask::advise(&lab, &mut file);
        for series in file.series.iter().filter(|series| series.runtime.is_some() && series.has_values()) {
            let what = format!("{machine} {} of {}", series.subject, series.runtime.as_ref().expect("a runtime"));
            let advice = series.label(label::ADVICE);
            let is_late = series.distribution.p50().is_some_and(|late| late > LATE_NS);
            assert!(!is_late || advice.is_some(), "{what}");
            let Some(advice) = advice else { continue };
            assert!(!advice.contains("runtime."), "{what}: nobody can call that: {advice}");
            advised += 1;
        }
    }
    assert!(advised > 100, "{advised}");
}

/// A wait of a runtime that truncates, and one that ends on its own grid.
fn result() -> ResultFile {
    let mut sheet = oversleep_record::testing::Sheet::linux();
    for ns in [300_000, 400_000, 999_000, 1_000_000, 1_100_000, 1_500_000, 1_999_000, 2_000_000] {
        let floor = ns / 1_000_000 * 1_000_000;
        let request = Nanos(ns).as_typed();
        sheet = sheet
            .steady(format!("R2/Sleep/{request}/engine-9"), floor + 70_000)
            .of_runtime("engine", "9.1")
            .labelled(label::BENEATH, "nanosleep".to_owned());
    }
    sheet.file
}

#[test]
fn a_busy_program_does_not_answer_for_an_idle_one() {
    let mut sheet = oversleep_record::testing::Sheet::linux();
    for ns in [300_000, 400_000, 999_000, 1_100_000, 1_500_000, 1_999_000] {
        let up = Granularity::MILLISECOND.rounded(Nanos(ns)).0;
        for (name, took) in [("time.Sleep", up + 80_000), ("time.Sleep(busy)", ns + 1_000)] {
            sheet = sheet
                .steady(format!("R2/{name}/{}/go-1.26", Nanos(ns).as_typed()), took)
                .of_runtime("go", "1.26.8")
                .labelled(label::BENEATH, "epoll-wait".to_owned());
        }
    }
    let found = records(&sheet.file);
    let names: Vec<_> = found.iter().map(|record| (record.names.join(" "), record.rounds)).collect();
    assert_eq!(names, [("time.Sleep".to_owned(), Rule::RoundsUp)]);
}

#[test]
fn a_result_gives_its_own_records_and_they_go_first() {
    let own = records(&result());
    assert_eq!(own.len(), 1);
    assert_eq!((own[0].id.as_str(), own[0].rounds), ("engine-9.1/Sleep", Rule::Truncates));
    assert_eq!(own[0].rounds.rounded(Nanos(1_999_000)), Nanos::from_millis(1));
    let text = document(own.clone()).unwrap();
    assert_eq!(oversleep_system::runtime_calls::read(&text).unwrap(), own, "{text}");
    let found = find(&own, "linux", "engine.Sleep", None);
    assert_eq!((found[0].runtime.as_str(), found[0].wait.as_str()), ("engine", "nanosleep"));
    let nothing = nothing_left(found[0], Nanos(300_000));
    assert!(nothing.starts_with("engine makes 0 ms of 300 µs and does not wait (record"), "{nothing}");
}

/// The result of `oversleep runtimes NAMES --on MACHINE`.
fn on(machine: &str, names: &[&str]) -> ResultFile {
    let lab = Laboratory::on(platform(machine, &[], 1).unwrap_or_else(|error| panic!("{error}")));
    let ids = [ExperimentId::R1, ExperimentId::R2, ExperimentId::B10, ExperimentId::B11];
    let request = crate::Request {
        command: CommandName::Runtimes,
        experiments: ids.into_iter().filter_map(oversleep_measure::experiment).collect(),
        plan: Plan { subjects: names.iter().map(|&name| name.to_owned()).collect(), ..Plan::default() },
        name: None,
        try_remedies: false,
    };
    lab.run(&request, &StopFlag::new(), &mut Silent).unwrap_or_else(|error| panic!("{error}"))
}

/// Median lateness of the parks of Java for 1 ms under a trick.
fn park(file: &ResultFile, trick: &str) -> Nanos {
    let is_it = |series: &&oversleep_record::Series| {
        series.experiment == ExperimentId::B11 && series.label(label::VARIANT).as_deref() == Some(trick)
    };
    let p50 = file.series.iter().find(is_it).and_then(|series| series.distribution.p50());
    Nanos(p50.unwrap_or_else(|| panic!("{trick} was not tried")))
}

#[test]
fn the_tricks_for_java_are_tried_on_modelled_windows() {
    for machine in ["windows-10-1909", "windows-10-2004", "windows-11"] {
        let file = on(machine, &["java"]);
        assert!(park(&file, "as-found") > Nanos::from_millis(5), "{machine}: {}", park(&file, "as-found"));
        for trick in ["sleeping-thread", "midi-device"] {
            assert!(park(&file, trick) < Nanos::from_millis(2), "{machine} {trick}: {}", park(&file, trick));
        }
        let forced = park(&file, "ForceTimeHighResolution");
        assert!(forced > Nanos::from_millis(5), "{machine}: it holds nothing: {forced}");
    }
    let file = on("linux-hz250", &["java"]);
    assert!(park(&file, "sleeping-thread") < Nanos::from_millis(1));
    let tricks = file.findings.iter().find(|finding| finding.id == "OVS-R007").expect("it is told");
    assert!(tricks.sentence.starts_with("no trick changes a wait here: "), "{}", tricks.sentence);
}

#[test]
fn published_parks_take_a_tick_on_modelled_windows() {
    let file = on("windows-10-1909", &["java"]);
    let parks: Vec<_> = file.experiment(ExperimentId::B10).filter(|series| series.runtime.is_some()).collect();
    assert_eq!(parks.len(), 2, "1 ns and 55 µs");
    for series in parks {
        let took = series.requested_ns.unwrap() + Nanos(series.distribution.mean().unwrap() as i64);
        assert_eq!((series.rounded_ns, series.counts.recorded), (Some(Nanos::from_millis(1)), 1_000));
        assert!((Nanos::from_millis(15)..Nanos::from_millis(16)).contains(&took), "{took}");
    }
}

/// The rule finder finds the rules of the records in the waits of the model.
#[test]
fn rules_of_records_are_found_again_in_what_a_model_measures() {
    let file = on("linux-hz250", &[]);
    let all = waits(&file);
    assert!(all.len() > 80, "{}", all.len());
    let mut found = 0;
    for wait in &all {
        let is_it = |record: &&Record| {
            (record.family(), &record.versions) == (wait.runtime.name.as_str(), &wait.runtime.version)
                && (record.names[0] == wait.name || record.id.ends_with(&format!("/{}", wait.name)))
        };
        let record = runtimes().iter().filter(|record| record.system == "linux").find(is_it).expect("its record");
        if let Ok(ruling) = wait.ruling() {
            assert_eq!(ruling.rule, record.rounds, "{}: {ruling}", record.id);
            found += 1;
        }
    }
    assert!(found * 10 >= all.len() * 9, "{found} of {}", all.len());
}
