//! The rows of the system's own calls beneath the runtimes, against `oversleep waits` in the same run.

use std::sync::Arc;

use oversleep_measure::{Bench, Depth, Measured, Plan, Silent, StopFlag, experiment, measure};
use oversleep_record::{ExperimentId, Nanos, Series};
use oversleep_runtimes::{Cache, Surroundings, Wanted};

/// By how much the two may differ, in the middle of the rounds.
const DIFFERENCE_MAX: f64 = 0.1;
const REQUEST: Nanos = Nanos::from_millis(1);

#[test]
#[ignore = "real time, some seconds; a quiet machine"]
fn the_system_s_rows_agree_with_waits_in_the_same_run() {
    let platform = oversleep_native::here();
    let folder = tempfile::tempdir().unwrap();
    let program = crate::script(folder.path(), &format!("{}\n{}", crate::WORKS, crate::END));
    let wanted = Wanted { names: vec![program], ..Wanted::default() };
    let surroundings = Surroundings { os: platform.id().os, variables: Vec::new(), root: folder.path().to_owned() };
    let mut survey = wanted.survey(&surroundings).unwrap();
    let plan = Plan { depth: Depth::Thorough, requests: vec![REQUEST], ..Plan::default() };
    let cache = Cache::open(&surroundings);
    let mut probes = wanted.probes(&mut survey, &cache, &surroundings, &*platform, &plan, &mut |_| {}).unwrap();
    // A row of a program without a call beneath it has the system's simplest sleep beside it.
    let sleep = platform.simplest(oversleep_system::Family::Sleep).unwrap().info().name;
    let waits = experiment(ExperimentId::B5).unwrap();
    probes.extend((waits.probes)(&*platform, &Plan { subjects: vec![sleep.to_owned()], ..plan }));
    let bench = Bench::new(Arc::clone(&platform), StopFlag::new(), None).unwrap();
    let mut measured = Measured::default();
    measure(&bench, probes, None, &mut Silent, &mut measured);
    let of = |id: ExperimentId| -> &Series {
        let is_it = |series: &&Series| {
            series.experiment == id && series.subject == sleep && series.requested_ns == Some(REQUEST)
        };
        measured.series.iter().find(is_it).unwrap_or_else(|| panic!("{id} has no {sleep}"))
    };
    let medians = |series: &Series| series.rounds.iter().filter_map(|round| round.median).collect::<Vec<i64>>();
    let (beneath, waits) = (medians(of(ExperimentId::R1)), medians(of(ExperimentId::B5)));
    assert!(beneath.len() >= 10 && waits.len() >= 10, "{} and {} rounds", beneath.len(), waits.len());
    let mut ratios: Vec<f64> = beneath.iter().zip(&waits).map(|(one, other)| *one as f64 / *other as f64).collect();
    println!("{sleep} {REQUEST}: {beneath:?} ns beneath, {waits:?} ns by waits");
    ratios.sort_by(f64::total_cmp);
    let median = ratios[ratios.len() / 2];
    println!("median of {} alternated rounds: {median:.3}", ratios.len());
    assert!((median - 1.0).abs() <= DIFFERENCE_MAX, "{ratios:?}");
}
