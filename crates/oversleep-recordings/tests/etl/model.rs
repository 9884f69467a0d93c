//! A modelled Windows 10 1909 sleeps while others keep its CPUs busy; what it did is written as ETL, and must be told again.

use oversleep_model::platform;
use oversleep_record::Nanos;
use oversleep_record::conditions::Setting;
use oversleep_record::part::Part;
use oversleep_system::{Family, SharedPlatform, Target};

use crate::support::{APP, GAME, HOG, result, waits};
use crate::write::{LOST_CPU, SLEEPS, Trace};

const REQUESTED: Nanos = Nanos::from_millis(1);

/// A wait as the model knows it, from its own clock's zero on.
#[derive(Clone, Copy, Debug)]
struct Truth {
    called: Nanos,
    ready: Nanos,
    running: Nanos,
}

/// Sleeps of 1 ms on a busy machine: 60 as it is, 60 while another process holds 1 ms, 60 as it is again.
fn truth(machine: &SharedPlatform) -> (Vec<Truth>, [Nanos; 2]) {
    let load = machine.loads().iter().find(|load| load.info().name == "spin").unwrap();
    let _load = load.start(machine.cpus().len() as u32 * 2).unwrap();
    let mut sleep = machine.simplest(Family::Sleep).unwrap().open(machine).unwrap();
    let mut splitter = machine.splitter().unwrap();
    let (mut all, mut held) = (Vec::new(), [Nanos::ZERO; 2]);
    let mut neighbour = None;
    for number in 0..180 {
        if number == 60 {
            neighbour = Some(machine.neighbour(Some(&Setting::Nanos(REQUESTED))).unwrap());
            held[0] = machine.now();
        } else if number == 120 {
            neighbour = None;
            held[1] = machine.now();
        }
        splitter.arm();
        let called = machine.now();
        sleep.wait(Target { remaining: REQUESTED, deadline: called + REQUESTED });
        let switched = splitter.last_switch_in().unwrap();
        all.push(Truth { called, ready: switched.at - switched.run_queue_delay, running: switched.at });
    }
    drop(neighbour);
    (all, held)
}

/// In ns, as the performance counter of 10 MHz shows it.
fn counted(t: Nanos) -> i64 {
    t.0 / 100 * 100
}

/// When it is in the trace, whose first records come before the machine's beginning.
fn us(t: Nanos) -> f64 {
    (t.0 / 100) as f64 / 10.0 + 10.0
}

fn written((all, held): &(Vec<Truth>, [Nanos; 2])) -> Trace {
    let mut trace = Trace::default();
    trace.process(1.0, GAME, "game.exe");
    trace.process(1.0, 200, "hog.exe");
    trace.thread(2.0, (GAME, APP), None);
    trace.thread(2.0, (200, HOG), None);
    trace.switch(1, 3.0, APP, LOST_CPU);
    trace.request(us(held[0]), 63, GAME, 10_000);
    trace.request(us(held[1]), 63, GAME, 156_250);
    for wait in all {
        trace.switch(1, us(wait.called), HOG, SLEEPS);
        trace.ready(1, us(wait.ready), APP);
        trace.switch(1, us(wait.running), APP, LOST_CPU);
    }
    trace
}

#[test]
fn what_the_model_did_is_what_is_told() {
    let machine = platform("windows-10-1909", &[], 1).unwrap();
    let truth = truth(&machine);
    let file = written(&truth).write(&[]);
    let all = waits(&file);
    assert_eq!(all.len(), 180);
    for (wait, truth) in all.iter().zip(&truth.0) {
        let runq = counted(truth.running) - counted(truth.ready);
        assert_eq!((wait.lateness_ns, wait.parts.runq), (runq, runq), "{truth:?}");
        assert_eq!(wait.culprits.iter().map(|culprit| culprit.ran_ns as i64).sum::<i64>(), runq);
    }
    assert!(truth.0.iter().any(|wait| wait.running - wait.ready > Nanos(100_000)), "it is busy");

    let told = result(&file, Some(REQUESTED.0 as u64));
    let series = &told.series[0];
    let late = |wait: &Truth| counted(wait.running) - counted(wait.called) - REQUESTED.0;
    let latest = truth.0.iter().map(late).max();
    assert_eq!((series.counts.recorded, series.distribution.max()), (180, latest));
    let slack: i64 = truth.0.iter().map(|wait| (late(wait) - counted(wait.running) + counted(wait.ready)).max(0)).sum();
    assert_eq!(series.why.as_ref().unwrap().sum(Part::Slack), slack.into());

    let changes: Vec<(i64, String)> =
        told.changes.iter().map(|change| (change.at_ns.0, format!("{} {}", change.what, change.after))).collect();
    let at = |t: Nanos| counted(t) + 9_000;
    assert_eq!(
        changes,
        [
            (at(truth.1[0]), "game.exe (100) requests 1 ms".to_owned()),
            (at(truth.1[0]), "resolution 1 ms".to_owned()),
            (at(truth.1[1]), "game.exe (100) requests nothing".to_owned()),
            (at(truth.1[1]), "resolution 15.6 ms".to_owned()),
        ]
    );
}
