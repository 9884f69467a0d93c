//! Pipelines on a modelled machine: exact figures in virtual time.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use oversleep_model::sim::{Overshoot, Sim};
use oversleep_record::series::Status;
use oversleep_record::{ExperimentId, Idling, queue_labels};
use oversleep_system::{SharedPlatform, Target, Wait, WaitEnd, WaitInfo, Waiter};

use super::*;
use crate::plan::IdlePlan;
use crate::testing::{self, MachineBuilder};

/// Two CPUs; a park takes longer than requested by `overshoot`. A unit of work is 1 µs, and so is an item.
fn machine(overshoot: i64) -> MachineBuilder {
    testing::machine().with_cpus(4).with_wait("nanosleep", Overshoot::Fixed(Nanos(overshoot)))
}

fn plan(strategies: &[&str], ms: i64) -> Plan {
    let plan = Plan {
        subjects: strategies.iter().map(|name| (*name).to_owned()).collect(),
        limit: Some(Limit::Time(Nanos::from_millis(ms * 3))),
        idle: IdlePlan { item: Some(Nanos(1_000)), rates: vec![1_000], queue: Some(100), ..IdlePlan::default() },
        ..Plan::default()
    };
    plan.work_units.set(1_000).expect("it is new");
    plan
}

fn measured(machine: MachineBuilder, id: ExperimentId, plan: &Plan) -> Vec<Series> {
    let sim = Sim::start(machine.build());
    let experiment = [&E1, &E2].into_iter().find(|experiment| experiment.id == id).expect("one of them");
    let probes = (experiment.probes)(&*sim, plan);
    testing::measure_on(sim, probes).series
}

fn p50(series: &[Series], key: &str) -> i64 {
    let series = series.iter().find(|series| series.key == key).unwrap_or_else(|| panic!("{key}"));
    assert_eq!(series.status, Status::Complete, "{key}");
    series.distribution.p50().unwrap_or_else(|| panic!("{key}"))
}

#[test]
fn a_thorough_run_of_a_model_measures_each_pipeline_as_long_as_a_normal_one() {
    let longest = |depth| {
        let sim = Sim::start(machine(20_000).build());
        let plan = Plan { depth, ..Plan::default() };
        let probes = [&E1, &E2].into_iter().flat_map(|experiment| (experiment.probes)(&*sim, &plan));
        probes.map(|probe| probe.round_estimate() * i64::from(probe.rounds())).max()
    };
    assert_eq!(longest(Depth::Thorough), longest(Depth::Normal));
}

#[test]
fn a_park_caps_the_rate_at_a_queue_of_items_per_park() {
    // An item takes 1 µs and 64 of them a clock read of 20 ns, so the CPU rate is about 1 M/s.
    let of = |overshoot| measured(machine(overshoot), ExperimentId::E1, &plan(&["jet", "spin", "condvar"], 100));
    let fine = of(20_000);
    for key in ["E1/spin/flat-out", "E1/jet/flat-out"] {
        let rate = p50(&fine, key);
        assert!((980_000..=1_000_000).contains(&rate), "{key}: {rate}");
    }
    // A condition variable wakes the source for each batch that was taken, and 5 µs pass until it runs.
    assert!(p50(&fine, "E1/condvar/flat-out") > 900_000, "{}", p50(&fine, "E1/condvar/flat-out"));
    // The source parks for at least 10 ms: 100 items in that time.
    let coarse = of(9_999_000);
    let rate = p50(&coarse, "E1/jet/flat-out");
    assert!((9_900..=11_000).contains(&rate), "{rate}");
    assert!(p50(&coarse, "E1/spin/flat-out") > 980_000);
    let idling = coarse.iter().find(|series| series.key == "E1/jet/flat-out").and_then(|series| series.idling.as_ref());
    let idling = idling.expect("it is recorded");
    assert!(idling.mean_park().is_some_and(|park| park >= Nanos::from_millis(10)), "{:?}", idling.mean_park());
    assert_eq!(idling.park_overshoot.p50().map(|late| late / 100_000), Some(99), "and that is 9.99 ms too long");
    assert!(idling.cores().is_some_and(|cores| cores < 0.05), "{:?}", idling.cores());
}

