//! Neighbours on a machine with one tick for all, on one where they don't matter, and on one that starts none.

use std::sync::Arc;

use oversleep_model::sim::Overshoot;
use oversleep_record::conditions::HeldSettings;
use oversleep_record::series::{Series, Status};
use oversleep_record::{ExperimentId, Unavailable, label};
use oversleep_system::SharedPlatform;

use super::probe::STARTING;
use super::*;
use crate::bench::Bench;
use crate::probe::Measured;
use crate::ticking;
use crate::{StopFlag, rounds, testing};

fn measure_on(platform: SharedPlatform, experiment: &Experiment) -> Measured {
    let probes = (experiment.probes)(&*platform, &Plan::default());
    let bench = Bench::new(platform, StopFlag::new(), None).expect("the reference clock is always there");
    let mut measured = Measured::default();
    rounds::measure(&bench, probes, None, &mut rounds::Silent, &mut measured);
    measured
}

#[track_caller]
fn median(measured: &Measured, key: &str) -> Nanos {
    let series = measured.series.iter().find(|series| series.key == key);
    let series = series.unwrap_or_else(|| panic!("no series {key}"));
    Nanos(series.distribution.p50().unwrap_or_else(|| panic!("{key} is empty: {:?}", series.status)))
}

fn held(settings: &str) -> HeldSettings {
    settings.parse().expect("settings")
}

/// The duration of a 1 ms sleep back to back on a tick, in tenths of a millisecond.
fn duration_of_sleep(measured: &Measured, experiment: ExperimentId, neighbour: &str) -> i64 {
    let lateness = median(measured, &format!("{experiment}/sleep/1ms/neighbour={neighbour}"));
    (lateness + Nanos::from_millis(1) + Nanos(50_000)).0 / 100_000
}

#[test]
fn where_one_tick_serves_all_everything_follows_the_neighbour() {
    let machine = Arc::new(ticking::machine());
    let measured = measure_on(machine.clone(), &C3);
    let stated = |neighbour: &str| median(&measured, &format!("C3/resolution/stated/neighbour={neighbour}"));
    let step = |neighbour: &str| median(&measured, &format!("C3/tick-clock/step/neighbour={neighbour}"));
    let tick = Nanos(15_625_000);
    assert_eq!((stated("none"), duration_of_sleep(&measured, ExperimentId::C3, "none")), (tick, 156));
    assert!((step("none") - tick).0.abs() <= tick.0 / 500, "{}", step("none"));
    for ms in 1..=15 {
        let neighbour = format!("{ms}ms");
        assert_eq!(stated(&neighbour), Nanos::from_millis(ms));
        // Called just after a tick, 1 ms ends at the tick after the next if the tick is 1 ms itself.
        assert_eq!(
            duration_of_sleep(&measured, ExperimentId::C3, &neighbour),
            if ms == 1 { 20 } else { ms * 10 },
            "{neighbour}"
        );
        let error = step(&neighbour) - Nanos::from_millis(ms);
        assert!(error.0.abs() <= ms * 2_000, "{neighbour}: {}", step(&neighbour));
    }
    let labelled =
        measured.series.iter().find(|series| series.label(label::NEIGHBOUR) == Some(held("7ms"))).expect("it is there");
    assert_eq!(
        (labelled.label(label::NEIGHBOUR), labelled.label(label::GRANTED)),
        (Some(held("7ms")), Some(held("7ms")))
    );
    assert!(measured.series.iter().all(|series| series.status == Status::Complete && series.conditions.is_as_found()));
    assert!(ticking::has_default_period(&*machine), "all have left");
}

#[test]
fn the_lowest_wins_until_its_owner_leaves() {
    let measured = measure_on(Arc::new(ticking::machine()), &C4);
    let seen: Vec<i64> = ["none", "2ms", "2ms+4ms", "4ms"]
        .iter()
        .map(|who| duration_of_sleep(&measured, ExperimentId::C4, who))
        .collect();
    assert_eq!(seen, [156, 20, 20, 40]);
    let stated = |who: &str| median(&measured, &format!("C4/resolution/stated/neighbour={who}"));
    assert_eq!(["2ms+4ms", "4ms"].map(stated), [Nanos::from_millis(2), Nanos::from_millis(4)]);
    let both = measured
        .series
        .iter()
        .find(|series| series.label(label::NEIGHBOUR) == Some(held("2ms+4ms")))
        .expect("it is there");
    assert_eq!(both.label(label::GRANTED), Some(held("2ms+4ms")));
}

