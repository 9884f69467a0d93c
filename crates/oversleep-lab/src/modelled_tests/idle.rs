//! Idle strategies on modelled machines: the collapse where a park takes a tick, the recovery at 1 ms, and the rule.

use oversleep_explain::idle::{ParkRule, Run, fit, mean_park, runs};
use oversleep_measure::{IdlePlan, Limit};

use super::*;

fn idle(name: &str, strategies: &[&str], held: Conditions) -> ResultFile {
    let plan = Plan {
        subjects: strategies.iter().map(|name| (*name).to_owned()).collect(),
        conditions: held,
        limit: Some(Limit::Time(Nanos::from_millis(330))),
        ..Plan::default()
    };
    run_on(Laboratory::on(platform(name, &[])), &[ExperimentId::E1], plan)
}

fn p50(file: &ResultFile, key: &str) -> f64 {
    let series = file.series(key).unwrap_or_else(|| panic!("{key}"));
    series.distribution.p50().unwrap_or_else(|| panic!("{key}")) as f64
}

#[test]
fn a_park_that_takes_a_tick_costs_the_throughput_and_a_resolution_of_1_ms_regains_some() {
    for name in ["windows-10-1909", "windows-10-2004"] {
        let strategies = ["jet", "condvar"];
        let as_found = idle(name, &strategies, Conditions::as_found());
        let raised = idle(name, &strategies, holding(MS));
        let (blocked, parked) = (p50(&as_found, "E1/condvar/flat-out"), p50(&as_found, "E1/jet/flat-out"));
        assert!(blocked > 4e6 && parked < 66_000.0, "{name}: {blocked} and {parked}");
        let regained = p50(&raised, "E1/jet/flat-out") / parked;
        assert!((5.0..14.0).contains(&regained), "{name}: {regained} times as much");
        let park = mean_park(as_found.series("E1/jet/flat-out").expect("it is there"));
        assert!(park.is_some_and(|park| (Nanos(14_000_000)..=Nanos(15_700_000)).contains(&park)), "{name}: {park:?}");
        // Paced: half a tick as found, well below a millisecond with 1 ms, microseconds where no timer is involved.
        let ms = |file: &ResultFile, strategy: &str| p50(file, &format!("E1/{strategy}/rate=1000")) / 1e6;
        assert!((6.0..10.0).contains(&ms(&as_found, "jet")), "{name}: {} ms", ms(&as_found, "jet"));
        assert!((0.3..1.1).contains(&ms(&raised, "jet")), "{name}: {} ms", ms(&raised, "jet"));
        assert!(ms(&as_found, "condvar") < 0.01, "{name}: {} ms", ms(&as_found, "condvar"));
    }
}

fn run_at<'a>(runs: &[Run<'a>], grid: Option<Nanos>, queue: u64) -> Run<'a> {
    *runs.iter().find(|run| (run.grid, run.queue) == (grid, queue)).expect("it is one of them")
}

/// E2 with an eighth of the rate and of the queue, which doesn't change the position of a run on the curve.
fn by_park(name: &str) -> ResultFile {
    let plan = Plan {
        idle: IdlePlan { queue: Some(128), item: Some(Nanos(1_952)), ..IdlePlan::default() },
        conditions: if name.starts_with("windows") { holding(MS) } else { Conditions::as_found() },
        limit: Some(Limit::Time(Nanos::from_millis(1_200))),
        ..Plan::default()
    };
    run_on(Laboratory::on(platform(name, &[])), &[ExperimentId::E2], plan)
}

#[test]
fn the_cpu_rate_of_one_run_and_the_queue_of_another_predict_a_third() {
    for name in ["linux-hz250", "windows-10-2004"] {
        let file = by_park(name);
        let runs = runs(&file);
        let tick = Nanos(15_625_000);
        let (cpu, parks) = (run_at(&runs, None, 2_048), run_at(&runs, Some(tick), 128));
        let rule = ParkRule::of_two(&cpu, &parks);
        for (grid, queue) in [(Some(MS), 128), (Some(MS), 2_048), (Some(tick), 2_048), (Some(tick), 8)] {
            let third = run_at(&runs, grid, queue);
            let off = third.rate / rule.of(&third).expect("both figures are known");
            assert!((0.7..1.3).contains(&off), "{name}, {grid:?}, {queue}: {} is {off} of {rule:?}", third.rate);
        }
        // All of them together give the same.
        let fitted = fit(&runs).expect("there are enough");
        let (rate, share) = (fitted.cpu_rate.expect("seen"), fitted.queue_share.expect("seen"));
        assert!((rate / cpu.rate - 1.0).abs() < 0.02 && (0.4..=1.05).contains(&share), "{name}: {fitted:?}");
        assert!(fitted.residual(&runs).expect("runs").median < 1.15, "{name}: {fitted:?}");
    }
}

#[test]
fn a_machine_gets_a_recommendation_in_a_sentence() {
    let file = idle("windows-10-1909", &["jet", "condvar"], Conditions::as_found());
    let sentence = |id: &str| file.findings.iter().find(|finding| finding.id == id).map(|found| found.sentence.clone());
    let collapse = sentence("OVS-G012").expect("it is checked");
    assert!(collapse.starts_with("parks of 1") && collapse.contains(" ms cost jet 99"), "{collapse}");
    let chosen = sentence("OVS-G014").expect("it is checked");
    assert!(chosen.starts_with("condvar is the idle strategy for this machine: at 1,000 items/s"), "{chosen}");
    assert!(sentence("OVS-G013").is_none(), "E2 was not run");
}
