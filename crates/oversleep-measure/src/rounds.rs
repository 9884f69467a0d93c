//! Interleaving: round after round of every probe, each on a new thread under its own conditions.

use std::any::Any;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard};

use oversleep_record::conditions::{LoadSpec, Outcome, Setting};
use oversleep_record::series::{Quantity, Series, Status, Unit};
use oversleep_record::{Conditions, Disturbance, ExperimentId, Nanos, SeriesKey, Unavailable};

use super::bench::{Bench, StopFlag};
use super::probe::{Measured, Probe};
use oversleep_system::{Load, Platform, Restore, Scope, ThreadHandle, processor_between};

/// The name of measuring threads. A panic of one becomes the reason why its series is unavailable, and the run goes on.
pub const MEASURING_THREAD: &str = "measure";

/// Follows a run. It is called between rounds, never while something is measured.
pub trait Progress {
    /// `done` of the estimated `total` is over; `label` comes next.
    fn next(&mut self, done: Nanos, total: Nanos, label: &str);
}

/// Shows nothing.
#[derive(Debug)]
pub struct Silent;

impl Progress for Silent {
    fn next(&mut self, _done: Nanos, _total: Nanos, _label: &str) {}
}

/// A probe and how many of its rounds have run. The runner and the measuring threads hold it in turn.
struct Entry {
    probe: Arc<Mutex<Box<dyn Probe>>>,
    rounds_run: u32,
    /// Why its thread was left behind, which holds the probe for ever.
    left: Option<Unavailable>,
    /// The series as they are without values, to say so in.
    blank: Vec<Blank>,
}

/// What a series is about.
struct Blank {
    experiment: ExperimentId,
    key: SeriesKey,
    subject: String,
    quantity: Quantity,
    unit: Unit,
}

impl Blank {
    fn of(series: &Series) -> Blank {
        let Series { experiment, key, subject, quantity, unit, .. } = series;
        let (experiment, key, subject) = (*experiment, key.clone(), subject.clone());
        Blank { experiment, key, subject, quantity: *quantity, unit: *unit }
    }

    fn unavailable(self, reason: &Unavailable) -> Series {
        let mut series = Series::new(self.experiment, &self.subject, self.quantity, self.unit);
        series.key = self.key;
        series.status = Status::Unavailable { reason: reason.clone() };
        series
    }
}

/// Why a round did not end as it should.
enum Unfinished {
    /// It has a reason, and its thread has ended.
    Ended(Unavailable),
    /// Its thread goes on.
    Left(Unavailable),
}

impl From<Unavailable> for Unfinished {
    fn from(reason: Unavailable) -> Unfinished {
        Unfinished::Ended(reason)
    }
}

impl Entry {
    fn new(mut probe: Box<dyn Probe>) -> Entry {
        let blank = probe.recorders().into_iter().map(|recorder| Blank::of(recorder.series())).collect();
        Entry { probe: Arc::new(Mutex::new(probe)), rounds_run: 0, left: None, blank }
    }

    fn probe(&self) -> MutexGuard<'_, Box<dyn Probe>> {
        lock(&self.probe)
    }
}

/// A probe that panicked keeps what it measured before, so a poisoned lock is no reason to give it up.
fn lock(probe: &Mutex<Box<dyn Probe>>) -> MutexGuard<'_, Box<dyn Probe>> {
    probe.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// Runs every probe until its rounds are done, the bench is stopped, or `time_max` has passed (checked between rounds).