#[test]
fn latency_is_what_the_strategy_adds() {
    let series = measured(machine(66_000), ExperimentId::E1, &plan(&["spin", "yield", "park", "condvar"], 50));
    // A turn of the loop and a clock read; a park of 1 µs that is 66 µs late; a hand-off of 5 µs.
    let range = |strategy: &str| match strategy {
        "spin" => 0..600,
        "yield" => 0..1_100,
        "park" => 0..68_000,
        _ => 5_000..5_200,
    };
    for strategy in ["spin", "yield", "park", "condvar"] {
        let key = format!("E1/{strategy}/rate=1000");
        let found = series.iter().find(|series| series.key == key).expect("it is measured");
        let (min, max) = (found.distribution.min().unwrap_or(-1), found.distribution.max().unwrap_or(-1));
        assert!(range(strategy).contains(&min) && range(strategy).contains(&max), "{key}: {min} to {max}");
        assert_eq!((found.counts.recorded, found.counts.expected), (150, Some(150)), "{key}");
        assert_eq!(found.label(queue_labels::RATE), Some(1_000));
        let cores = found.idling.as_ref().and_then(Idling::cores).expect("the model counts CPU time");
        let spins = ["spin", "yield"].contains(&strategy);
        assert!(if spins { cores > 0.95 } else { cores < 0.1 }, "{key}: {cores}");
    }
}

#[test]
fn items_are_due_whether_or_not_there_is_room() {
    // Room for one item, and the worker is away for 200 ms: the source can't send, but the items are due nevertheless.
    let mut plan = plan(&["park"], 40);
    plan.idle.queue = Some(1);
    let series = measured(machine(199_999_000), ExperimentId::E1, &plan);
    let paced = series.iter().find(|series| series.key == "E1/park/rate=1000").expect("it is measured");
    assert_eq!((paced.counts.recorded, paced.counts.expected), (120, Some(120)), "nothing is omitted");
    // The run is aborted after four times its 40 ms, when one item of each round had been sent.
    assert_eq!((paced.counts.missed, paced.calls().count()), (117, 3));
    let (min, max) = (paced.distribution.min().unwrap_or(0), paced.distribution.max().unwrap_or(0));
    assert!(min > 120_000_000 && max < 201_000_000, "{min} to {max}");
    // If there is room in the queue, a late worker delays every item that was due meanwhile.
    plan.idle.queue = Some(100);
    let plan = Plan { work_units: Arc::clone(&plan.work_units), ..plan };
    let series = measured(machine(9_999_000), ExperimentId::E1, &plan);
    let paced = series.iter().find(|series| series.key == "E1/park/rate=1000").expect("it is measured");
    let p50 = paced.distribution.p50().unwrap_or(0);
    assert!((4_000_000..=6_000_000).contains(&p50) && paced.counts.missed == 0, "half a park: {p50}");
}

#[test]
fn the_learned_back_off_does_not_park_where_a_park_takes_a_tick() {
    let series = measured(machine(15_600_000), ExperimentId::E1, &plan(&["typical", "oversleep"], 1_500));
    let (typical, learned) = (p50(&series, "E1/typical/rate=1000"), p50(&series, "E1/oversleep/rate=1000"));
    // At first it tries again and again, because it could be a disturbance; in 1.5 s it has learned that parks are late.
    assert!(typical > 5_000_000 && learned < 2_000, "{learned} against {typical}");
    // Flat out neither parks, because the next item arrives before the spins are over.
    assert!(p50(&series, "E1/typical/flat-out") > 980_000);
}

#[test]
fn workers_in_a_row_pass_every_item_on() {
    let mut plan = plan(&["jet", "condvar"], 30);
    plan.idle.workers = Some(3);
    for series in measured(machine(60_000), ExperimentId::E1, &plan) {
        assert_eq!(series.status, Status::Complete, "{}", series.key);
        assert_eq!(series.label(queue_labels::WORKERS), Some(3));
        match series.label(queue_labels::RATE) {
            Some(_) => assert_eq!((series.counts.recorded, series.counts.missed), (90, 0), "{}", series.key),
            None => assert_eq!(series.counts.recorded, 3, "{}", series.key),
        }
    }
}

#[test]
fn a_burst_at_the_last_worker_is_not_a_rate() {
    // Parks of a tick of 15.625 ms, and a window of 70 ms: the pipeline takes some ticks to fill, then passes its items
    // in bursts. A queue passes in one to two ticks.
    let tick = 0.015_625;
    for workers in [1, 3, 5] {
        let mut plan = plan(&["jet"], 70);
        plan.idle.workers = Some(workers);
        let sim = Sim::start(machine(20_000).build());
        let mut probes = (E2.probes)(&*sim, &plan);
        let key = "E2/jet/grid=15.625ms/queue=100";
        probes.retain_mut(|probe| probe.recorders().iter().any(|recorder| recorder.series().key == key));
        let rate = p50(&testing::measure_on(sim, probes).series, key) as f64;
        let queues = rate * tick / 100.0;
        assert!((0.4..=1.1).contains(&queues), "{workers} workers: {queues} queues per tick");
    }
    // No more items than one worker can process.
    let mut plan = plan(&["jet", "spin"], 70);
    plan.idle.workers = Some(3);
    let series = measured(machine(15_600_000), ExperimentId::E1, &plan);
    let (jet, spin) = (p50(&series, "E1/jet/flat-out"), p50(&series, "E1/spin/flat-out"));
    assert!(jet < 10_000 && (980_000..=1_000_000).contains(&spin), "{jet}, {spin}");
}

