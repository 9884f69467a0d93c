//! The rows of the system's own calls beneath the runtimes, against `oversleep waits` in the same run.

use std::sync::Arc;

use oversleep_measure::{Bench, Depth, Limit, Measured, Plan, Probe, Silent, StopFlag, experiment, measure};
use oversleep_record::{ExperimentId, Nanos};
use oversleep_runtimes::{Cache, Surroundings, Wanted, descriptors};
use oversleep_system::Platform;

/// By how much the two may differ, in the median of the alternated rounds.
const DIFFERENCE_MAX: f64 = 0.1;
const REQUEST: Nanos = Nanos::from_millis(1);
/// The median of 40 waits that are late by 15 µs differs by a quarter from one round to the next; 31 of them leave a
/// twentieth.
const ROUNDS: usize = 31;
/// Waits in one round of each.
const COUNT: u64 = 40;

/// The calls that waits of runtimes end up in here.
fn calls(platform: &dyn Platform) -> Vec<String> {
    let os = platform.id().os;
    let mut all: Vec<String> =
        descriptors().iter().flat_map(|one| &one.op).filter_map(|op| op.beneath.get(&os)).cloned().collect();
    all.sort();
    all.dedup();
    all
}

/// The rows of those calls, as every run of the runtimes has them, without the runtimes.
fn rows(platform: &dyn Platform, plan: &Plan) -> Vec<Box<dyn Probe>> {
    let surroundings = Surroundings::here(&platform.id().os);
    let wanted = Wanted::default();
    let mut survey = wanted.survey(&surroundings).unwrap();
    let cache = Cache::open(&surroundings);
    let mut all = wanted.probes(&mut survey, &cache, &surroundings, platform, plan, &mut |_| {}).unwrap();
    all.retain_mut(|probe| probe.recorders().iter().all(|recorder| recorder.series().runtime.is_none()));
    all
}

#[test]
#[ignore = "real time, two minutes; a quiet machine"]
fn the_system_s_rows_agree_with_waits_in_the_same_run() {
    let platform = oversleep_native::here();
    let subjects = calls(&*platform);
    let plan =
        Plan { depth: Depth::Quick, requests: vec![REQUEST], limit: Some(Limit::Count(COUNT)), ..Plan::default() };
    let bench = Bench::new(Arc::clone(&platform), StopFlag::new(), None).unwrap();
    let waits = experiment(ExperimentId::B5).unwrap();
    let mut ratios: Vec<(&String, Vec<f64>)> = subjects.iter().map(|subject| (subject, Vec::new())).collect();
    for round in 0..ROUNDS {
        let mut probes = rows(&*platform, &plan);
        probes.extend((waits.probes)(&*platform, &Plan { subjects: subjects.clone(), ..plan.clone() }));
        // Each pair in immediate succession, and each of them first in every other round.
        probes.sort_by_cached_key(|probe| probe.label());
        if round % 2 == 1 {
            probes.reverse();
        }
        let mut measured = Measured::default();
        measure(&bench, probes, None, &mut Silent, &mut measured);
        let p50 = |id: ExperimentId, subject: &str| {
            let series = measured.series.iter().find(|series| series.experiment == id && series.subject == subject)?;
            series.distribution.p50().map(|p50| p50 as f64)
        };
        for (subject, ratios) in &mut ratios {
            ratios.extend(p50(ExperimentId::R1, subject).zip(p50(ExperimentId::B5, subject)).map(|(a, b)| a / b));
        }
    }
    let mut worst: f64 = 0.0;
    for (subject, ratios) in &mut ratios {
        ratios.sort_by(f64::total_cmp);
        let Some(&median) = ratios.get(ratios.len() / 2) else { continue };
        let (least, most) = (ratios[0], ratios[ratios.len() - 1]);
        println!("{subject:<18} {median:.3} of what waits says ({least:.3} to {most:.3}, {} rounds)", ratios.len());
        worst = worst.max((median - 1.0).abs());
    }
    if ratios.iter().all(|(_, ratios)| ratios.is_empty()) {
        return oversleep_testing::skip("no runtime is installed");
    }
    assert!(worst <= DIFFERENCE_MAX, "{worst:.3}: {ratios:?}");
}