/// A busy machine takes longer for everything; because rounds are interleaved, each series then lacks its last ones.
pub fn measure(
    bench: &Bench,
    probes: Vec<Box<dyn Probe>>,
    time_max: Option<Nanos>,
    progress: &mut dyn Progress,
    measured: &mut Measured,
) {
    let begun = bench.platform().now();
    let is_time_up = || time_max.is_some_and(|time_max| bench.platform().now() - begun > time_max);
    let rounds_max = probes.iter().map(|probe| probe.rounds()).max().unwrap_or(0);
    let total: Nanos = probes.iter().map(|probe| probe.round_estimate() * i64::from(probe.rounds())).sum();
    let mut done = Nanos::ZERO;
    let mut entries: Vec<Entry> = probes.into_iter().map(Entry::new).collect();
    let mut order: Vec<usize> = (0..entries.len()).collect();
    order.sort_by_key(|&at| entries[at].probe().rank());
    for round in 0..rounds_max {
        for &at in &order {
            let entry = &mut entries[at];
            if entry.left.is_some() {
                continue;
            }
            let rounds = entry.probe().rounds();
            // A probe with few rounds has them spread over the whole run, the first one early in case the run is cut
            // short.
            let due = ((u64::from(round) + 1) * u64::from(rounds)).div_ceil(u64::from(rounds_max));
            if u64::from(entry.rounds_run) >= due || bench.stopped() || is_time_up() {
                continue;
            }
            progress.next(done, total, &entry.probe().label());
            done += entry.probe().round_estimate();
            entry.rounds_run += 1;
            match run_round(bench, &entry.probe) {
                Ok(()) => {}
                Err(Unfinished::Left(reason)) => entry.left = Some(reason),
                Err(Unfinished::Ended(reason)) => {
                    entry.probe().recorders().into_iter().for_each(|recorder| recorder.unavailable(reason.clone()));
                }
            }
        }
    }
    for Entry { probe, rounds_run, left, blank } in entries {
        if let Some(reason) = left {
            measured.series.extend(blank.into_iter().map(|series| series.unavailable(&reason)));
            continue;
        }
        let probe = Arc::into_inner(probe).expect("the measuring threads have ended");
        let mut probe = probe.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
        let partial = rounds_run < probe.rounds() || bench.stopped();
        if let Some(reason) = bench.fault().filter(|_| partial) {
            probe.recorders().into_iter().for_each(|recorder| recorder.unavailable(reason.clone()));
        }
        probe.finish(partial, measured);
    }
}

/// One round on a thread of its own: whatever is changed for it ends with the thread at the latest.
///
/// # Errors
/// Why the round couldn't be measured.
fn run_round(bench: &Bench, probe: &Arc<Mutex<Box<dyn Probe>>>) -> Result<(), Unfinished> {
    let (loads, limit) = {
        let mut probe = lock(probe);
        let recorders = probe.recorders();
        if !recorders.is_empty() && recorders.iter().all(|recorder| recorder.is_unavailable()) {
            return Ok(());
        }
        let limit = probe.round_estimate() * OVERDUE_FACTOR + OVERDUE_MIN;
        (start_loads(bench.platform(), &probe.conditions().load)?, limit)
    };
    let (bench_there, round_over) = bench.for_a_round();
    let probe = Arc::clone(probe);
    let body = Box::new(move || run_on_this_thread(&bench_there, &mut **lock(&probe)));
    let thread = bench.platform().spawn(MEASURING_THREAD, body)?;
    let overdue = end_if_overdue(bench.platform(), &*thread, limit, &round_over);
    if let Some(Unfinished::Left(reason)) = overdue {
        return Err(Unfinished::Left(reason));
    }
    // What the thread changed was restored as its stack unwound.
    let ended = catch_unwind(AssertUnwindSafe(|| thread.join()));
    drop(loads);
    ended.map_err(|panic| {
        Unavailable::failed("measuring", format!("the thread panicked ({})", panic_message(&*panic)))
    })?;
    overdue.map_or(Ok(()), Err)
}

/// A round may take so many times as long as it is estimated to, and this much more: waits take a tick instead of what was
/// requested, and a busy machine takes longer for everything.
const OVERDUE_FACTOR: i64 = 20;
const OVERDUE_MIN: Nanos = Nanos::from_secs(10);
/// For how long the waits of a round that is overdue are ended again and again.
const ENDING_TRIES: u32 = 100;
const ENDING_PAUSE: Nanos = Nanos::from_millis(20);

