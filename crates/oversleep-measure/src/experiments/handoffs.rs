//! D4: the time to wake a thread.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, OnceLock};

use oversleep_record::label::{self, Way};
use oversleep_record::series::{Quantity, Series, Unit};
use oversleep_record::{Conditions, ExperimentId, Nanos, Unavailable};
use oversleep_system::{Handoff, Platform};

use crate::amount::Amount;
use crate::bench::Bench;
use crate::experiment::{Column, Command, Experiment};
use crate::plan::Plan;
use crate::probe::Probe;
use crate::recorder::SeriesRecorder;
use crate::rounds::panic_message;
use crate::still::{Reads, StillClock};

pub(super) static D4: Experiment = Experiment {
    id: ExperimentId::D4,
    title: "thread wake-up",
    question: "How long after a thread is signalled does it run?",
    method: "One-way: the main thread reads the clock and signals; the woken thread reads the clock before anything \
             else. It gets 50 µs to fall asleep before each signal, so that the signal has to wake it. Ping-pong: the \
             signal goes there and back, without a pause. Both are measured for every hand-off; the clock is the \
             reference clock, which must agree across CPUs (A4).",
    quantities: &[Quantity::HandoffLatency],
    columns: &[Column { name: label::WAY.name(), meaning: "one-way, or ping-pong (there and back)." }],
    commands: &[Command::Handoff],
    probes,
    ..Experiment::BLANK
};

const ROUNDS: u32 = 3;
/// The time that the partner gets to fall asleep.
const FALL_ASLEEP: Nanos = Nanos(50_000);

fn probes(platform: &dyn Platform, plan: &Plan) -> Vec<Box<dyn Probe>> {
    let mut probes: Vec<Box<dyn Probe>> = Vec::new();
    for (index, kind) in platform.handoffs().iter().enumerate().filter(|(_, kind)| plan.wants(kind.info().name)) {
        for way in [Way::OneWay, Way::PingPong] {
            let amount = Amount::values(plan.depth.pick(150, 150, 10_000), ROUNDS).limited_by(plan);
            let mut series = Series::new(D4.id, kind.info().name, Quantity::HandoffLatency, Unit::Ns);
            series.key = series.key.word(way);
            series.clock = platform.reference_clock().to_owned();
            series.labels.set(label::WAY, way);
            series.conditions = plan.conditions.clone();
            probes.push(Box::new(HandoffProbe {
                index,
                name: kind.info().name,
                way,
                amount,
                recorder: SeriesRecorder::new(series, amount.planned(estimate(way))),
                conditions: plan.conditions.clone(),
            }));
        }
    }
    probes
}

/// The approximate duration of one.
fn estimate(way: Way) -> Nanos {
    match way {
        Way::OneWay => FALL_ASLEEP + Nanos(20_000),
        Way::PingPong => Nanos(15_000),
    }
}

struct HandoffProbe {
    index: usize,
    name: &'static str,
    way: Way,
    amount: Amount,
    recorder: SeriesRecorder,
    conditions: Conditions,
}

/// The state that the two threads share.
struct Pair {
    there: Arc<dyn Handoff>,
    back: Arc<dyn Handoff>,
    woken_at: AtomicI64,
    over: AtomicBool,
    /// Why the partner gave up: the system refused a call of its side.
    refused: OnceLock<String>,
}

impl Pair {
    /// Answers until it is over.
    fn answer(&self, platform: &dyn Platform) {
        loop {
            self.there.wait();
            self.woken_at.store(platform.now().0, Ordering::Release);
            if self.over.load(Ordering::Acquire) {
                return;
            }
            self.back.post();
        }
    }

    /// Answers, and wakes the other side if it can't continue.
    fn answer_or_refuse(&self, platform: &dyn Platform) {
        let Err(panic) = catch_unwind(AssertUnwindSafe(|| self.answer(platform))) else { return };
        // A model ends threads by unwinding them, without a message.
        if !panic.is::<&str>() && !panic.is::<String>() {
            resume_unwind(panic);
        }
        let _ = self.refused.set(panic_message(&*panic).to_owned());
        let _ = catch_unwind(AssertUnwindSafe(|| self.back.post()));
    }
}

