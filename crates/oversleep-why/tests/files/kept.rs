//! What a run leaves behind: read again, compared, and made fit for others.

use std::collections::BTreeSet;

use oversleep_record::file::FileError;
use oversleep_why::by::By;
use oversleep_why::compare::{Verdict, compare, words};
use oversleep_why::share::share;
use oversleep_why::{Part, Summary, text};

static FIFO: &[u8] = include_bytes!("../recorded/fifo.why");

fn summary() -> Summary {
    Summary::of_bytes(FIFO).expect("a recording")
}

fn written(summary: &Summary) -> Vec<u8> {
    let mut bytes = Vec::new();
    summary.write_to(&mut bytes).unwrap();
    bytes
}

fn changed(change: impl FnOnce(&mut serde_json::Value)) -> Result<Summary, FileError> {
    let mut value: serde_json::Value = serde_json::from_slice(&written(&summary())).unwrap();
    change(&mut value);
    Summary::read_from(&mut value.to_string().as_bytes())
}

#[test]
fn a_result_reads_back_as_it_was() {
    let summary = summary();
    let bytes = written(&summary);
    assert!(bytes.starts_with(br#"{"schema":"oversleep-why/1","tool":{"name":"oversleep","#));
    assert!(Summary::knows(&bytes) && Summary::knows(FIFO) && !Summary::knows(b"{}"));
    assert_eq!(Summary::of_bytes(&bytes).unwrap(), summary);
}

#[test]
fn a_file_that_contradicts_itself_is_refused_with_what_is_wrong() {
    assert!(changed(|_| {}).is_ok());
    let error = |change: fn(&mut serde_json::Value)| changed(change).expect_err("it is refused").to_string();
    assert!(
        error(|v| v["groups"][0]["count"] = 7.into()).contains("it has 7 waits, and its distributions hold another")
    );
    assert!(error(|v| v["worst"][0]["parts"]["runq"] = 7.into()).contains("and its parts add up to"));
    assert!(error(|v| v["groups"][0]["attributed_count"] = 700.into()).contains("more waits of one kind than waits"));
    let twice = error(|v| {
        let first = v["groups"][0].clone();
        v["groups"].as_array_mut().unwrap().push(first);
    });
    assert!(twice.contains("two groups are app: clock_nanosleep for 1 ms"), "{twice}");
    assert!(error(|v| v["schema"] = "oversleep-why/9".into()).contains("written in schema 'oversleep-why/9'"));
    let deep = [&b"["[..]; 100_000].concat();
    assert!(Summary::of_bytes(&deep).is_err() && Summary::of_bytes(b"").is_err());
}

#[test]
fn the_same_advice_for_a_call_is_given_once() {
    let with = |thread: Option<&str>| {
        let further = changed(|v| {
            let mut group = v["groups"][0].clone();
            group["key"]["requested_ns"] = 990_000.into();
            if let Some(thread) = thread {
                group["key"]["thread"] = thread.into();
            }
            v["groups"].as_array_mut().unwrap().push(group);
        });
        further.unwrap().findings.into_iter().map(|finding| finding.sentence).collect::<Vec<_>>()
    };
    let alone: Vec<_> = summary().findings.into_iter().map(|finding| finding.sentence).collect();
    assert_eq!(with(None)[..alone.len() - 1], alone[..alone.len() - 1]);
    assert_eq!(with(None).len(), alone.len(), "{:#?}", with(None));
    assert!(with(Some("other")).len() > alone.len(), "another thread is told, too");
}

#[test]
fn every_figure_of_a_file_may_be_at_the_end_of_its_range() {
    for number in [serde_json::json!(u64::MAX), serde_json::json!(i64::MIN), serde_json::json!(i64::MAX)] {
        let mut value: serde_json::Value = serde_json::from_slice(&written(&summary())).unwrap();
        let paths: Vec<String> = paths(&value, String::new());
        for path in paths {
            let place = value.pointer_mut(&path).unwrap();
            let before = std::mem::replace(place, number.clone());
            if let Ok(summary) = Summary::read_from(&mut value.to_string().as_bytes()) {
                assert!(!text::report(&summary).is_empty());
                assert!(compare(&[summary.clone(), summary.clone()]).is_some());
                share(&summary);
            }
            *value.pointer_mut(&path).unwrap() = before;
        }
    }
}

/// Every number in the first elements of lists.
fn paths(value: &serde_json::Value, at: String) -> Vec<String> {
    match value {
        serde_json::Value::Number(_) => vec![at],
        serde_json::Value::Object(all) => {
            all.iter().flat_map(|(key, value)| paths(value, format!("{at}/{key}"))).collect()
        }
        serde_json::Value::Array(all) => {
            all.iter().enumerate().take(1).flat_map(|(n, value)| paths(value, format!("{at}/{n}"))).collect()
        }
        _ => Vec::new(),
    }
}

#[test]
fn a_cure_shows_as_the_part_that_shrank() {
    let before = summary();
    // The same waits, without the time in run queues.
    let mut machine = oversleep_why::Machine::new(before.meta.arch);
    let reader = oversleep_why::recording::Reader::new(FIFO).unwrap();
    reader.for_each(|event| machine.feed(&event));
    machine.finish();
    let mut builder = oversleep_why::Builder::new();
    for mut wait in machine.take() {
        wait.lateness_ns -= wait.parts.runq;
        wait.parts.runq = 0;
        builder.add(&wait, "app");
    }
    let after = builder.finish(before.meta.clone(), None, Default::default(), &machine);
    let comparison = compare(&[before.clone(), after.clone()]).unwrap();
    let group = &comparison.against_base[0].groups[0];
    assert_eq!(group.cured().map(|(part, _)| part), Some(Part::Runq));
    let runq = group.parts.iter().find(|part| part.part == Part::Runq).unwrap();
    assert_eq!((runq.change.verdict(), runq.change.p50.after_ns), (Verdict::Shrank, 0));
    let slack = group.parts.iter().find(|part| part.part == Part::Slack).unwrap();
    assert_eq!(slack.change.verdict(), Verdict::Overlap);
    let means = |before: bool| -> f64 {
        group.parts.iter().map(|part| if before { part.change.before_mean_ns } else { part.change.after_mean_ns }).sum()
    };
    assert!((means(true) - group.lateness.before_mean_ns).abs() < 1.0, "means add up");
    assert!((means(false) - group.lateness.after_mean_ns).abs() < 1.0);
    let said = words::text(&comparison);
    assert!(said.contains("What shrank most: waiting for a CPU, by"), "{said}");
    assert!(!Part::ALL.iter().any(|part| said.contains(&format!(" {} p", part.name()))), "names of fields: {said}");
    let back = words::text(&compare(&[after, before]).unwrap());
    assert!(back.contains("No part shrank. What grew: waiting for a CPU."), "{back}");
}

#[test]
fn results_of_different_followers_are_compared_without_their_parts() {
    let mut other = summary();
    other.meta.by = By::Supervisor;
    let comparison = compare(&[summary(), other.clone()]).unwrap();
    assert!(comparison.against_base[0].groups.iter().all(|group| group.parts.is_empty()));
    let said = words::text(&comparison);
    assert!(said.contains("taken in different ways") && said.contains("late on average instead of"), "{said}");
    assert!(!said.contains("No part"), "{said}");
    let said = words::text(&compare(&[other.clone(), other]).unwrap());
    assert!(said.contains("No part differs by more than chance.") && !said.contains("different ways"), "{said}");
}

#[test]
fn a_cure_that_is_another_call_is_compared_with_the_same_thread() {
    let before = summary();
    let mut after = summary();
    after.groups[0].key.call = "epoll_pwait2".to_owned();
    let comparison = compare(&[before.clone(), after.clone()]).unwrap();
    let against = &comparison.against_base[0];
    assert_eq!((against.groups.len(), against.only_in_base.len(), against.only_here.len()), (1, 0, 0));
    assert_eq!(against.groups[0].after.call, "epoll_pwait2");
    let mut other = after.groups[0].clone();
    other.key.call = "poll".to_owned();
    after.groups.push(other);
    let comparison = compare(&[before, after]).unwrap();
    let against = &comparison.against_base[0];
    assert_eq!(
        (against.groups.len(), against.only_in_base.len(), against.only_here.len()),
        (0, 1, 2),
        "which of them?"
    );
}

#[test]
fn one_wait_is_not_said_as_several() {
    let mut one = summary();
    one.groups.truncate(1);
    one.groups[0].count = 1;
    let (compared, alone) = (words::text(&compare(&[one.clone(), one.clone()]).unwrap()), text::report(&one));
    assert!(compared.contains("(1 wait before, 1 after)"), "{compared}");
    assert!(alone.contains(": 1 wait ended by its timer in "), "{alone}");
    assert!(!format!("{compared}{alone}").contains(" 1 waits"), "{compared}{alone}");
}

#[test]
fn a_shared_result_has_no_name_that_a_user_gave() {
    let mut whole = summary();
    whole.meta.target = "/home/kim/payroll --secret".to_owned();
    let mut names: BTreeSet<String> = BTreeSet::new();
    for group in &whole.groups {
        names.insert(group.key.program.clone());
        names.insert(group.key.thread.clone());
        names.extend(group.blames.iter().map(|blame| blame.name.clone()));
    }
    // The file says which program wrote it, and the kernel's own tasks keep their names.
    names.retain(|name| !name.contains('/') && !["oversleep", "rcu_preempt"].contains(&name.as_str()));
    assert!(names.contains("app") && names.contains("burst"), "{names:?}");
    let bytes = written(&share(&whole));
    let text = String::from_utf8(bytes.clone()).unwrap();
    for name in &names {
        assert!(!text.contains(&format!("\"{name}\"")) && !text.contains(&format!("{name} ")), "{name}");
    }
    assert!(!text.contains("kim") && !text.contains("secret"));
    let read = Summary::of_bytes(&bytes).unwrap();
    assert!(read.groups.iter().all(|group| group.tgid == 0 && group.blames.iter().all(|blame| blame.tid == 0)));
    let numbers = read.worst.iter().flat_map(|wait| {
        let culprits = wait.culprits.iter().flat_map(|culprit| [culprit.tid, culprit.tgid]);
        culprits.chain([wait.tid, wait.tgid]).collect::<Vec<_>>()
    });
    assert!(numbers.into_iter().all(|number| number == 0), "numbers of threads and processes");
    assert_eq!(read.groups[0].lateness, whole.groups[0].lateness);
    assert!(read.findings.iter().any(|finding| finding.sentence.contains("program 1")), "{:#?}", read.findings);
}
