//! Tests of the table.

use std::collections::BTreeSet;

use super::*;
use crate::waits;

#[test]
fn each_record_names_waits_that_exist_and_is_told_from_all_others() {
    let (mut ids, mut names) = (BTreeSet::new(), BTreeSet::new());
    for record in all() {
        let id = &record.id;
        assert!(ids.insert(id), "{id} twice");
        assert!(names.insert((record.wait_name(), &record.system)), "{id}: {} twice", record.wait_name());
        assert!(!record.versions.is_empty() && !record.names.is_empty() && !record.source.is_empty(), "{id}");
        let waits = std::iter::once(&record.wait).chain(record.otherwise.as_ref().map(|other| &other.wait));
        for wait in waits {
            assert!(waits::of(&record.system).iter().any(|info| info.name == wait), "{id}: no wait {wait}");
        }
        let slow = record.with_slow_counter.as_ref().map(|slow| &slow.due_by);
        let clocks = record.due_by.iter().chain(slow).chain(record.own_clock.as_ref().map(|own| &own.clock));
        for clock in clocks {
            assert!(crate::clocks::of(&record.system).iter().any(|info| info.name == clock), "{id}: no clock {clock}");
        }
        if let (Some(from), Some(before)) = (&record.from, &record.before) {
            assert!(from < before, "{id}");
        }
        assert!(
            record.holds == Holds::Nothing || record.system == "windows",
            "{id}: only Windows has such a resolution"
        );
    }
}

#[test]
fn each_call_has_one_entry_that_says_its_unit_and_what_its_thread_does() {
    for name in all().iter().flat_map(|record| &record.names) {
        assert!(call(name).is_some(), "no entry of calls.toml names {name}");
    }
    let mut names: Vec<&str> = known::calls().iter().flat_map(|call| &call.names).map(String::as_str).collect();
    names.sort_unstable();
    let twice: Vec<_> = names.windows(2).filter(|pair| pair[0] == pair[1]).collect();
    assert!(twice.is_empty(), "{twice:?}");
    for record in all() {
        let of: BTreeSet<_> = record.names.iter().filter_map(|name| Some(call(name)?.thread as u8)).collect();
        assert_eq!(of.len(), 1, "{}: its names differ in what the thread does", record.id);
    }
    for unit in known::calls().iter().filter_map(|call| call.unit.as_deref()) {
        assert!(format!("1{unit}").parse::<Nanos>().is_ok(), "{unit}");
    }
    assert!(all().iter().any(|record| can_call_library(record.family())));
}

#[test]
fn no_two_published_records_are_about_one_call_of_one_version() {
    let published: Vec<&Record> = all().iter().filter(|one| one.evidence == Evidence::Published).collect();
    for (at, one) in published.iter().enumerate() {
        for other in &published[at + 1..] {
            let is_same = one.system == other.system
                && one.family() == other.family()
                && one.names.iter().any(|name| other.names.contains(name));
            let is_apart = |one: &Record, other: &Record| {
                one.before.as_ref().zip(other.from.as_ref()).is_some_and(|(before, from)| before <= from)
            };
            assert!(!is_same || is_apart(one, other) || is_apart(other, one), "{} and {}", one.id, other.id);
        }
    }
}

#[test]
fn a_version_decides_which_record_answers() {
    let id = |name: &str, version: &str| {
        let version: Version = version.parse().expect(version);
        find(&[], "linux", name, Some(&version)).first().map(|record| record.id.as_str())
    };
    assert_eq!(id("Thread.sleep", "17"), Some("R05"));
    assert_eq!(id("Thread.sleep@java", "17"), Some("R05"));
    assert_ne!(id("Thread.sleep", "25"), Some("R05"));
    assert_eq!(id("Thread.sleep", "6"), None, "no source says what it did");
    assert_eq!(id("asyncio.sleep", "2.7"), None);
    assert_eq!("3.9".parse::<Version>().unwrap().cmp(&"3.11".parse().unwrap()), std::cmp::Ordering::Less);
    assert!("3.x".parse::<Version>().is_err());
}

#[test]
fn a_call_holds_what_its_record_says_of_the_span_that_it_passes() {
    let record = all().iter().find(|record| record.id == "R04").expect("Thread.sleep of Windows");
    let passes = record.passes(|_| true);
    let ms = Nanos::from_millis;
    assert_eq!([1, 10, 15].map(|span| passes.holds(ms(span))), [Some(HELD), None, Some(HELD)]);
    let limited = Passes { overflow: Some(Overflow { longest_ms: 100, becomes_ms: 1 }), ..passes };
    assert_eq!([100, 101].map(|span| limited.span(ms(span), Nanos::ZERO)), [ms(100), ms(1)]);
}

#[test]
fn a_version_is_one_of_the_runtime_that_numbers_its_versions_so() {
    let of = |name: &str, os: &str, version: &str| -> Vec<String> {
        let version = version.parse().expect("a version");
        find(&[], os, name, Some(&version)).iter().map(|record| record.wait_name()).collect()
    };
    assert_eq!(of("Task.Delay", "linux", "6"), [""; 0], "it is none of Mono 6.8");
    assert_eq!(of("Task.Delay", "linux", "6.8"), ["Task.Delay@mono-6.8.0.105"]);
    assert_eq!(of("Task.Delay@mono", "linux", "6"), ["Task.Delay@mono-6.8.0.105"]);
    assert_eq!(of("Task.Delay", "windows", "6"), ["Task.Delay@dotnet-3"]);
    assert_eq!(of("Thread.Sleep", "linux", "8"), ["Thread.Sleep@dotnet-5"]);
}