#[test]
fn a_refused_neighbour_is_the_reason_of_its_own_step_only() {
    let measured = measure_on(Arc::new(ticking::refusing(Nanos::from_millis(3))), &C3);
    for series in &measured.series {
        let is_refused = matches!(series.status, Status::Unavailable { .. });
        assert_eq!(
            is_refused,
            series.label(label::NEIGHBOUR) == Some(held("3ms")),
            "{}: {:?}",
            series.key,
            series.status
        );
    }
}

#[test]
fn a_neighbour_that_dies_holds_nothing_any_more_and_its_step_says_so() {
    // The neighbour dies while the first round sleeps beside it.
    let short = Nanos::from_millis(60);
    let machine = Arc::new(ticking::killing(Nanos::from_millis(3), short));
    let measured = measure_on(machine.clone(), &C3);
    for series in &measured.series {
        let died = match &series.status {
            Status::Unavailable { reason } => reason.to_string().contains("the process ended (signal: 9)"),
            _ => false,
        };
        assert_eq!(died, series.label(label::NEIGHBOUR) == Some(held("3ms")), "{}: {:?}", series.key, series.status);
    }
    assert!(ticking::has_default_period(&*machine));
    // B dies beside C: the step of both is not available, but the others are.
    let measured = measure_on(Arc::new(ticking::killing(Nanos::from_millis(2), Nanos::from_millis(400))), &C4);
    let is_available = |who: &str| {
        let mut of = measured.series.iter().filter(|series| series.label(label::NEIGHBOUR) == Some(held(who)));
        of.all(|series| series.status == Status::Complete)
    };
    assert_eq!(["none", "2ms", "2ms+4ms", "4ms"].map(is_available), [true, true, false, true]);
}

#[test]
fn where_no_process_can_be_started_every_series_says_so() {
    let machine = testing::machine().with_wait("nanosleep", Overshoot::Fixed(Nanos(66_000)));
    for experiment in [&C3, &C4] {
        let mut platform = testing::Altered::from(machine.clone());
        platform.start_neighbour = Some(Box::new(|_| Err(Unavailable::NotOnThisPlatform)));
        let measured = measure_on(Arc::new(platform), experiment);
        assert!(!measured.series.is_empty());
        assert!(measured.series.iter().all(|series| matches!(series.status, Status::Unavailable { .. })));
    }
}

#[test]
fn a_run_cut_short_has_what_conclusions_need() {
    struct Labels(Vec<String>);
    impl rounds::Progress for Labels {
        fn next(&mut self, step: &rounds::Step<'_>) {
            self.0.push(step.label.rsplit("holds ").next().expect("a setting").to_owned());
        }
    }
    let platform: SharedPlatform = Arc::new(ticking::machine());
    let plan = Plan { depth: Depth::Quick, ..Plan::default() };
    let probes: Vec<Box<dyn Probe>> = [&C3, &C4].iter().flat_map(|it| (it.probes)(&*platform, &plan)).collect();
    let estimate: Nanos = probes.iter().map(|probe| probe.round_estimate()).sum();
    let (bench, mut labels) =
        (Bench::new(platform.clone(), StopFlag::new(), None).expect("a clock"), Labels(Vec::new()));
    let mut measured = Measured::default();
    let begun = platform.now();
    rounds::measure(&bench, probes, None, &mut labels, &mut measured);
    let duration = platform.now() - begun;
    // C4 names the longest setting that its neighbours hold.
    let order = ["nothing", "1 ms", "2 ms", "4 ms", "5 ms", "10 ms", "15 ms", "3 ms", "4 ms", "6 ms"];
    assert_eq!(labels.0[..order.len()], order);
    // The series keep their order nevertheless.
    let of_c3 = |series: &&Series| series.key.is_of(ExperimentId::C3) && series.key.subject() == "sleep";
    let keys: Vec<&str> = measured.series.iter().filter(of_c3).map(|series| series.key.as_str()).collect();
    assert_eq!(keys[3], "C3/sleep/1ms/neighbour=3ms");
    // The estimate is for real programs, which take time to start; otherwise it is close.
    let starting = STARTING * 21;
    assert!(estimate >= duration && estimate - starting <= duration * 2, "{estimate} {duration}");
}