impl HandoffProbe {
    fn run(&mut self, bench: &Bench) -> Result<(), Unavailable> {
        let platform = bench.platform();
        let kind = platform.handoffs()[self.index].as_ref();
        let pair = Arc::new(Pair {
            there: kind.open()?,
            back: kind.open()?,
            woken_at: AtomicI64::new(0),
            over: AtomicBool::new(false),
            refused: OnceLock::new(),
        });
        let (pair_there, platform_there) = (Arc::clone(&pair), Arc::clone(bench.shared_platform()));
        let partner =
            platform.spawn("measure-partner", Box::new(move || pair_there.answer_or_refuse(&*platform_there)))?;
        let mut share = self.amount.share(bench, self.recorder.series().counts.recorded);
        while share.next(bench) {
            if self.way == Way::OneWay {
                let until = platform.now() + FALL_ASLEEP;
                let mut still = StillClock::default();
                loop {
                    let now = platform.now();
                    bench.note(&mut still, now, Reads::ONE);
                    if now >= until || bench.stopped() {
                        break;
                    }
                    platform.relax();
                }
                if bench.stopped() {
                    break;
                }
            }
            let start = platform.now();
            pair.there.post();
            pair.back.wait();
            let end = match self.way {
                Way::OneWay => Nanos(pair.woken_at.load(Ordering::Acquire)),
                Way::PingPong => platform.now(),
            };
            if pair.refused.get().is_some() {
                break;
            }
            if end < start {
                self.recorder.count_backward();
            }
            self.recorder.record(bench.since_origin(start), (end - start).0);
        }
        pair.over.store(true, Ordering::Release);
        if pair.refused.get().is_none() {
            pair.there.post();
        }
        partner.join();
        pair.refused.get().map_or(Ok(()), |why| Err(Unavailable::failed("handing off", why.clone())))
    }
}

impl Probe for HandoffProbe {
    fn label(&self) -> String {
        format!("hand-off by {}, {}", self.name, self.way)
    }

    fn rounds(&self) -> u32 {
        self.amount.rounds
    }

    fn round_estimate(&self) -> Nanos {
        self.amount.round_estimate(estimate(self.way))
    }

    fn conditions(&self) -> &Conditions {
        &self.conditions
    }

    fn round(&mut self, bench: &Bench) -> Result<(), Unavailable> {
        self.run(bench)
    }

    fn recorders(&mut self) -> Vec<&mut SeriesRecorder> {
        vec![&mut self.recorder]
    }
}

#[cfg(test)]
mod tests {
    use oversleep_model::sim::Sim;
    use oversleep_record::label;
    use oversleep_record::label::Way;
    use oversleep_record::series::Status;
    use oversleep_system::{HandoffInfo, HandoffKind};

    use super::*;
    use crate::plan::Limit;
    use crate::testing;

    #[test]
    fn latency_is_that_of_the_model() {
        let sim = Sim::start(testing::machine().build());
        let measured = testing::measure_on(sim.clone(), probes(&*sim, &Plan::default()));
        assert_eq!(measured.series.len(), 4);
        for series in &measured.series {
            // 5 µs per wake-up and one clock read at its end.
            let expected = if series.label(label::WAY) == Some(label::Way::OneWay) { 5_020 } else { 10_040 };
            let p50 = series.distribution.p50().unwrap();
            assert!((p50 - expected).abs() <= 40, "{}: {p50}", series.key);
            assert_eq!(series.counts.recorded, 150);
        }
    }

    /// A hand-off whose waits are refused after some.
    struct Refused(Arc<Sim>, Arc<AtomicI64>);
    struct RefusedHandoff(Arc<dyn Handoff>, Arc<AtomicI64>);

    impl HandoffKind for Refused {
        fn info(&self) -> &HandoffInfo {
            self.0.handoffs()[0].info()
        }
        fn open(&self) -> Result<Arc<dyn Handoff>, Unavailable> {
            Ok(Arc::new(RefusedHandoff(self.0.handoffs()[0].open()?, Arc::clone(&self.1))))
        }
    }

    impl Handoff for RefusedHandoff {
        fn post(&self) {
            self.0.post();
        }
        fn wait(&self) {
            self.0.wait();
            if self.1.fetch_sub(1, Ordering::Relaxed) == 0 {
                resume_unwind(Box::new("read of an eventfd: not permitted".to_owned()));
            }
        }
    }

    #[test]
    fn a_hand_off_that_is_refused_on_the_way_is_an_error_and_keeps_its_values() {
        let machine = testing::machine().build();
        // The partner waits first, so it has every second wait.
        let altered = testing::Altered::of(machine).handing_off(|sim| Refused(sim, Arc::new(AtomicI64::new(20))));
        let all = probes(&altered, &Plan::default());
        let measured = testing::measure_on(Arc::new(altered), all);
        let refused: Vec<_> = measured.series.iter().filter(|series| series.status != Status::Complete).collect();
        let reason = Unavailable::failed("handing off", "read of an eventfd: not permitted");
        assert!(matches!(&refused[..], [one] if one.status == Status::Unavailable { reason }), "{refused:?}");
        assert_eq!(refused[0].counts.recorded, 10);
    }

    #[test]
    fn a_limit_of_time_is_heeded() {
        let sim = Sim::start(testing::machine().build());
        let plan = Plan { limit: Some(Limit::Time(Nanos::from_millis(10))), ..Plan::default() };
        for series in testing::measure_on(sim.clone(), probes(&*sim, &plan)).series {
            // A ping-pong takes 10 µs and a few clock reads; a single way takes 50 µs more, for falling asleep.
            let range = if series.label(label::WAY) == Some(Way::OneWay) { 160..168 } else { 980..1_000 };
            assert!(range.contains(&series.counts.recorded), "{}: {}", series.key, series.counts.recorded);
        }
    }
}
