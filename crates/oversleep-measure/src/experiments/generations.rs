//! D3: generations of a simulation, each a fork-join of small tasks.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use oversleep_record::label::{self, JoinStyle};
use oversleep_record::series::{Quantity, Series, Unit};
use oversleep_record::{Conditions, ExperimentId, Labels, Nanos, Unavailable};
use oversleep_system::{Handoff, Platform, ThreadHandle};

use super::fork_join::calibrated_work;
use super::join_style::{THREADED, wait_for_workers};
use crate::bench::Bench;
use crate::experiment::{Column, Command, Experiment};
use crate::plan::{Limit, Plan};
use crate::probe::Probe;
use crate::recorder::SeriesRecorder;
use crate::still::{Reads, StillClock};

pub(super) static D3: Experiment = Experiment {
    id: ExperimentId::D3,
    title: "generations per second",
    question: "How many generations per second does a simulation reach, by task size and by how it waits?",
    method: "A pool of one worker per CPU (eight at most) is signalled, each worker does one task, and the last one \
             signals the main thread: one generation. The main thread waits blocked, spinning, or checking every \
             millisecond; tasks are 10 µs, 100 µs and 1 ms of calibrated work. A poll of 1 ms caps the rate at what \
             its real duration allows, however small the tasks are: below 1,000 per second, or 64 if 1 ms takes \
             15.6 ms.",
    quantities: &[Quantity::GenerationsPerSecond],
    columns: &[
        Column { name: label::STYLE.name(), meaning: "How the main thread waits: blocked, spinning, polling." },
        Column { name: label::TASK.name(), meaning: "The work of one task, in ns." },
        Column { name: label::TASKS.name(), meaning: "How many tasks a generation has, one per worker." },
    ],
    commands: &[Command::ForkJoin],
    probes,
    ..Experiment::BLANK
};

const ROUNDS: u32 = 3;
const WORKERS_MAX: usize = 8;
/// The longest spin for one generation, which takes milliseconds.
const SPIN_MAX: Nanos = Nanos::from_millis(200);

fn probes(platform: &dyn Platform, plan: &Plan) -> Vec<Box<dyn Probe>> {
    let workers = platform.cpus().len().clamp(1, WORKERS_MAX);
    let window = match plan.limit {
        Some(Limit::Time(time)) => Nanos(time.0 / i64::from(ROUNDS)).max(Nanos(1)),
        _ => plan.depth.pick(Nanos::from_millis(8), Nanos::from_millis(10), Nanos::from_millis(300)),
    };
    let mut probes: Vec<Box<dyn Probe>> = Vec::new();
    for style in THREADED {
        for task in [Nanos::from_micros(10), Nanos::from_micros(100), Nanos::from_millis(1)] {
            let mut series = Series::new(D3.id, style.as_str(), Quantity::GenerationsPerSecond, Unit::Hz);
            series.key = series.key.span(task);
            series.clock = platform.reference_clock().to_owned();
            series.conditions = plan.conditions.clone();
            series.labels =
                Labels::new().with(label::STYLE, style).with(label::TASK, task).with(label::TASKS, workers as u64);
            probes.push(Box::new(Generations {
                style,
                task,
                workers,
                window,
                recorder: SeriesRecorder::new(series, 3),
                work_units: Arc::clone(&plan.work_units),
                conditions: plan.conditions.clone(),
            }));
        }
    }
    probes
}

struct Generations {
    style: JoinStyle,
    task: Nanos,
    workers: usize,
    window: Nanos,
    recorder: SeriesRecorder,
    work_units: Arc<OnceLock<u64>>,
    conditions: Conditions,
}

/// Workers waiting for their signal.
struct Pool {
    signals: Vec<Arc<dyn Handoff>>,
    done: Arc<dyn Handoff>,
    left: Arc<AtomicUsize>,
    over: Arc<AtomicBool>,
    threads: Vec<Box<dyn ThreadHandle>>,
}

impl Pool {
    /// Uses the platform's first hand-off that is available.
    fn start(bench: &Bench, workers: usize, units: u64) -> Result<Pool, Unavailable> {
        let platform = bench.platform();
        let open = || {
            let mut reason = Unavailable::NotOnThisPlatform;
            for kind in platform.handoffs() {
                match kind.open() {
                    Ok(handoff) => return Ok(handoff),
                    Err(why) => reason = why,
                }
            }
            Err(reason)
        };
        let signals = (0..workers).map(|_| open()).collect::<Result<Vec<_>, _>>()?;
        let mut pool = Pool {
            signals,
            done: open()?,
            left: Arc::new(AtomicUsize::new(0)),
            over: Arc::new(AtomicBool::new(false)),
            threads: Vec::new(),
        };
        for signal in pool.signals.clone() {
            let (there, done) = (Arc::clone(bench.shared_platform()), Arc::clone(&pool.done));
            let (left, over) = (Arc::clone(&pool.left), Arc::clone(&pool.over));
            let body = Box::new(move || {
                loop {
                    signal.wait();
                    if over.load(Ordering::Acquire) {
                        return;
                    }
                    there.work(units);
                    if left.fetch_sub(1, Ordering::AcqRel) == 1 {
                        done.post();
                    }
                }
            });
            match platform.spawn("worker", body) {
                Ok(thread) => pool.threads.push(thread),
                Err(reason) => {
                    pool.stop();
                    return Err(reason);
                }
            }
        }
        Ok(pool)
    }

