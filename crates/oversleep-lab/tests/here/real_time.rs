//! On the real machine, in real time: distributions beside each other, run with `-- --ignored`.

use oversleep_lab::{Laboratory, Request};
use oversleep_measure::{Depth, Limit, Plan, Silent, StopFlag, experiment};
use oversleep_record::clock::Counts;
use oversleep_record::{CommandName, ExperimentId, Nanos, ResultFile};
use oversleep_testing::skip;

fn run(experiments: &[ExperimentId], plan: Plan) -> ResultFile {
    let request = Request {
        command: CommandName::Check,
        experiments: experiments.iter().map(|&id| experiment(id).expect("a known id")).collect(),
        plan,
        name: None,
        try_remedies: false,
    };
    Laboratory::on(oversleep_native::here())
        .run(&request, &StopFlag::new(), &mut Silent)
        .expect("the reference clock is always there")
}

#[test]
#[ignore = "real time, some seconds"]
fn every_wait_ends() {
    let plan = Plan { requests: vec![Nanos::from_millis(1)], limit: Some(Limit::Count(30)), ..Plan::default() };
    let file = run(&[ExperimentId::B5], plan);
    let mut measured = 0;
    for series in file.series.iter().filter(|series| series.has_values()) {
        measured += 1;
        assert_eq!(series.counts.recorded, 30, "{}", series.key);
    }
    assert!(measured >= 5, "{measured} waits could be measured");
}

#[test]
#[ignore = "real time, some seconds"]
fn clocks_of_elapsed_time_agree() {
    let file = run(&[ExperimentId::A2], Plan { depth: Depth::Normal, ..Plan::default() });
    let mut compared = 0;
    for clock in file.clocks.iter().filter(|clock| clock.counts == Counts::ElapsedTime) {
        let Some(ratio) = clock.indicated_ratio() else { continue };
        compared += 1;
        assert!((0.9..1.1).contains(&ratio), "{}: {ratio}", clock.name);
    }
    assert!(compared >= 2);
}

#[test]
#[ignore = "real time, some seconds"]
fn more_slack_is_more_lateness() {
    let file = run(&[ExperimentId::C2], Plan { limit: Some(Limit::Count(40)), ..Plan::default() });
    let held = |series: &&oversleep_record::Series| series.has_values() && series.conditions.all_held();
    let Some(sleep) = file.series.iter().find(held).map(|series| series.subject.clone()) else {
        return skip("the resolution can't be changed");
    };
    if file.series(format!("C2/{sleep}/1ms/slack=1ns")).is_none() {
        return skip("this system's timers have no slack to set");
    }
    let lateness = |slack: &str| {
        let series = file.series(format!("C2/{sleep}/1ms/slack={slack}")).expect("one of the settings compared");
        series.distribution.p50().expect("it has values")
    };
    assert!(lateness("5ms") > lateness("1ns"), "{} against {}", lateness("5ms"), lateness("1ns"));
}

/// The rule of throughput on this machine: the CPU rate of one run and the effective Q of another predict a third.
#[test]
#[ignore = "real time, some seconds"]
fn two_runs_of_a_queue_predict_a_third() {
    use oversleep_explain::idle::{ParkRule, Run, runs};
    let (ms, tick) = (Nanos::from_millis(1), Nanos(15_625_000));
    let mut off = [Vec::new(), Vec::new()];
    // Each pass measures all runs in alternated rounds.
    for _ in 0..3 {
        let file = run(&[ExperimentId::E2], Plan { depth: Depth::Normal, ..Plan::default() });
        let runs = runs(&file);
        let at = |grid: Option<Nanos>, queue: u64| -> Run<'_> {
            *runs.iter().find(|run| (run.grid, run.queue) == (grid, queue)).expect("it is measured")
        };
        let rule = ParkRule::of_two(&at(None, 16_384), &at(Some(tick), 1_024));
        for (off, queue) in off.iter_mut().zip([64, 1_024]) {
            let third = at(Some(ms), queue);
            off.push(third.rate / rule.of(&third).expect("both figures are known"));
            eprintln!("{rule:?}: queue {queue}: {:.2} of what it predicts", off[off.len() - 1]);
        }
    }
    for off in &mut off {
        off.sort_by(f64::total_cmp);
        assert!((0.7..=1.3).contains(&off[1]), "{off:?}");
    }
}
