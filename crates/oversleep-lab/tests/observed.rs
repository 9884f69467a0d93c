//! Observed programs in a shared result: what the kernel did, and no name that a user gave.

use std::collections::BTreeSet;
use std::path::PathBuf;

use oversleep_lab::share::share;
use oversleep_record::conditions::Setting;
use oversleep_record::finding::Tried;
use oversleep_record::label::{self, TrialSide};
use oversleep_record::series::Status;
use oversleep_record::trial::{Trial, TrialPair};
use oversleep_record::{Conditions, ExperimentId, Identity, ResultFile, Series, Unavailable};

/// A remedy of what was found.
const REMEDY: &str = "run-first";

/// A recording's result: 120 waits of one kind, on one CPU with other tasks; and the same waits with a remedy.
fn recorded() -> ResultFile {
    let here = std::env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| env!("CARGO_MANIFEST_DIR").into(), PathBuf::from);
    let bytes = std::fs::read(here.join("../oversleep-why/tests/results/recorded.json")).expect("it is committed");
    let mut file = ResultFile::read(&bytes).expect("a result");
    let conditions = Conditions::as_found().with("policy", Setting::Policy { policy: "fifo".to_owned(), priority: 10 });
    let mut pairs = Vec::new();
    for before in file.series.clone() {
        let key = before.key.tried(REMEDY, TrialSide::After);
        pairs.push(TrialPair { before: before.key.clone(), after: key.clone() });
        file.series.push(Series {
            key,
            experiment: ExperimentId::TRIAL,
            conditions: conditions.clone(),
            labels: before.labels.clone().with(label::TRIAL_SIDE, TrialSide::After),
            why: None,
            observed: None,
            ..before
        });
    }
    file.trials = vec![Trial { remedy: REMEDY.to_owned(), conditions, pairs }];
    file
}

#[test]
fn a_shared_result_has_no_name_that_a_user_gave() {
    let mut whole = recorded();
    whole.observation.as_mut().unwrap().target = "/home/kim/payroll --secret".to_owned();
    let mut names: BTreeSet<String> = BTreeSet::new();
    for series in whole.series.iter().filter(|series| series.observed.is_some()) {
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
    let waits: Vec<_> = read.series.iter().filter_map(|series| series.observed.as_ref()).collect();
    assert_eq!(waits.len(), 1);
    assert!(waits.iter().all(|waits| waits.tgid == 0 && waits.blames.iter().all(|blame| blame.tid == 0)));
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
fn a_shared_result_keeps_the_trials() {
    let tried = |file: &ResultFile| {
        let advice = oversleep_explain::findings(file).into_iter().flat_map(|finding| finding.advice);
        advice.filter(|advice| advice.remedy == REMEDY).map(|advice| advice.tried).next().expect("it is advised")
    };
    let whole = recorded();
    let shared = share(&whole);
    let [trial] = &shared.trials[..] else { panic!("{:?}", shared.trials) };
    assert_eq!(trial.conditions, whole.trials[0].conditions);
    assert_eq!(trial.pairs[0].before, "Y1/clock_nanosleep/1ms/program=program 1");
    assert_eq!(trial.pairs[0].after, format!("trial/{REMEDY}/clock_nanosleep/1ms/program=program 1/after"));
    let labels = &shared.series(&trial.pairs[0].after).expect("it is there").labels;
    assert_eq!(
        (labels.get(label::PROGRAM).as_deref(), labels.get(label::TRIAL_SIDE)),
        (Some("program 1"), Some(TrialSide::After))
    );
    assert!(matches!(tried(&shared), Tried::Measured { .. }));
    assert_eq!(tried(&shared), tried(&whole));
}

/// A trial that was refused has no values, and the text of its reason may name a file.
#[test]
fn a_shared_trial_that_was_refused_says_so_without_the_words() {
    let mut whole = recorded();
    let tried = |file: &ResultFile| file.trials[0].pairs[0].after.clone();
    let key = tried(&whole);
    let series = whole.series.iter_mut().find(|series| series.key == key).expect("it is there");
    (series.distribution, series.rounds, series.counts) = Default::default();
    series.status = Status::Unavailable { reason: Unavailable::not_permitted("/home/kim/secret", "sudo secret") };
    let bytes = share(&whole).write();
    let read = ResultFile::read(&bytes).expect("it is consistent");
    assert!(matches!(read.series(tried(&read)).expect("it is there").status, Status::Unavailable { .. }));
    assert!(!String::from_utf8(bytes).unwrap().contains("secret"));
}

#[test]
fn a_shared_result_that_is_shared_again_stays_as_it_is() {
    let once = share(&recorded());
    let twice = share(&once);
    assert!(twice.series == once.series && twice.observation == once.observation && twice.trials == once.trials);
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
