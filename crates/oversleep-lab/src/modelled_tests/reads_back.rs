//! The reader accepts every result that a run writes, and a run whose result it would refuse doesn't start.

use oversleep_measure::{Depth, Limit, Plan, Silent, StopFlag, experiment};
use oversleep_record::file::SERIES_MAX;
use oversleep_record::series::Pace;
use oversleep_record::{CommandName, ExperimentId, Nanos, ResultFile};
use proptest::prelude::*;

use crate::machines;
use crate::session::{Request, RunError};

fn request(experiments: &[ExperimentId], plan: Plan) -> Request {
    Request {
        command: CommandName::Check,
        experiments: experiments.iter().map(|&id| experiment(id).expect("a known id")).collect(),
        plan,
        name: None,
        try_remedies: true,
    }
}

fn run(machine: &str, request: &Request) -> Result<ResultFile, RunError> {
    let lab = machines::load(machine, &[], machines::SEED).expect("it is one of the profiles");
    lab.run(request, &StopFlag::new(), &mut Silent)
}

fn comes_back(file: &ResultFile) {
    let written = file.write();
    let read = ResultFile::read(&written).unwrap_or_else(|error| panic!("{} bytes: {error}", written.len()));
    assert!(read.write() == written, "it changes on its way through a file");
}

/// A plan for one wait with that many requests, each measured once.
fn requests(count: usize) -> Plan {
    let requests = (0..count as i64).map(|index| Nanos(1_000_000 + index)).collect();
    let subjects = vec!["nanosleep".to_owned()];
    Plan { requests, subjects, limit: Some(Limit::Count(1)), ..Plan::default() }
}

#[test]
fn the_most_series_that_a_run_measures_are_read() {
    let result = run("linux-hz250", &request(&[ExperimentId::B5], requests(5_000))).expect("it runs");
    assert!(result.series.len() >= 5_000);
    comes_back(&result);
}

#[test]
fn a_run_whose_result_could_not_be_read_does_not_begin() {
    let refused = run("linux-hz250", &request(&[ExperimentId::B5], requests(SERIES_MAX + 1)));
    let error = refused.expect_err("it is too much");
    assert!(matches!(error, RunError::TooMuch { series, .. } if series > SERIES_MAX), "{error}");
}

prop_compose! {
    fn any_plan()(
        depth in prop::sample::select(vec![Depth::Quick, Depth::Normal, Depth::Thorough]),
        requests in prop::collection::btree_set(0_i64..20_000_000, 0..4),
        count in 1_u64..40,
        pace in prop::sample::select(vec![None, Some(Pace::Periodic), Some(Pace::BackToBack), Some(Pace::RandomPhase)]),
    ) -> Plan {
        let requests = requests.into_iter().map(Nanos).collect();
        Plan { depth, requests, limit: Some(Limit::Count(count)), pace, ..Plan::default() }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_plan_s_result_comes_back(
        machine in prop::sample::select(machines::names()),
        // Load, sweeps and many threads take the most time and produce no other kinds of series.
        experiments in prop::sample::subsequence(
            vec![
                ExperimentId::A1, ExperimentId::A2, ExperimentId::A4, ExperimentId::B1, ExperimentId::B3,
                ExperimentId::B5, ExperimentId::B6, ExperimentId::C2, ExperimentId::C3,
            ],
            1..4,
        ),
        plan in any_plan(),
    ) {
        if let Ok(result) = run(machine, &request(&experiments, plan)) {
            comes_back(&result);
        }
    }
}
