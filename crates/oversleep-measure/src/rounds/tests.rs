//! Interleaving, conditions, disturbance, and rounds that go wrong.

use oversleep_model::sim::{Overshoot, Sim, Stall};
use oversleep_record::conditions::{Outcome, Setting};
use oversleep_record::series::{Quantity, Series, Status, Unit};
use oversleep_record::{Conditions, ExperimentId};
use oversleep_system::{Restore, SharedPlatform};

use super::held::Guards;
use super::*;
use crate::{Amount, StopFlag, WaitProbe, testing};

fn ten_rounds_of(wait: &str, sim: &Sim) -> Box<dyn Probe> {
    let amount = Amount { count: 100, time: Nanos::MAX, rounds: 10 };
    WaitProbe::new(sim, ExperimentId::B5, wait, Nanos::from_millis(1), amount).boxed()
}

fn run(time_max: Option<Nanos>, stop_after_rounds: Option<u32>) -> Measured {
    struct StopAfter(Option<u32>, StopFlag);
    impl Progress for StopAfter {
        fn next(&mut self, _step: &Step<'_>) {
            self.0 = self.0.map(|left| left.saturating_sub(1));
            if self.0 == Some(0) {
                self.1.raise();
            }
        }
    }
    let machine = testing::machine()
        .with_wait("nanosleep", Overshoot::Fixed(Nanos::ZERO))
        .with_wait("usleep", Overshoot::Fixed(Nanos::ZERO));
    let sim = Sim::start(machine.build());
    let probes = vec![ten_rounds_of("nanosleep", &sim), ten_rounds_of("usleep", &sim)];
    let stop = StopFlag::new();
    let platform: SharedPlatform = sim;
    let bench = Bench::new(platform, stop.clone(), None).unwrap();
    let mut measured = Measured::default();
    measure(&bench, probes, time_max, &mut StopAfter(stop_after_rounds, stop), &mut measured);
    measured
}

/// On a slow machine, or one whose waits end at a tick, no essential series may be cut short to a few values.
#[test]
fn where_not_everything_fits_what_conclusions_rest_on_has_all_of_its_rounds() {
    let machine = testing::machine()
        .with_wait("nanosleep", Overshoot::Fixed(Nanos::ZERO))
        .with_wait("usleep", Overshoot::Fixed(Nanos::ZERO));
    let sim = Sim::start(machine.build());
    let amount = Amount { count: 100, time: Nanos::MAX, rounds: 10 };
    let main = WaitProbe::new(&*sim, ExperimentId::B5, "nanosleep", Nanos::from_millis(1), amount).essential();
    let probes = vec![ten_rounds_of("usleep", &sim), main.boxed()];
    let platform: SharedPlatform = sim;
    let bench = Bench::new(platform, StopFlag::new(), None).unwrap();
    let mut measured = Measured::default();
    let begun = bench.platform().now();
    measure(&bench, probes, Some(Nanos::from_millis(155)), &mut Silent, &mut measured);
    assert!(bench.platform().now() - begun < Nanos::from_millis(165), "it ends in time");
    let counts: Vec<u64> = measured.series.iter().map(|series| series.distribution.count()).collect();
    assert_eq!(counts, [50, 100], "the other one has what is left");
    assert_eq!(measured.series[0].status, Status::Partial);
    assert_eq!(measured.series[1].status, Status::Complete);
}

/// Measures a round, then panics like `std::thread::sleep` if the system refuses its call.
struct PanickingWait(WaitProbe);

impl Probe for PanickingWait {
    fn label(&self) -> String {
        self.0.label()
    }
    fn rounds(&self) -> u32 {
        self.0.rounds()
    }
    fn round_estimate(&self) -> Nanos {
        self.0.round_estimate()
    }
    fn conditions(&self) -> &Conditions {
        self.0.conditions()
    }
    fn round(&mut self, bench: &Bench) -> Result<(), Unavailable> {
        self.0.round(bench)?;
        // Like `panic!`, but without the output of the default hook.
        std::panic::resume_unwind(Box::new("left: 38, right: 4".to_owned()));
    }
    fn recorders(&mut self) -> Vec<&mut SeriesRecorder> {
        self.0.recorders()
    }
}