#[test]
fn a_pipeline_that_never_fills_has_no_rate_but_a_reason() {
    let mut plan = plan(&["jet"], 10);
    plan.idle.workers = Some(3);
    let series = measured(machine(99_999_000), ExperimentId::E1, &plan);
    let found = series.iter().find(|series| series.key == "E1/jet/flat-out").expect("it is listed");
    let Status::Unavailable { reason } = &found.status else { panic!("{:?}", found.status) };
    let reason = reason.to_string();
    assert!(reason.contains("3 workers") && reason.contains("--for"), "{reason}");
    assert_eq!(found.counts.recorded, 0);
}

#[test]
fn throughput_follows_queue_and_grid() {
    let mut plan = plan(&[], 160);
    plan.idle.queue = Some(128);
    let series = measured(machine(20_000), ExperimentId::E2, &plan);
    assert_eq!(series.len(), 9);
    // Both sides wake at the same point of the grid. The worker checks first, finds nothing and parks again, so it
    // takes two points of the grid to fill and empty the queue: the effective Q is half the size.
    for (key, expected) in [
        ("E2/jet/queue=2048", 1_000_000),
        ("E2/jet/grid=15.625ms/queue=8", 256),
        ("E2/jet/grid=15.625ms/queue=128", 4_096),
        ("E2/jet/grid=1ms/queue=128", 64_000),
    ] {
        let rate = p50(&series, key);
        assert!((rate - expected).abs() * 10 < expected, "{key}: {rate}, expected {expected}");
    }
}

#[test]
fn a_strategy_of_the_users_own_has_the_figures_given() {
    let idle = IdlePlan { spins: Some(7), park_from: Some(Nanos::from_millis(3)), ..IdlePlan::default() };
    let own = |subjects: &[&str]| {
        let subjects = subjects.iter().map(|name| (*name).to_owned()).collect();
        chosen(&Plan { idle: idle.clone(), subjects, ..Plan::default() })
    };
    let ms = Nanos::from_millis;
    let expected = Kind::Fixed(Backoff { spins: 7, yields: 10, park_from: ms(3), park_to: ms(3) });
    assert_eq!(own(&[]), [(CUSTOM.to_owned(), expected)]);
    assert_eq!(own(&["spin"]).iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["spin", CUSTOM]);
    assert_eq!(chosen(&Plan::default()).len(), STRATEGIES.len());
}

/// A wait that fails after some.
struct Failing(WaitInfo, Arc<AtomicI64>);

impl Wait for Failing {
    fn info(&self) -> &WaitInfo {
        &self.0
    }
    fn open(&self, platform: &SharedPlatform) -> Result<Box<dyn Waiter>, Unavailable> {
        Ok(Box::new(FailingWaiter(Arc::clone(platform), Arc::clone(&self.1))))
    }
}

struct FailingWaiter(SharedPlatform, Arc<AtomicI64>);

impl Waiter for FailingWaiter {
    fn wait(&mut self, target: Target) -> WaitEnd {
        self.0.work(target.remaining.0.unsigned_abs() / 1_000 + 1);
        match self.1.fetch_sub(1, Ordering::Relaxed) {
            0 => WaitEnd::Failed(Unavailable::failed("parking", "no more of them")),
            _ => WaitEnd::TimedOut,
        }
    }
}

#[test]
fn a_park_that_fails_ends_the_run_with_its_reason() {
    let sim = Sim::start(machine(20_000).build());
    let info = sim.waits().iter().map(|wait| wait.info()).find(|info| info.name == "nanosleep").expect("it is there");
    let failing = Failing(info.clone(), Arc::new(AtomicI64::new(30)));
    let mut altered = testing::Altered::around(sim);
    altered.waits = Some(vec![Box::new(failing)]);
    let mut plan = plan(&["jet"], 20);
    plan.idle.workers = Some(2);
    let probes = (E1.probes)(&altered, &plan);
    let series = testing::measure_on(Arc::new(altered), probes).series;
    let reason = Unavailable::failed("parking", "no more of them");
    assert!(series.iter().any(|series| series.status == Status::Unavailable { reason: reason.clone() }), "{series:?}");
}