    fn fork(&self) {
        self.left.store(self.signals.len(), Ordering::Release);
        self.signals.iter().for_each(|signal| signal.post());
    }

    fn stop(self) {
        self.over.store(true, Ordering::Release);
        self.signals.iter().for_each(|signal| signal.post());
        self.threads.into_iter().for_each(|thread| thread.join());
    }
}

impl Probe for Generations {
    fn label(&self) -> String {
        format!("generations of {} tasks, {}", self.task, self.style)
    }

    fn rounds(&self) -> u32 {
        ROUNDS
    }

    fn round_estimate(&self) -> Nanos {
        self.window + Nanos::from_millis(1)
    }

    fn conditions(&self) -> &Conditions {
        &self.conditions
    }

    fn round(&mut self, bench: &Bench) -> Result<(), Unavailable> {
        let platform = bench.platform();
        let Some(units_per_ms) = calibrated_work(bench, &self.work_units) else { return Ok(()) };
        let units = units_per_ms.saturating_mul(self.task.0.unsigned_abs()) / 1_000_000;
        let mut sleeper = bench.open_simplest_sleep()?;
        let pool = Pool::start(bench, self.workers, units.max(1))?;
        let begun = platform.now();
        let mut generations = 0_u32;
        let mut elapsed = Nanos::ZERO;
        let mut waited = Ok(());
        let mut still = StillClock::default();
        while elapsed < self.window && waited.is_ok() && !bench.stopped() {
            pool.fork();
            let are_done = || pool.left.load(Ordering::Acquire) == 0;
            waited = wait_for_workers(self.style, platform, &mut *sleeper, SPIN_MAX, are_done);
            // Unless the main thread blocks, the signal has arrived, or will in a moment.
            pool.done.wait();
            generations += 1;
            let now = platform.now();
            bench.note(&mut still, now, Reads::of(self.task));
            elapsed = now - begun;
        }
        pool.stop();
        waited?;
        if generations > 0 && elapsed > Nanos::ZERO {
            let rate = f64::from(generations) / elapsed.as_secs_f64();
            self.recorder.record(bench.since_origin(begun), rate.round() as i64);
        }
        Ok(())
    }

    fn recorders(&mut self) -> Vec<&mut SeriesRecorder> {
        vec![&mut self.recorder]
    }
}

#[cfg(test)]
mod tests {
    use oversleep_model::sim::{Overshoot, Sim};

    use super::*;
    use crate::testing;

    #[test]
    fn a_poll_caps_the_rate_whatever_the_task() {
        let machine = testing::machine().with_wait("nanosleep", Overshoot::Fixed(Nanos(66_000)));
        let sim = Sim::start(machine.build());
        let measured = testing::measure_on(sim.clone(), probes(&*sim, &Plan::default()));
        let rate =
            |key: &str| measured.series.iter().find(|series| series.key == key).expect(key).distribution.p50().unwrap();
        assert!((900..1_000).contains(&rate("D3/polling/10us")), "{}", rate("D3/polling/10us"));
        assert!(rate("D3/blocked/10us") > 10 * rate("D3/polling/10us"));
        assert!(rate("D3/spinning/10us") >= rate("D3/blocked/10us"));
        assert!(rate("D3/blocked/1ms") < 1_000);
    }

    #[test]
    fn a_limit_of_time_is_that_of_all_windows() {
        let machine = testing::machine().with_wait("nanosleep", Overshoot::Fixed(Nanos(66_000)));
        let sim = Sim::start(machine.build());
        let plan = Plan { limit: Some(Limit::Time(Nanos::from_millis(30))), ..Plan::default() };
        // Otherwise the first round calibrates the work, too.
        plan.work_units.set(1_000).unwrap();
        let series = testing::measure_on(sim.clone(), probes(&*sim, &plan)).series.remove(0);
        let windows: Vec<i64> = series.rounds.iter().map(|round| round.disturbance.window_ns.0 / 1_000_000).collect();
        assert_eq!(windows, [10, 10, 10], "ms");
    }
}
