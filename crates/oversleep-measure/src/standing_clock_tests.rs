//! Every experiment on machines whose reference clock stands still, or moves by jiffies: each ends, and states why it
//! has no figures.

use std::sync::Arc;

use oversleep_model::sim::Overshoot;
use oversleep_record::series::{Pace, Quantity, Status};
use oversleep_record::{ExperimentId, Nanos, Series};
use oversleep_system::SharedPlatform;

use crate::plan::{Depth, Limit, Plan};
use crate::testing::{self, Altered, MachineBuilder};
use crate::{Bench, Experiment, Measured, Silent, StopFlag, experiment, floor, measure, registry};

fn machine() -> MachineBuilder {
    testing::machine().with_wait("nanosleep", Overshoot::Fixed(Nanos(66_000)))
}

fn standing() -> Altered {
    Altered::from(machine()).showing(|_| Nanos(5_000))
}

fn jiffies(step: Nanos) -> Altered {
    Altered::from(machine()).showing(move |now| now.round_down_to(step))
}

fn run(platform: Altered, of: &Experiment, plan: &Plan) -> Measured {
    let platform: SharedPlatform = Arc::new(platform);
    let bench = Bench::new(Arc::clone(&platform), StopFlag::new(), None).expect("the reference clock is always there");
    let mut measured = Measured::default();
    measure(&bench, (of.probes)(&*platform, plan), None, &mut Silent, &mut measured);
    measured
}

fn quick() -> Plan {
    Plan { depth: Depth::Quick, ..Plan::default() }
}

/// Plans that end by a count, and one that would end by the clock alone.
fn plans() -> [Plan; 3] {
    let timed = Plan { limit: Some(Limit::Time(Nanos::from_millis(50))), ..quick() };
    [quick(), timed.clone(), Plan { pace: Some(Pace::RandomPhase), ..timed }]
}

#[test]
fn every_experiment_ends_on_a_clock_that_stands_still() {
    for plan in plans() {
        for of in registry() {
            for series in run(standing(), of, &plan).series {
                let says_so = match &series.status {
                    Status::Unavailable { reason } => reason.to_string().contains("did not move"),
                    // A count ends it, and every value is what that clock shows.
                    _ if series.clock == "monotonic" => series.distribution.max().is_none_or(|max| max <= 0),
                    _ => series.quantity == Quantity::Step || series.clock == "monotonic-coarse",
                };
                assert!(says_so, "{}: {:?} max {:?}", series.key, series.status, series.distribution.max());
            }
        }
    }
}

#[test]
fn the_floor_of_a_clock_that_stands_still_ends() {
    let platform: SharedPlatform = Arc::new(standing());
    let bench = Bench::new(platform, StopFlag::new(), None).unwrap();
    assert_eq!(floor(&bench).step_ns, Nanos(1), "what the clock states");
    assert!(bench.fault().is_some_and(|reason| reason.to_string().contains("did not move")));
    assert!(bench.stopped(), "nothing is measured any more");
}

fn p50<'a>(measured: &'a Measured, key: &str) -> (i64, &'a Series) {
    let series = measured.series.iter().find(|series| series.key == key).unwrap_or_else(|| panic!("no {key}"));
    (series.distribution.p50().unwrap_or_else(|| panic!("{key}: {:?}", series.status)), series)
}

#[test]
fn work_is_calibrated_on_a_clock_that_moves_by_jiffies() {
    // Starts at any phase between two ticks.
    let phases = (0..8).map(|eighths| Nanos(eighths * 125_000));
    for (hz, phase) in phases.flat_map(|phase| [(100, phase * 10), (250, phase * 4), (1_000, phase)]) {
        let step = Nanos(1_000_000_000 / hz);
        let plan = quick();
        let begun_at = Altered::from(machine()).showing(move |now| (now + phase).round_down_to(step));
        let measured = run(begun_at, experiment(ExperimentId::D2).unwrap(), &plan);
        let units = *plan.work_units.get().expect("it was calibrated");
        assert!((700..=1_300).contains(&units), "{hz} Hz: {units} units per ms instead of 1000");
        // One portion of 1 to 2 ms, by the calibrated work.
        let (took, _) = p50(&measured, "D2/single/precise");
        assert!((took - 1_500_000).abs() <= 1_000_000 + step.0, "{hz} Hz: {took}");
    }
}

#[test]
fn a_read_is_not_free_on_a_clock_that_moves_by_jiffies() {
    for hz in [100, 250, 1_000] {
        let measured = run(jiffies(Nanos(1_000_000_000 / hz)), experiment(ExperimentId::A1).unwrap(), &quick());
        let (cost_ps, series) = p50(&measured, "A1/monotonic-coarse");
        assert!((25_000..=100_000).contains(&cost_ps), "{hz} Hz: {cost_ps} instead of 50000");
        assert!(series.distribution.min() > Some(0), "{hz} Hz: a read that took no time");
    }
}

#[test]
fn every_experiment_ends_on_a_clock_that_moves_by_jiffies() {
    for plan in plans() {
        for of in registry() {
            let measured = run(jiffies(Nanos::from_millis(4)), of, &plan);
            let absurd = |series: &&Series| series.distribution.max() == Some(i64::MAX);
            assert!(!measured.series.iter().any(|series| absurd(&series)), "{}", of.id);
            for series in &measured.series {
                if let Status::Unavailable { reason } = &series.status {
                    assert!(!reason.to_string().contains("did not move"), "{}: {reason}", series.key);
                }
            }
        }
    }
}

#[test]
fn the_floor_of_a_clock_that_moves_by_jiffies_is_a_jiffy() {
    let platform: SharedPlatform = Arc::new(jiffies(Nanos::from_millis(4)));
    let bench = Bench::new(platform, StopFlag::new(), None).unwrap();
    let floor = floor(&bench);
    assert_eq!(floor.step_ns, Nanos::from_millis(4));
    assert!((18_000..=22_000).contains(&floor.read_cost_ps), "{floor:?}");
}