/// Waits for a round to end. One that takes far too long is ended; where it can't be, its thread is left behind.
fn end_if_overdue(
    platform: &dyn Platform,
    thread: &dyn ThreadHandle,
    limit: Nanos,
    round_over: &StopFlag,
) -> Option<Unfinished> {
    // Once more, because the first limit may have passed while this process was stopped.
    if thread.ended_within(limit) || thread.ended_within(limit) {
        return None;
    }
    let reason = Unavailable::failed(
        "measuring a round",
        format!(
            "it had not ended after {}. A wait did not return, as happens where something moves the clocks of this process \
             (faketime)",
            limit * 2
        ),
    );
    round_over.raise();
    for _ in 0..ENDING_TRIES {
        platform.end_waits();
        if thread.ended_within(ENDING_PAUSE) {
            return Some(Unfinished::Ended(reason));
        }
    }
    Some(Unfinished::Left(reason))
}

/// A round on the calling thread, between two readings of what the machine counts.
fn run_on_this_thread(bench: &Bench, probe: &mut dyn Probe) {
    let platform = bench.platform();
    let (outcomes, _guards) = apply(platform, probe.conditions());
    let held = held_now(platform, &outcomes);
    // The processor's gauges take longest to read, so they are read outside the counters' window.
    let processor_before = platform.processor_state();
    for recorder in probe.recorders() {
        note_outcomes(&mut recorder.series_mut().conditions, &outcomes);
        recorder.begin_round(bench.since_origin(bench.stamp()));
    }
    let before = platform.counters();
    probe.round(bench);
    let after = platform.counters();
    let processor = processor_between(&processor_before, &platform.processor_state());
    let seen = before.until(&after);
    let disturbance = Disturbance { processor, stalled_ns: stalled(probe, &seen), ..seen };
    let lost = no_longer_held(&held, &held_now(platform, &outcomes));
    for recorder in probe.recorders() {
        note_outcomes(&mut recorder.series_mut().conditions, &lost);
        recorder.end_round(disturbance);
    }
}

/// Notes what became of settings in a round. One that didn't hold in some round didn't hold.
fn note_outcomes(conditions: &mut Conditions, outcomes: &BTreeMap<String, Outcome>) {
    for (name, outcome) in outcomes {
        if conditions.outcomes.get(name).is_none_or(Outcome::holds) {
            conditions.outcomes.insert(name.clone(), outcome.clone());
        }
    }
}

/// What the thread's own settings are now, of those that were granted. What others share may change for their sake.
fn held_now(platform: &dyn Platform, outcomes: &BTreeMap<String, Outcome>) -> BTreeMap<String, Setting> {
    let granted = outcomes.iter().filter(|(_, outcome)| outcome.holds());
    let own = granted.filter_map(|(name, _)| platform.tunable(name)).filter(|it| it.info().scope == Scope::Thread);
    own.filter_map(|tunable| Some((tunable.info().name.to_owned(), tunable.current().ok()?))).collect()
}

/// The settings that something else changed while the round ran.
fn no_longer_held(before: &BTreeMap<String, Setting>, after: &BTreeMap<String, Setting>) -> BTreeMap<String, Outcome> {
    let changed = before.iter().filter_map(|(name, was)| Some((name, was, after.get(name).filter(|is| *is != was)?)));
    let lost = |(name, was, is): (&String, &Setting, &Setting)| {
        let why = format!("something outside oversleep changed it from {was} to {is} while it was measured");
        (name.clone(), Outcome::Denied { why: Unavailable::failed("holding it", why) })
    };
    changed.map(lost).collect()
}

/// How long the thread was neither running, nor waiting for a CPU, nor asleep by its own wish: what the latest wait of the
/// round was later than others, less what the scheduler counted. `None` where either isn't known.
fn stalled(probe: &mut dyn Probe, seen: &Disturbance) -> Option<Nanos> {
    let latest = probe.recorders().into_iter().filter_map(|recorder| recorder.latest_in_round());
    let (late, put_off) = latest.max()?;
    let queued = seen.run_delay_ns? + seen.steal_ns.unwrap_or_default() + seen.throttled_ns.unwrap_or_default();
    let unexplained = late - queued;
    Some(if unexplained > put_off { unexplained } else { Nanos::ZERO })
}

