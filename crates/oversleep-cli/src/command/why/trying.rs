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
pub fn remedies(why: &Why, file: &mut ResultFile) {
    let tried = to_try(file);
    if tried.is_empty() {
        message::note("--try: nothing was found that a setting from outside could cure");
        return;
    }
    let lab = Laboratory::on(oversleep_native::here());
    interrupt::leave_to_programs();
    try_each(file, tried, |remedy, conditions| {
        let mut held = lab.hold(conditions);
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
        after
    });
}

/// What came of a trial: the result of the second run, or why the system refused the remedy.
type After = Result<ResultFile, Unavailable>;

/// Adds each trial to the result of the first run. A trial that fails is left out, so that this result is not lost for it.
fn try_each(
    file: &mut ResultFile,
    tried: Vec<(&'static str, Conditions)>,
    mut run: impl FnMut(&str, &mut Conditions) -> Result<After, Failure>,
) {
    for (remedy, mut conditions) in tried {
        match run(remedy, &mut conditions) {
            Ok(after) => add(file, remedy, &conditions, after),
            Err(error) => message::warning(&format!("{remedy} was not tried: {error}")),
        }
    }
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
fn add(file: &mut ResultFile, remedy: &str, conditions: &Conditions, after: After) {
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
    use oversleep_record::environment::Os;
    use oversleep_record::finding::Tried;
    use oversleep_record::observed::Observation;
    use oversleep_record::observed::wait::Request;
    use oversleep_record::part::Parts;
    use oversleep_record::split::PartSplit;
    use oversleep_record::testing::Sheet;
    use oversleep_record::{Distribution, Identity, Nanos};

    use super::*;

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

    fn tried(after: After) -> Tried {
        let mut file = run(50_000);
        let slack = to_try(&file).pop().expect("slack can be set from outside");
        let mut after = Some(after);
        try_each(&mut file, vec![slack], |_, _| Ok(after.take().expect("it is tried once")));
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

    #[test]
    fn a_trial_that_fails_leaves_the_first_run_and_the_other_trials() {
        let (first, mut file) = (run(50_000), run(50_000));
        let fails = |remedy: &str, _: &mut Conditions| match remedy {
            "fails" => Err(Failure::failed("the program ended at once")),
            _ => Ok(Ok(run(0))),
        };
        try_each(&mut file, vec![("fails", Conditions::as_found())], fails);
        assert!(file == first);
        let both = ["fails", "lower-timer-slack"].map(|remedy| (remedy, Conditions::as_found()));
        try_each(&mut file, both.into(), fails);
        let tried: Vec<&str> = file.trials.iter().map(|trial| trial.remedy.as_str()).collect();
        assert_eq!(tried, ["lower-timer-slack"]);
        assert!(file.series.starts_with(&first.series) && file.series.len() == 2 * first.series.len());
    }
}
