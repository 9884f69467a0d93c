//! Tests of the registry as a whole; each finding's own tests stand beside it.

use oversleep_record::FactName;
use std::collections::BTreeSet;

use super::super::testing::{Explained, Sheet};
use super::super::{Scope, remedies};
use super::*;

#[test]
fn ids_are_well_formed_unique_and_in_order() {
    let mut names = BTreeSet::new();
    let mut last: Option<(char, u32)> = None;
    for entry in registry() {
        let tail = entry.id.strip_prefix("OVS-").expect(entry.id);
        let letter = tail.chars().next().unwrap();
        let digits = &tail[1..];
        assert!(digits.len() == 3 && digits.bytes().all(|byte| byte.is_ascii_digit()), "{}", entry.id);
        let scope = match letter {
            'L' => Scope::Os("linux"),
            'W' => Scope::Os("windows"),
            'M' => Scope::Os("macos"),
            'G' => Scope::Anywhere,
            _ => panic!("{}: unknown letter", entry.id),
        };
        assert_eq!(entry.scope, scope, "{}", entry.id);
        let number = digits.parse().unwrap();
        if let Some((previous, before)) = last.filter(|(previous, _)| *previous == letter) {
            assert!(number > before, "{previous}{before} before {}", entry.id);
        }
        last = Some((letter, number));
        assert!(names.insert(entry.name), "{} is there twice", entry.name);
        assert!(entry.name.chars().all(|c| c.is_ascii_lowercase() || c == '-'), "{}", entry.name);
    }
}

#[test]
fn every_entry_is_documented() {
    for entry in registry() {
        assert!(entry.summary.len() > 30 && entry.summary.ends_with('.'), "{}", entry.id);
        assert!(!entry.summary.contains('\n'), "{}: one sentence", entry.id);
        assert!(entry.explanation.split("\n\n").count() >= 3, "{}: cause, how we know, cure", entry.id);
        assert!(entry.explanation.len() > 300, "{}", entry.id);
        assert!(entry.applies_to.len() > 4, "{}", entry.id);
        assert!(!entry.explanation.contains("  "), "{}: stray spaces", entry.id);
    }
}

#[test]
fn every_remedy_named_exists() {
    for entry in registry() {
        for remedy in entry.remedies {
            assert!(remedies::get(remedy).is_some(), "{} names {remedy}", entry.id);
        }
    }
}

#[test]
fn entries_are_found_by_id_and_by_name() {
    assert_eq!(entry("ovs-l001").map(|entry| entry.name), Some("timer-slack"));
    assert_eq!(entry("timer-slack").map(|entry| entry.id), Some("OVS-L001"));
    assert!(entry("OVS-L999").is_none());
}

#[test]
fn an_empty_result_finds_nothing_and_breaks_nothing() {
    for sheet in [Sheet::linux(), Sheet::windows(), Sheet::macos()] {
        for finding in findings(&sheet.file) {
            assert!(matches!(finding.verdict, Verdict::NotEnoughData | Verdict::Absent), "{finding:?}");
            assert!(!finding.sentence.is_empty() && finding.advice.is_empty(), "{finding:?}");
        }
    }
}

#[test]
fn another_system_is_not_asked_about_linux() {
    for (sheet, own) in [(Sheet::windows(), "OVS-W"), (Sheet::macos(), "OVS-M"), (Sheet::on("haiku"), "OVS-G")] {
        let listed = findings(&sheet.file);
        let is_meant = |id: &str| id.starts_with("OVS-G") || id.starts_with(own);
        assert!(listed.iter().all(|finding| is_meant(&finding.id)), "{listed:?}");
        assert!(listed.iter().any(|finding| finding.id.starts_with(own)));
    }
}

#[test]
fn the_gravest_come_first() {
    let sheet = Sheet::linux()
        .span(FactName::TimerSlack, 50_000)
        .trial("lower-timer-slack", "nanosleep", 66_100, 14_200)
        .steady("B5/nanosleep/1ms", 66_100)
        .text(FactName::VirtualisationHypervisor, "kvm")
        .wild("B2/nanosleep/1ms", 100_000)
        .flag(FactName::SchedRtPermitted, true);
    let listed = findings(&sheet.file);
    let order: Vec<(Verdict, Severity)> = listed.iter().map(|finding| (finding.verdict, finding.severity)).collect();
    let first_not_found = order.iter().position(|(verdict, _)| *verdict != Verdict::Found).unwrap();
    assert!(order[..first_not_found].windows(2).all(|pair| pair[0].1 <= pair[1].1), "{order:?}");
    assert_eq!(listed[0].id, "OVS-L001");
    assert!(order[first_not_found..].iter().all(|(verdict, _)| *verdict != Verdict::Found), "{order:?}");
    assert_eq!(listed.last().map(|finding| finding.verdict), Some(Verdict::Absent));
}

#[test]
fn only_what_was_found_carries_advice() {
    let sheet =
        Sheet::linux().span(FactName::TimerSlack, 50_000).trial("lower-timer-slack", "nanosleep", 66_100, 14_200);
    for finding in findings(&sheet.file) {
        let entry = entry(&finding.id).unwrap();
        let ours =
            entry.remedies.iter().filter(|id| remedies::get(id).is_some_and(|entry| entry.scope.covers(&sheet.file)));
        let expected = if finding.verdict == Verdict::Found { ours.count() } else { 0 };
        assert_eq!(finding.advice.len(), expected, "{}", finding.id);
    }
}

#[test]
fn what_is_in_force_already_is_not_advised() {
    let offered = |sheet: &Sheet, id: &str| remedies::get(id).unwrap().scope.covers(&sheet.file);
    let plain = Sheet::linux().text(FactName::SchedPolicy, "other").span(FactName::TimerSlack, 50_000);
    let exact = Sheet::linux().text(FactName::SchedPolicy, "other").span(FactName::TimerSlack, 1);
    let fifo = Sheet::linux().text(FactName::SchedPolicy, "fifo").span(FactName::TimerSlack, 0);
    for (sheet, slack, real_time) in [(plain, true, true), (exact, false, true), (fifo, false, false)] {
        assert_eq!(offered(&sheet, "lower-timer-slack"), slack);
        assert_eq!(offered(&sheet, "real-time-policy"), real_time);
    }
}
