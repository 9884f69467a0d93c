//! Tests of the registries as a whole; each entry's own tests are in its file.

use oversleep_record::FactName;

use super::*;
use crate::entry::Trial;
use crate::testing::{Explained, Sheet};

#[test]
fn ids_and_names_are_well_formed_and_unique() {
    let mut names = BTreeSet::new();
    for entry in registry() {
        let tail = entry.id.strip_prefix("OVS-").expect(entry.id);
        assert!(tail.len() == 4 && tail[1..].bytes().all(|byte| byte.is_ascii_digit()), "{}", entry.id);
        let system = match &tail[..1] {
            "L" => "linux",
            "W" => "windows",
            "M" => "macos",
            "G" | "R" | "Y" => "haiku",
            "F" => "none: no result is of a fleet",
            letter => panic!("{}: unknown letter {letter}", entry.id),
        };
        let systems = ["linux", "windows", "macos", "haiku"];
        let is_general = tail.starts_with(['G', 'R', 'Y']);
        let meant = systems.map(|os| entry.scope.includes_os_of(&Sheet::on(os).file));
        assert_eq!(meant, systems.map(|os| is_general || os == system), "{}", entry.id);
        assert!(names.insert(entry.id) && names.insert(entry.name), "{} is there twice", entry.name);
        assert!(entry.name.chars().all(|c| c.is_ascii_lowercase() || c == '-'), "{}", entry.name);
    }
    let ids: Vec<&str> = registry().iter().map(|entry| entry.id).collect();
    assert_eq!((ids[0], ids[19], ids[20]), ("OVS-L001", "OVS-L020", "OVS-W001"));
    assert!(ids.last().unwrap().starts_with("OVS-F"));
}

#[test]
fn every_finding_is_documented() {
    for entry in registry() {
        assert!(entry.summary.len() > 30 && !entry.summary.contains('\n'), "{}: one sentence", entry.id);
        let texts = [entry.summary, entry.meaning, entry.how_we_know, entry.what_to_do];
        for text in texts {
            assert!(text.len() > 20 && text.ends_with('.') && !text.contains("  "), "{}: {text}", entry.id);
        }
        assert!(texts.concat().len() > 300 && entry.applies_to.len() > 4, "{}", entry.id);
        assert!(entry.sources.iter().all(|source| source.starts_with("https://")), "{}", entry.id);
    }
}

#[test]
fn every_remedy_is_documented_and_its_id_unique() {
    let named: BTreeSet<*const RemedyEntry> =
        registry().iter().flat_map(|entry| entry.remedies).map(|remedy| std::ptr::from_ref(*remedy)).collect();
    assert_eq!(named.len(), REMEDIES.len(), "two remedies have one id");
    for entry in REMEDIES.iter() {
        assert!(entry.id.chars().all(|c| c.is_ascii_lowercase() || c == '-'), "{}", entry.id);
        for text in [entry.summary, entry.how] {
            assert!(text.len() > 20 && text.ends_with('.'), "{}: {text}", entry.id);
        }
        assert!(entry.example.is_none_or(|example| !example.trim().is_empty()), "{}", entry.id);
        match entry.trial {
            Trial::Here { conditions, waits, .. } => assert!(!conditions().is_as_found() && !waits.is_empty()),
            Trial::ByExperiment { waits, .. } => assert!(!waits.is_empty(), "{}", entry.id),
            Trial::Never(why) => assert!(why.len() > 10, "{}", entry.id),
        }
    }
}

#[test]
fn entries_are_found_by_id_and_by_name() {
    assert_eq!(entry("ovs-l001").map(|entry| entry.name), Some("timer-slack"));
    assert_eq!(entry("timer-slack").map(|entry| entry.id), Some("OVS-L001"));
    assert_eq!(entry("host-unlike-its-group").map(|entry| entry.id), Some("OVS-F001"));
    assert!(entry("OVS-L999").is_none());
    assert_eq!(remedy("hybrid-wait").map(|remedy| remedy.id), Some("hybrid-wait"));
}

#[test]
fn an_empty_result_finds_nothing_and_breaks_nothing() {
    for sheet in [Sheet::linux(), Sheet::windows(), Sheet::macos()] {
        for finding in findings(&sheet.file) {
            assert!(matches!(finding.verdict, Verdict::NotEnoughData | Verdict::NotFound), "{finding:?}");
            assert!(!finding.sentence.is_empty() && finding.advice.is_empty(), "{finding:?}");
        }
    }
}

#[test]
fn each_system_is_checked_for_its_own_findings() {
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
    assert_eq!(listed.last().map(|finding| finding.verdict), Some(Verdict::NotFound));
}

#[test]
fn only_what_was_found_carries_advice() {
    let sheet =
        Sheet::linux().span(FactName::TimerSlack, 50_000).trial("lower-timer-slack", "nanosleep", 66_100, 14_200);
    for finding in findings(&sheet.file) {
        let remedies = entry(&finding.id).unwrap().remedies;
        let ours = remedies.iter().filter(|remedy| remedy.scope.covers(&sheet.file));
        let expected = if finding.verdict == Verdict::Found { ours.count() } else { 0 };
        assert_eq!(finding.advice.len(), expected, "{}", finding.id);
    }
}

#[test]
fn findings_are_found_by_the_words_of_their_texts() {
    let names = |words: &str| -> Vec<&str> { mentioning(words).iter().map(|entry| entry.name).collect() };
    let of_quota = names("quota");
    assert!(of_quota.contains(&"cgroup-quota") && of_quota.len() < registry().len() / 4, "{of_quota:?}");
    assert_eq!(names("QUOTA"), of_quota);
    assert!(names("PR_SET_TIMERSLACK").contains(&"timer-slack"));
    assert!(names("timer slack").contains(&"timer-slack"), "a phrase");
    assert!(names("clock backwards").contains(&"backward-clock"), "words of a phrase that no text has");
    assert!(names("C-state").contains(&"deep-idle-states"));
    assert!(
        names("app-nap").contains(&"timers-put-off") && names("App Nap") == names("app-nap"),
        "{:?}",
        names("app-nap")
    );
    for nothing in ["", " ", "?", "quot", "zzz"] {
        assert!(names(nothing).is_empty(), "{nothing}");
    }
    assert!(mentions("Its quotas end it", "quota") && !mentions("CLOCK_REALTIME_COARSE", "clock_realtime"));
    assert!(mentions("clock_gettime(CLOCK_REALTIME)", "clock_realtime"));
    assert!(!mentions("MY_CLOCK_REALTIME", "clock_realtime") && !mentions("prequota", "quota"));
}
