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