#[test]
fn a_panic_costs_only_its_own_series() {
    let machine = testing::machine()
        .with_wait("nanosleep", Overshoot::Fixed(Nanos::ZERO))
        .with_wait("thread-sleep", Overshoot::Fixed(Nanos::ZERO))
        .with_preempt_delay(Nanos(6_000));
    let sim = Sim::start(machine.build());
    let amount = Amount { count: 30, time: Nanos::MAX, rounds: 3 };
    let panics = WaitProbe::new(&*sim, ExperimentId::B5, "thread-sleep", Nanos::from_millis(1), amount)
        .under(Conditions::as_found().with_load("spin", 2));
    let measured =
        testing::measure_on(sim.clone(), vec![Box::new(PanickingWait(panics)), ten_rounds_of("nanosleep", &sim)]);
    let [panicked, other] = &measured.series[..] else { panic!("two series") };
    let reason = Unavailable::failed("measuring", "the thread panicked (left: 38, right: 4)");
    assert_eq!(panicked.status, Status::Unavailable { reason });
    assert_eq!(panicked.counts.recorded, 10, "what was measured before is kept, and it isn't tried again");
    // The load of the other probe was stopped.
    assert_eq!((other.status.clone(), other.counts.recorded), (Status::Complete, 100));
    assert_eq!(other.distribution.max(), Some(20), "one read of the clock");
}

fn measured_on(platform: testing::Altered, conditions: Conditions) -> Series {
    let platform: SharedPlatform = Arc::new(platform);
    let amount = Amount { count: 100, time: Nanos::MAX, rounds: 10 };
    let probe =
        WaitProbe::new(&*platform, ExperimentId::B5, "nanosleep", Nanos::from_millis(1), amount).under(conditions);
    let bench = Bench::new(platform, StopFlag::new(), None).unwrap();
    let mut measured = Measured::default();
    measure(&bench, vec![probe.boxed()], None, &mut Silent, &mut measured);
    measured.series.remove(0)
}

/// A setting that another process changes in the second round.
struct Changed(std::sync::atomic::AtomicU32);

impl oversleep_system::Tunable for Changed {
    fn info(&self) -> &oversleep_system::TunableInfo {
        oversleep_system::tunables::LINUX.iter().find(|info| info.name == "slack").unwrap()
    }
    fn current(&self) -> Result<Setting, Unavailable> {
        let looks = self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        Ok(Setting::Nanos(Nanos(if looks == 3 { 50_000 } else { 1 })))
    }
    fn apply(&self, setting: &Setting) -> (Outcome, Option<Box<dyn Restore>>) {
        (Outcome::Applied { was: None, now: setting.clone() }, None)
    }
    fn settings_to_compare(&self) -> Vec<Setting> {
        Vec::new()
    }
}

#[test]
fn a_setting_that_somebody_else_changes_did_not_hold() {
    let machine = testing::machine().with_wait("nanosleep", Overshoot::Fixed(Nanos(66_000)));
    let conditions = Conditions::as_found().with("slack", Setting::Nanos(Nanos(1)));
    let altered = testing::Altered::from(machine.clone()).changing(Changed(3.into()));
    let series = measured_on(altered, conditions.clone());
    let changed = "something outside oversleep changed it from 50 µs to 1 ns while it was measured";
    let why = Unavailable::failed("holding it", changed);
    assert_eq!(series.conditions.outcomes["slack"], Outcome::Denied { why });
    assert!(!series.conditions.all_held() && series.counts.recorded == 100, "what was measured is kept");
    let kept = measured_on(testing::Altered::from(machine).changing(Changed(4.into())), conditions);
    assert!(kept.conditions.all_held());
}

#[test]
fn a_wait_that_never_returns_costs_only_its_own_series() {
    let machine = testing::machine().with_wait("nanosleep", Overshoot::Fixed(Nanos(66_000)));
    let of = |looks| {
        let altered = testing::Altered::from(machine.clone()).stuck_for(looks);
        let series = measured_on(altered, Conditions::as_found());
        let reason = match series.status {
            Status::Unavailable { reason } => reason.to_string(),
            _ => String::new(),
        };
        (reason, series.counts.recorded, series.key)
    };
    // Its limit is between ten and eleven seconds.
    assert_eq!(of(10).0, "", "each may have passed at once, while the process was stopped");
    let (ended, _, key) = of(11);
    assert!(ended.starts_with("measuring a round: it had not ended after "), "{ended}");
    let (left, recorded, key_left) = of(1_000);
    assert_eq!((left, recorded, key_left), (ended, 0, key), "its thread has the values");
}