/// The message of a panic, from its payload.
pub fn panic_message(panic: &(dyn Any + Send)) -> &str {
    let literal = panic.downcast_ref::<&str>().copied();
    literal.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("without a message")
}

fn start_loads(platform: &dyn Platform, specs: &[LoadSpec]) -> Result<Vec<Box<dyn Load>>, Unavailable> {
    specs.iter().map(|spec| platform.load(&spec.kind).ok_or(Unavailable::NotOnThisPlatform)?.start(spec.hogs)).collect()
}

/// Restores every change when dropped, the last one first.
#[derive(Default)]
struct Guards(Vec<Box<dyn Restore>>);

impl Drop for Guards {
    fn drop(&mut self) {
        while let Some(guard) = self.0.pop() {
            drop(guard);
        }
    }
}

fn apply(platform: &dyn Platform, conditions: &Conditions) -> (BTreeMap<String, Outcome>, Guards) {
    let mut guards = Guards::default();
    let mut outcomes = BTreeMap::new();
    for (name, setting) in &conditions.requested {
        let outcome = match platform.tunable(name) {
            None => Outcome::Denied { why: Unavailable::NotOnThisPlatform },
            Some(tunable) => {
                let (outcome, guard) = tunable.apply(setting);
                guards.0.extend(guard);
                outcome
            }
        };
        outcomes.insert(name.clone(), outcome);
    }
    (outcomes, guards)
}

#[cfg(test)]
mod tests {
    use super::super::testing;
    use super::super::{Amount, WaitProbe};
    use super::*;
    use oversleep_model::sim::{Overshoot, Sim, Stall};
    use oversleep_system::SharedPlatform;

    fn ten_rounds_of(wait: &str, sim: &Sim) -> Box<dyn Probe> {
        let amount = Amount { count: 100, time: Nanos::MAX, rounds: 10 };
        WaitProbe::new(sim, ExperimentId::B5, wait, Nanos::from_millis(1), amount).boxed()
    }

    fn run(time_max: Option<Nanos>, stop_after_rounds: Option<u32>) -> Measured {
        struct StopAfter(Option<u32>, StopFlag);
        impl Progress for StopAfter {
            fn next(&mut self, _done: Nanos, _total: Nanos, _label: &str) {
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

    /// Measures a round, then panics as `std::thread::sleep` does where the system refuses its call.
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
        fn round(&mut self, bench: &Bench) {
            self.0.round(bench);
            // As `panic!` does, without what the default hook prints.
            std::panic::resume_unwind(Box::new("left: 38, right: 4".to_owned()));
        }
        fn recorders(&mut self) -> Vec<&mut crate::SeriesRecorder> {
            self.0.recorders()
        }
        fn finish(self: Box<Self>, partial: bool, measured: &mut Measured) {
            Box::new(self.0).finish(partial, measured);
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

    /// A setting that somebody else changes in the second round.
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
        assert_eq!(of(1).0, "", "the first limit may have passed while the process was stopped");
        let (ended, _, key) = of(2);
        assert!(ended.starts_with("measuring a round: it had not ended after "), "{ended}");
        let (left, recorded, key_left) = of(1_000);
        assert_eq!((left, recorded, key_left), (ended, 0, key), "its thread has the values");
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
        // Two, and as many series per round as a neighbour's steps have.
        for id in [ExperimentId::B1, ExperimentId::C3, ExperimentId::C4, ExperimentId::D1] {
            probes.extend((crate::experiment(id).unwrap().probes)(&*platform, &crate::Plan::default()));
        }
        let (before, mut measured) = (platform.counters(), Measured::default());
        measure(&bench, probes, None, &mut Silent, &mut measured);
        let by_the_kernel = before.until(&platform.counters());
        let rounds = oversleep_record::series::distinct_rounds(&measured.series);
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
}
