//! `why --try`: runs the program again under each remedy that can be set from outside, and adds the waits of these runs to
//! its result, as trials.

use std::ffi::OsString;
use std::fs::File;

use oversleep_explain::{self as explain, Trial as Tries};
use oversleep_lab::Laboratory;
use oversleep_record::conditions::Outcome;
use oversleep_record::finding::Verdict;
use oversleep_record::label::{self, TrialSide};
use oversleep_record::series::Status;
use oversleep_record::trial::{Trial, TrialPair};
use oversleep_record::{Conditions, ExperimentId, ResultFile, Series, Unavailable};

use super::Why;
use super::follower::Choice;
use crate::command::run::measure::Runs;
use crate::exit::Failure;
use crate::{interrupt, message};

/// Tries each remedy of what was found, once.
pub fn remedies(why: &Why, file: &mut ResultFile) -> Result<(), Failure> {
    let tried = to_try(file);
    if tried.is_empty() {
        message::note("--try: nothing was found that a setting from outside could cure");
        return Ok(());
    }
    let lab = Laboratory::on(oversleep_native::here());
    interrupt::leave_to_programs();
    for (remedy, mut conditions) in tried {
        let mut held = lab.hold(&conditions);
        conditions.outcomes = held.iter().map(|one| (one.name.to_owned(), one.outcome.clone())).collect();
        let refused = conditions.outcomes.values().find_map(|outcome| match outcome {
            Outcome::Denied { why } => Some(why.clone()),
            _ => None,
        });
        let after = match refused {
            Some(why_not) => Ok(Err(why_not)),
            None => {
                message::note(&format!("the program runs again, with {remedy}"));
                followed(why).map(Ok)
            }
        };
        while held.pop().is_some() {}
        match after {
            Ok(after) => add(file, remedy, &conditions, after),
            // The result of the first run is not lost for that.
            Err(error) => message::warning(&format!("{remedy} was not tried: {error}")),
        }
    }
    Ok(())
}

/// The remedies of what was found that can be set from outside, with the conditions that they consist of.
fn to_try(file: &ResultFile) -> Vec<(&'static str, Conditions)> {
    let found = explain::findings(file).into_iter().filter(|finding| finding.verdict == Verdict::Found);
    let mut tried: Vec<(&'static str, Conditions)> = Vec::new();
    for advice in found.flat_map(|finding| finding.advice) {
        if let Some(remedy) = explain::remedy(&advice.remedy)
            && let Tries::Here { conditions, .. } = remedy.trial
            && tried.iter().all(|(other, _)| *other != remedy.id)
        {
            tried.push((remedy.id, conditions()));
        }
    }
    tried
}

/// The result of another run of the program, followed in the same way.
fn followed(why: &Why) -> Result<ResultFile, Failure> {
    let mut options: Vec<OsString> = Vec::new();
    match why.by {
        Some(Choice::Kernel) => options.extend(["--by".into(), "kernel".into()]),
        Some(Choice::Supervisor) => options.extend(["--by".into(), "supervisor".into()]),
        None => {}
    }
    if let Some(want) = why.want {
        options.extend(["--want".into(), format!("{}ns", want.0).into()]);
    }
    if why.no_follow {
        options.push("--no-follow".into());
    }
    let runs = Runs::new()?;
    let (path, _) = runs.followed("trial.json", &options, &why.program)?;
    let unusable = |error: &dyn std::fmt::Display| Failure::failed(format!("the trial can't be read: {error}"));
    ResultFile::read_from(File::open(path).map_err(|error| unusable(&error))?).map_err(|error| unusable(&error))
}

/// Adds a trial: each kind of waits that both runs had, without the remedy and with it; or why it was refused.
fn add(file: &mut ResultFile, remedy: &str, conditions: &Conditions, after: Result<ResultFile, Unavailable>) {
    let mut pairs = Vec::new();
    let mut added = Vec::new();
    for before in file.series.iter().filter(|series| series.observed.is_some()) {
        let with = match &after {
            Ok(after) => after.series.iter().find(|series| series.key == before.key).cloned(),
            Err(reason) => Some(Series {
                distribution: Default::default(),
                rounds: Vec::new(),
                counts: Default::default(),
                status: Status::Unavailable { reason: reason.clone() },
                ..before.clone()
            }),
        };
        let Some(with) = with else { continue };
        let key = before.key.tried(remedy, TrialSide::After);
        pairs.push(TrialPair { before: before.key.clone(), after: key.clone() });
        added.push(Series {
            key,
            experiment: ExperimentId::TRIAL,
            conditions: conditions.clone(),
            labels: with.labels.clone().with(label::TRIAL_SIDE, TrialSide::After),
            why: None,
            observed: None,
            ..with
        });
    }
    file.series.extend(added);
    file.trials.push(Trial { remedy: remedy.to_owned(), conditions: conditions.clone(), pairs });
}

#[cfg(test)]
mod tests {
    use super::*;
    use oversleep_record::environment::Os;
    use oversleep_record::finding::Tried;
    use oversleep_record::observed::Observation;
    use oversleep_record::observed::wait::Request;
    use oversleep_record::part::Parts;
    use oversleep_record::split::PartSplit;
    use oversleep_record::testing::Sheet;
    use oversleep_record::{Distribution, Identity, Nanos};

    /// 100 waits of 1 ms, each late by that slack and 9 µs more.
    fn run(slack_ns: i64) -> ResultFile {
        let (program, call) = ("app".to_owned(), "clock_nanosleep".to_owned());
        let requested_ns = Some(Nanos::from_millis(1));
        let identity =
            Identity { thread: program.clone(), program, call, timer: None, request: Request::Span, requested_ns };
        let parts = Parts { slack: slack_ns, ret: 9_000, ..Parts::default() };
        let (mut split, mut lateness) = (PartSplit::default(), Distribution::growing());
        for _ in 0..100 {
            split.record(&parts);
            lateness.record(parts.sum());
        }
        let mut file = Sheet::linux().file;
        file.observation = Some(Observation::default());
        file.series = vec![Series { why: Some(split), ..Series::observed(&identity, Os::Linux, lateness) }];
        file
    }

    fn tried(after: Result<ResultFile, Unavailable>) -> Tried {
        let mut file = run(50_000);
        let (remedy, conditions) = to_try(&file).pop().expect("slack can be set from outside");
        add(&mut file, remedy, &conditions, after);
        let file = ResultFile::read(&file.write()).expect("it is consistent");
        let found = explain::findings(&file).into_iter().find(|finding| finding.name == "late-by-slack").unwrap();
        assert_eq!(found.verdict, Verdict::Found);
        found.advice.into_iter().next().expect("it is advised").tried
    }

    #[test]
    fn a_remedy_has_the_gain_of_the_second_run_or_the_reason_against_it() {
        match tried(Ok(run(0))) {
            Tried::Measured { subject, before_p50_ns, after_p50_ns, helped, .. } => {
                assert_eq!(subject, "clock_nanosleep");
                let near = |is: i64, should: i64| (is - should).abs() <= should / 100;
                assert!(near(before_p50_ns, 59_000) && near(after_p50_ns, 9_000) && helped);
            }
            other => panic!("{other:?}"),
        }
        let denied = Unavailable::not_permitted("timer slack", "run as root");
        assert!(matches!(tried(Err(denied)), Tried::NotTried { why } if why.contains("timer slack")));
        assert!(to_try(&run(0)).is_empty(), "nothing was found");
    }
}