/// Makes threads run forever from the second round on.
struct StuckLater(Arc<std::sync::atomic::AtomicI64>, u32);

impl Progress for StuckLater {
    fn next(&mut self, _step: &Step<'_>) {
        self.1 += 1;
        if self.1 == 2 {
            self.0.store(1_000, std::sync::atomic::Ordering::Relaxed);
        }
    }
}

#[test]
fn a_round_that_never_ends_keeps_the_values_of_those_before() {
    let machine = testing::machine().with_wait("nanosleep", Overshoot::Fixed(Nanos(66_000)));
    let altered = testing::Altered::from(machine);
    let mut later = StuckLater(Arc::clone(&altered.stuck_for), 0);
    let platform: SharedPlatform = Arc::new(altered);
    let amount = Amount { count: 30, time: Nanos::MAX, rounds: 3 };
    let probe = WaitProbe::new(&*platform, ExperimentId::B5, "nanosleep", Nanos::from_millis(1), amount);
    let bench = Bench::new(platform, StopFlag::new(), None).unwrap();
    let mut measured = Measured::default();
    measure(&bench, vec![probe.boxed()], None, &mut later, &mut measured);
    let series = &measured.series[0];
    assert!(matches!(series.status, Status::Unavailable { .. }));
    assert_eq!((series.counts.recorded, series.distribution.count(), series.rounds.len()), (10, 10, 1));
}

/// A stop of half a second in the only sleep of a round looked like that sleep's usual lateness.
#[test]
fn waits_too_few_to_know_the_usual_lateness_are_guarded() {
    let guarded = |quantity, expected| {
        needs_guard(&SeriesRecorder::new(Series::new(ExperimentId::B2, "nanosleep", quantity, Unit::Ns), expected))
    };
    assert!(guarded(Quantity::Duration, 2) && guarded(Quantity::Lateness, 9));
    assert!(!guarded(Quantity::Duration, 10) && !guarded(Quantity::Lateness, 1_000));
    assert!(guarded(Quantity::HandoffLatency, 1_000) && !guarded(Quantity::Power, 2));
}

#[test]
fn a_stopped_process_marks_its_round() {
    let stop = Stall { at: Nanos::from_millis(35), length: Nanos::from_millis(500) };
    let machine =
        || testing::machine().with_wait("nanosleep", Overshoot::Fixed(Nanos(66_000))).with_stall(stop).build();
    let stalled = |platform: SharedPlatform| -> Vec<Option<Nanos>> {
        let amount = Amount { count: 100, time: Nanos::MAX, rounds: 10 };
        let probe = WaitProbe::new(&*platform, ExperimentId::B5, "nanosleep", Nanos::from_millis(1), amount);
        let bench = Bench::new(platform, StopFlag::new(), None).unwrap();
        let mut measured = Measured::default();
        measure(&bench, vec![probe.boxed()], None, &mut Silent, &mut measured);
        measured.series[0].rounds.iter().map(|round| round.disturbance.stalled_ns).collect()
    };
    let seen = stalled(Sim::start(machine()));
    let stopped: Vec<Nanos> = seen.iter().flatten().copied().filter(|&span| span > Nanos::ZERO).collect();
    assert_eq!(seen.len(), 10);
    assert!(matches!(stopped[..], [span] if (span - stop.length).0.abs() < 1_100_000), "{seen:?}");
    let altered = |run_delay: fn(Nanos) -> Option<Nanos>| -> SharedPlatform {
        Arc::new(testing::Altered::of(machine()).counting(move |mut counters| {
            counters.totals.run_delay_ns = run_delay(counters.at);
            counters
        }))
    };
    assert_eq!(stalled(altered(|_| None)), [None; 10], "unknown is never zero");
    assert_eq!(stalled(altered(Some)), [Some(Nanos::ZERO); 10], "it waited for a CPU");
}

