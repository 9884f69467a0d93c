//! Built-in records, and records derived from results.

use std::collections::BTreeSet;

use oversleep_measure::{Plan, Silent, StopFlag};
use oversleep_model::platform;
use oversleep_record::{CommandName, ExperimentId, label};

use super::*;

#[test]
fn every_record_has_an_id_a_source_and_a_wait_that_exists() {
    let mut seen = BTreeSet::new();
    for record in runtimes() {
        assert!(seen.insert(&record.id), "{} twice", record.id);
        assert!(Source::find(&record.source).is_some(), "{}: {}", record.id, record.source);
        assert!(!record.versions.is_empty() && !record.names.is_empty(), "{}", record.id);
        let machine = match record.system.as_str() {
            "windows" => "windows-11",
            "linux" => "linux-hz250",
            _ => "macos-14-m1",
        };
        let platform = platform(machine, &[], 1).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(platform.id().os, record.system, "{}", record.id);
        assert!(find_wait(&*platform, &record.wait).is_some(), "{}: {}", record.id, record.wait);
        let is_again = |one: &&Record| {
            (&one.system, &one.names, &one.versions) == (&record.system, &record.names, &record.versions)
        };
        let again = runtimes().iter().filter(is_again);
        assert_eq!(again.count(), 1, "{}: one record for a call, a system and a version", record.id);
    }
}

#[test]
fn every_trick_has_a_source_and_a_wait_with_a_record() {
    for trick in &FILES.trick {
        assert!(Source::find(&trick.source).is_some(), "{}: {}", trick.name, trick.source);
        let is_its = |record: &&Record| record.family() == trick.family && record.names.contains(&trick.wait);
        assert!(runtimes().iter().any(|record| is_its(&record) && record.system == "windows"), "{}", trick.name);
    }
}

#[test]
fn a_sentence_names_the_record_and_says_that_nothing_of_the_runtime_ran() {
    let platform = platform("windows-11", &[], 1).unwrap_or_else(|error| panic!("{error}"));
    let (record, wait, others) = find(&*platform, &[], "parkNanos").expect("it is listed");
    let sentence = record.sentence("parkNanos", wait, Nanos(1_999_000), &others);
    assert!(sentence.contains("record R01, published: OpenJDK, os_windows.cpp"), "{sentence}");
    assert!(sentence.contains("The runtime was not run: the figures are those of WaitForSingleObject"), "{sentence}");
}

#[test]
fn what_was_measured_answers_like_what_was_published() {
    let platform = platform("linux-hz250", &[], 1).unwrap_or_else(|error| panic!("{error}"));
    let (record, wait, others) = find(&*platform, &[], "asyncio.sleep").expect("it is listed");
    assert_eq!((record.evidence, wait.info().name), (Evidence::Measured, "epoll-wait"));
    assert_eq!(record.rounded(Nanos(300_000)), MILLISECOND);
    let sentence = record.sentence("asyncio.sleep", wait, Nanos(300_000), &others);
    let part = "300 µs becomes 1 ms (record python-3.11.7/asyncio.sleep, measured: oversleep, ";
    assert!(sentence.contains(part), "{sentence}");
}

#[test]
fn versions_that_make_something_else_of_a_request_are_named() {
    let platform = platform("linux-hz250", &[], 1).unwrap_or_else(|error| panic!("{error}"));
    let (record, wait, others) = find(&*platform, &[], "Thread.sleep").expect("it is listed");
    assert_eq!(record.id, "R05");
    let sentence = record.sentence("Thread.sleep", wait, Nanos(1_500_000), &others);
    assert!(sentence.contains("1.5 ms becomes 2 ms (record R05"), "{sentence}");
    assert!(sentence.contains(" java 25.0.3 passes 1.5 ms (record java-25.0.3/Thread.sleep("), "{sentence}");
    let twice = record.sentence("Thread.sleep", wait, Nanos(1_500_000), &[others.clone(), others.clone()].concat());
    assert_eq!(twice, sentence, "each version once");
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
    assert_eq!(names, [("time.Sleep".to_owned(), Rounds::Up)]);
}

#[test]
fn a_result_gives_its_own_records_and_they_go_first() {
    let own = records(&result());
    assert_eq!(own.len(), 1);
    assert_eq!((own[0].id.as_str(), own[0].rounds), ("engine-9.1/Sleep", Rounds::DownToZero));
    assert_eq!(own[0].rounded(Nanos(1_999_000)), MILLISECOND);
    let text = document(own.clone()).unwrap();
    assert_eq!(toml::from_str::<File>(&text).unwrap().record, own, "{text}");
    let platform = platform("linux-hz250", &[], 1).unwrap_or_else(|error| panic!("{error}"));
    let (record, wait, _) = find(&*platform, &own, "engine.Sleep").expect("it is its own");
    assert_eq!((record.runtime.as_str(), wait.info().name), ("engine", "nanosleep"));
    assert!(record.nothing_left(Nanos(300_000)).starts_with("engine makes 0 ms of 300 µs and does not wait (record"));
}

/// The result of `oversleep runtimes NAMES --on MACHINE`.
fn on(machine: &str, names: &[&str]) -> ResultFile {
    let lab = crate::Laboratory::on(platform(machine, &[], 1).unwrap_or_else(|error| panic!("{error}")));
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
        assert_eq!((series.rounded_ns, series.counts.recorded), (Some(MILLISECOND), 1_000));
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
        match wait.ruling() {
            // A model doesn't have a runtime's own grid.
            Ok(ruling) if record.rounds != Rounds::UpToGrid => {
                assert_eq!(Rounds::from(ruling.rule), record.rounds, "{}: {ruling}", record.id);
                found += 1;
            }
            _ => {}
        }
    }
    assert!(found * 10 >= all.len() * 9, "{found} of {}", all.len());
}
