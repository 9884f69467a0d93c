//! Observed programs in a shared result: what the kernel did, and no name that a user gave.

use std::collections::BTreeSet;
use std::path::PathBuf;

use oversleep_lab::share::share;
use oversleep_record::Identity;
use oversleep_record::ResultFile;

/// A recording's result: 120 waits of one kind, on one CPU with other tasks.
fn recorded() -> ResultFile {
    let here = std::env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| env!("CARGO_MANIFEST_DIR").into(), PathBuf::from);
    let bytes = std::fs::read(here.join("../oversleep-why/tests/results/recorded.json")).expect("it is committed");
    ResultFile::read(&bytes).expect("a result")
}

#[test]
fn a_shared_result_has_no_name_that_a_user_gave() {
    let mut whole = recorded();
    whole.observation.as_mut().unwrap().target = "/home/kim/payroll --secret".to_owned();
    let mut names: BTreeSet<String> = BTreeSet::new();
    for series in &whole.series {
        let identity = Identity::of(series).expect("it is observed");
        names.extend([identity.program, identity.thread]);
        names.extend(series.observed.iter().flat_map(|waits| &waits.blames).map(|blame| blame.name.clone()));
    }
    let worst = &whole.observation.as_ref().unwrap().worst;
    names.extend(worst.iter().flat_map(|wait| &wait.culprits).map(|culprit| culprit.name.clone()));
    // The file says which program wrote it, and the kernel's own tasks keep their names.
    names.retain(|name| !name.contains('/') && !["oversleep", "rcu_preempt"].contains(&name.as_str()));
    assert!(names.contains("app") && names.contains("burst"), "{names:?}");

    let bytes = share(&whole).write();
    let text = String::from_utf8(bytes.clone()).unwrap();
    for name in &names {
        let forms = [format!("\"{name}\""), format!("{name} "), format!("={name}/"), format!("={name}\"")];
        assert!(forms.iter().all(|form| !text.contains(form)), "{name}");
    }
    assert!(!text.contains("kim") && !text.contains("secret"));

    let read = ResultFile::read(&bytes).unwrap();
    assert_eq!(read.series.len(), whole.series.len());
    let waits = read.series.iter().map(|series| series.observed.as_ref().expect("it is observed"));
    assert!(waits.clone().all(|waits| waits.tgid == 0 && waits.blames.iter().all(|blame| blame.tid == 0)));
    let seen = read.observation.as_ref().expect("a program was observed");
    assert_eq!((seen.target.as_str(), seen.processes.len()), ("a program", 0));
    let numbers = seen.worst.iter().flat_map(|wait| {
        let culprits = wait.culprits.iter().flat_map(|culprit| [culprit.tid, culprit.tgid]);
        culprits.chain([wait.tid, wait.tgid]).collect::<Vec<_>>()
    });
    assert!(numbers.into_iter().all(|number| number == 0), "numbers of threads and processes");
    assert_eq!(read.series[0].distribution, whole.series[0].distribution);
    assert_eq!(read.series[0].why.as_ref().map(|why| &why.parts), whole.series[0].why.as_ref().map(|why| &why.parts));
    let findings = oversleep_explain::findings(&read);
    assert!(findings.iter().any(|finding| finding.sentence.contains("program 1")), "{findings:#?}");
}

#[test]
fn a_shared_result_that_is_shared_again_stays_as_it_is() {
    let once = share(&recorded());
    let twice = share(&once);
    assert!(twice.series == once.series && twice.observation == once.observation);
}

/// No time of a shared wait tells how long the machine was up: each lies within the wait.
#[test]
fn a_shared_wait_has_a_time_line_of_its_own() {
    for wait in share(&recorded()).observation.expect("a program was observed").worst {
        let span = wait.end + 1_000_000;
        let marks = serde_json::to_value(wait.marks).unwrap();
        let marks = marks.as_object().unwrap().values().filter_map(serde_json::Value::as_u64);
        let segments = wait.segments.iter().flat_map(|segment| [segment.from_ns, segment.to_ns]);
        let turns = wait.culprits.iter().flat_map(|culprit| &culprit.turns).flat_map(|turn| [turn.from_ns, turn.to_ns]);
        let activities = wait.before_interrupt.iter().flat_map(|activity| [activity.span.from_ns, activity.span.to_ns]);
        let times = marks.chain(segments.map(i64::unsigned_abs)).chain(turns).chain(activities);
        assert!(span < 100_000_000 && times.chain([wait.deadline]).all(|t| t <= span), "{wait:#?}");
    }
}