#[test]
fn stops_have_their_length_however_long_the_thread_waited_for_a_cpu_in_between() {
    let ms = Nanos::from_millis;
    let stops = [(300, 1_000), (1_800, 300), (2_400, 300)].map(|(at, length)| Stall { at: ms(at), length: ms(length) });
    let machine = testing::machine().with_wait("nanosleep", Overshoot::Fixed(Nanos(66_000)));
    let machine = stops.into_iter().fold(machine, |machine, stop| machine.with_stall(stop)).build();
    // Of every 10 ms it waits 6 for a CPU, but not while it is stopped.
    let queued = move |at: Nanos| {
        let stopped = stops.map(|stop| (at - stop.at).max(Nanos::ZERO).min(stop.length));
        let running = at - stopped.into_iter().sum();
        Nanos(running.0 / 10_000_000 * 6_000_000 + (running.0 % 10_000_000).min(6_000_000))
    };
    let platform: SharedPlatform = Arc::new(testing::Altered::of(machine).counting(move |mut counters| {
        counters.totals.run_delay_ns = Some(queued(counters.at));
        counters
    }));
    let amount = Amount { count: 3_000, time: Nanos::MAX, rounds: 1 };
    let probe = WaitProbe::new(&*platform, ExperimentId::B5, "nanosleep", ms(1), amount);
    let bench = Bench::new(platform, StopFlag::new(), None).unwrap();
    let mut measured = Measured::default();
    measure(&bench, vec![probe.boxed()], None, &mut Silent, &mut measured);
    let seen = measured.series[0].rounds[0].disturbance.stalled_ns.unwrap();
    assert!((seen - ms(1_600)).0.abs() < 3 * 16_000_000, "{seen}");
}

#[test]
fn what_the_kernel_counted_is_counted_once_however_many_series_a_round_fills() {
    // A kernel that throttles for 30 ms of every 100 ms.
    let throttled = |at: Nanos| Nanos(at.0 / 100_000_000 * 30_000_000 + (at.0 % 100_000_000).min(30_000_000));
    let machine = testing::machine().with_wait("nanosleep", Overshoot::Fixed(Nanos(66_000)));
    let platform: SharedPlatform = Arc::new(testing::Altered::from(machine).counting(move |mut counters| {
        counters.totals.throttled_ns = Some(throttled(counters.at));
        counters.totals.throttled_periods = Some((counters.at.0 / 100_000_000).unsigned_abs());
        counters
    }));
    let bench = Bench::new(Arc::clone(&platform), StopFlag::new(), None).unwrap();
    let mut probes = Vec::new();
    // Two, and the number of series per round in a neighbour's steps.
    for id in [ExperimentId::B1, ExperimentId::C3, ExperimentId::C4, ExperimentId::D1] {
        probes.extend((crate::experiment(id).unwrap().probes)(&*platform, &crate::Plan::default()));
    }
    let (before, mut measured) = (platform.counters(), Measured::default());
    measure(&bench, probes, None, &mut Silent, &mut measured);
    let by_the_kernel = before.until(&platform.counters());
    let rounds = oversleep_record::distinct_rounds(&measured.series);
    let by_the_rounds = rounds.iter().fold(Disturbance::default(), |sum, round| sum.merged(&round.disturbance));
    assert!(by_the_rounds.throttled_ns > Some(Nanos::ZERO));
    assert!(by_the_rounds.window_ns <= by_the_kernel.window_ns, "{by_the_rounds:?} {by_the_kernel:?}");
    assert!(by_the_rounds.throttled_ns <= by_the_kernel.throttled_ns, "{by_the_rounds:?} {by_the_kernel:?}");
    assert!(by_the_rounds.throttled_periods <= by_the_kernel.throttled_periods);
}

#[test]
fn the_message_of_a_panic_is_its_payload() {
    assert_eq!(panic_message(&"literal"), "literal");
    assert_eq!(panic_message(&"composed".to_owned()), "composed");
    assert_eq!(panic_message(&1), "without a message");
}

#[test]
fn when_the_time_is_up_every_series_lacks_its_last_rounds() {
    let whole = run(None, None);
    assert!(whole.series.iter().all(|series| series.rounds.len() == 10 && series.status == Status::Complete));
    // Two series of ten rounds of ten waits of 1 ms are 200 ms.
    let cut = run(Some(Nanos::from_millis(100)), None);
    let rounds: Vec<usize> = cut.series.iter().map(|series| series.rounds.len()).collect();
    assert_eq!(rounds, [5, 5]);
    assert!(cut.series.iter().all(|series| series.status == Status::Partial));
}

