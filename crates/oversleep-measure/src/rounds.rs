//! Interleaving: round after round of every probe, each on a fresh thread under its own conditions.

use std::any::Any;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};

use oversleep_record::conditions::{LoadSpec, Outcome};
use oversleep_record::{Conditions, Disturbance, Nanos, Unavailable};

use super::bench::Bench;
use super::probe::{Measured, Probe};
use oversleep_system::{Load, Platform, Restore, processor_between};

/// The name of threads that measure. What one of them panics with becomes the reason of its series, and the run goes on.
pub const MEASURING_THREAD: &str = "measure";

/// Told between rounds, never while something is measured.
pub trait Progress {
    /// `done` of `total` of the estimated time is over; `label` comes next.
    fn next(&mut self, done: Nanos, total: Nanos, label: &str);
}

/// Shows nothing.
#[derive(Debug)]
pub struct Silent;

impl Progress for Silent {
    fn next(&mut self, _done: Nanos, _total: Nanos, _label: &str) {}
}

/// Runs all probes to their end, until the bench is stopped or, between two rounds, until `time_max` is over: on a busy
/// machine everything takes longer, and since rounds are interleaved each series then lacks its last ones.
pub fn measure(
    bench: &Bench,
    probes: Vec<Box<dyn Probe>>,
    time_max: Option<Nanos>,
    progress: &mut dyn Progress,
    measured: &mut Measured,
) {
    let begun = bench.platform().now();
    let time_is_up = || time_max.is_some_and(|most| bench.platform().now() - begun > most);
    let rounds_max = probes.iter().map(|probe| probe.rounds()).max().unwrap_or(0);
    let total: Nanos = probes.iter().map(|probe| probe.round_estimate() * i64::from(probe.rounds())).sum();
    let mut done = Nanos::ZERO;
    let mut slots: Vec<(Box<dyn Probe>, u32)> = probes.into_iter().map(|probe| (probe, 0)).collect();
    let mut order: Vec<usize> = (0..slots.len()).collect();
    order.sort_by_key(|&at| slots[at].0.rank());
    for round in 0..rounds_max {
        for &at in &order {
            let slot = &mut slots[at];
            let rounds = slot.0.rounds();
            // A probe with few rounds has them spread over the whole run, the first one early, in case the run is cut.
            let due = ((u64::from(round) + 1) * u64::from(rounds)).div_ceil(u64::from(rounds_max));
            if u64::from(slot.1) >= due || bench.stopped() || time_is_up() {
                continue;
            }
            progress.next(done, total, &slot.0.label());
            done += slot.0.round_estimate();
            slot.1 += 1;
            let probe = std::mem::replace(&mut slot.0, Box::new(Absent));
            slot.0 = run_round(bench, probe);
        }
    }
    for (probe, rounds_run) in slots {
        let partial = rounds_run < probe.rounds() || bench.stopped();
        probe.finish(partial, measured);
    }
}

/// Stands in for a probe while its round runs on another thread.
struct Absent;

impl Probe for Absent {
    fn label(&self) -> String {
        String::new()
    }
    fn rounds(&self) -> u32 {
        0
    }
    fn round_estimate(&self) -> Nanos {
        Nanos::ZERO
    }
    fn conditions(&self) -> &Conditions {
        static AS_FOUND: std::sync::LazyLock<Conditions> = std::sync::LazyLock::new(Conditions::as_found);
        &AS_FOUND
    }
    fn round(&mut self, _bench: &Bench) {}
    fn recorders(&mut self) -> Vec<&mut super::recorder::SeriesRecorder> {
        Vec::new()
    }
    fn finish(self: Box<Self>, _partial: bool, _measured: &mut Measured) {}
}

/// One round on a thread of its own: what is changed for it ends with the thread at the latest.
fn run_round(bench: &Bench, mut probe: Box<dyn Probe>) -> Box<dyn Probe> {
    let recorders = probe.recorders();
    if !recorders.is_empty() && recorders.iter().all(|recorder| recorder.is_unavailable()) {
        return probe;
    }
    let loads = match start_loads(bench.platform(), &probe.conditions().load) {
        Ok(loads) => loads,
        Err(reason) => return refuse(probe, reason),
    };
    let slot = Arc::new(Mutex::new(probe));
    let (on_thread, bench_there) = (Arc::clone(&slot), bench.clone());
    let body = Box::new(move || {
        let mut probe = on_thread.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let (outcomes, guards) = apply(bench_there.platform(), probe.conditions());
        // The processor's gauges are the dearer readings, so they stand outside the counters' window.
        let processor_before = bench_there.platform().processor_state();
        for recorder in probe.recorders() {
            recorder.series_mut().conditions.outcomes.clone_from(&outcomes);
            recorder.begin_round(bench_there.since_origin(bench_there.stamp()));
        }
        let before = bench_there.platform().counters();
        probe.round(&bench_there);
        let after = bench_there.platform().counters();
        let processor_after = bench_there.platform().processor_state();
        let processor = processor_between(&processor_before, &processor_after);
        let disturbance = Disturbance { processor, ..before.until(&after) };
        for recorder in probe.recorders() {
            recorder.end_round(disturbance);
        }
        drop(guards);
    });
    let ended = bench.platform().spawn(MEASURING_THREAD, body).and_then(|thread| {
        // What it changed was put back as its stack unwound.
        catch_unwind(AssertUnwindSafe(|| thread.join()))
            .map_err(|panic| Unavailable::failed("measuring it", format!("panicked: {}", panic_message(&*panic))))
    });
    drop(loads);
    let probe = Arc::into_inner(slot)
        .expect("the measuring thread has ended")
        .into_inner()
        .unwrap_or_else(|poisoned| poisoned.into_inner());
    match ended {
        Ok(()) => probe,
        Err(reason) => refuse(probe, reason),
    }
}

/// What a panic says of itself, given what it carries.
pub fn panic_message(panic: &(dyn Any + Send)) -> &str {
    let literal = panic.downcast_ref::<&str>().copied();
    literal.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("without a message")
}

fn refuse(mut probe: Box<dyn Probe>, reason: Unavailable) -> Box<dyn Probe> {
    for recorder in probe.recorders() {
        recorder.unavailable(reason.clone());
    }
    probe
}

fn start_loads(platform: &dyn Platform, specs: &[LoadSpec]) -> Result<Vec<Box<dyn Load>>, Unavailable> {
    specs.iter().map(|spec| platform.load(&spec.kind).ok_or(Unavailable::NotOnThisPlatform)?.start(spec.hogs)).collect()
}

/// What puts everything back, the last change first.
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
    use crate::StopFlag;
    use oversleep_model::sim::{Overshoot, Sim};
    use oversleep_record::ExperimentId;
    use oversleep_record::series::Status;
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

    /// Waits once, then ends as `std::thread::sleep` does where the system refuses the call it makes.
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
    fn a_panic_costs_its_own_series_alone() {
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
        let reason = Unavailable::failed("measuring it", "panicked: left: 38, right: 4");
        assert_eq!(panicked.status, Status::Unavailable { reason });
        assert_eq!(panicked.counts.recorded, 10, "what was measured before is kept, and it isn't tried again");
        // On a machine as found: the hogs that the other one had around it were stopped.
        assert_eq!((other.status.clone(), other.counts.recorded), (Status::Complete, 100));
        assert_eq!(other.distribution.max(), Some(20), "one read of the clock");
    }

    #[test]
    fn a_panic_is_told_in_its_own_words() {
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
    fn what_was_changed_last_goes_back_first() {
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