#[test]
fn the_last_change_is_restored_first() {
    struct Logs(&'static str, Arc<Mutex<Vec<&'static str>>>);
    impl Restore for Logs {}
    impl Drop for Logs {
        fn drop(&mut self) {
            self.1.lock().unwrap().push(self.0);
        }
    }
    let log = Arc::new(Mutex::new(Vec::new()));
    let guards = Guards(vec![Box::new(Logs("first", log.clone())), Box::new(Logs("second", log.clone()))]);
    drop(guards);
    assert_eq!(*log.lock().unwrap(), ["second", "first"]);
}

#[test]
fn stopping_keeps_what_was_measured() {
    let stopped = run(None, Some(4));
    let counts: Vec<u64> = stopped.series.iter().map(|series| series.counts.recorded).collect();
    assert_eq!(counts, [20, 10], "the fourth round was not begun");
    assert!(stopped.series.iter().all(|series| series.status == Status::Partial));
}

/// Every step of a run that shows figures.
#[derive(Default)]
struct Steps(Vec<(Nanos, Option<RunningFigures>)>);

impl Progress for Steps {
    fn next(&mut self, step: &Step<'_>) {
        assert_eq!(step.label, "nanosleep 1 ms");
        self.0.push((step.done, step.figures));
    }
    fn shows_figures(&self) -> bool {
        true
    }
}

#[test]
fn a_long_round_shows_its_progress_once_a_second() {
    let steps_of = |count, rounds, looks| {
        let machine = testing::machine().with_wait("nanosleep", Overshoot::Fixed(Nanos(66_000)));
        let platform: SharedPlatform = Arc::new(testing::Altered::from(machine).stuck_for(looks));
        let amount = Amount { count, time: Nanos::MAX, rounds };
        let probe = WaitProbe::new(&*platform, ExperimentId::B5, "nanosleep", Nanos::from_millis(1), amount);
        let bench = Bench::new(platform, StopFlag::new(), None).unwrap();
        let (mut steps, mut measured) = (Steps::default(), Measured::default());
        measure(&bench, vec![probe.boxed()], None, &mut steps, &mut measured);
        assert_eq!(measured.series[0].counts.recorded, count);
        steps.0
    };
    let done = |steps: &[(Nanos, Option<RunningFigures>)]| -> Vec<i64> {
        steps.iter().map(|(done, _)| done.0 / 1_000_000).collect()
    };
    let one = steps_of(5_000, 1, 3);
    assert_eq!(done(&one), [0, 1_000, 2_000, 3_000], "the round is estimated at 5.35 s");
    assert_eq!(done(&steps_of(1_200, 1, 3)), [0, 1_000, 1_284, 1_284], "never beyond the estimate");
    assert_eq!(done(&steps_of(500, 1, 3)), [0], "a short round");
    let two = steps_of(4_000, 2, 1);
    let late = Nanos(1_066_020);
    let so_far = RunningFigures { min: late, newest: late, p99: Some(late), max: late };
    assert_eq!(two.last(), Some(&(Nanos(2_140_000_000), Some(so_far))), "the second round begins with the first one's");
    assert_eq!(done(&two), [0, 1_000, 2_140]);
}

/// Sleeps of 1 ms in ten rounds of 13 that end early where three rounds agree.
fn until_settled(overshoot: Overshoot) -> Series {
    let sim = Sim::start(testing::machine().with_wait("nanosleep", overshoot).build());
    let amount = Amount { count: 130, time: Nanos::MAX, rounds: 10 };
    let probe = WaitProbe::new(&*sim, ExperimentId::B5, "nanosleep", Nanos::from_millis(1), amount).until_settled();
    testing::measure_on(sim, vec![probe.boxed()]).series.remove(0)
}

#[test]
fn a_series_whose_rounds_agree_needs_no_more_and_is_complete() {
    let agrees = until_settled(Overshoot::Fixed(Nanos(66_000)));
    assert_eq!((agrees.rounds.len(), agrees.counts.recorded), (3, 39));
    assert_eq!((agrees.settled, agrees.status), (Some(true), Status::Complete));
}

#[test]
fn where_rounds_disagree_all_are_run_and_the_series_says_so() {
    let values = [60_000, 90_000].into_iter().flat_map(|late| std::iter::repeat_n(Nanos(late), 13)).collect();
    let disagrees = until_settled(Overshoot::Cycle(values));
    assert_eq!((disagrees.rounds.len(), disagrees.counts.recorded), (10, 130));
    assert_eq!((disagrees.settled, disagrees.status), (Some(false), Status::Complete));
}
