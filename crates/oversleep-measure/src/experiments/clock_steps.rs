//! A4: how finely each clock moves, and whether it ever goes back.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use oversleep_record::clock::{Counts, Steps};
use oversleep_record::conditions::Setting;
use oversleep_record::{ClockResult, Conditions, Distribution, ExperimentId, Nanos, Unavailable};
use oversleep_system::tunables::names;
use oversleep_system::{Platform, Restore, SharedPlatform};

use super::choose;
use crate::bench::Bench;
use crate::clock_scale::ClockScale;
use crate::experiment::{Column, Command, Experiment};
use crate::plan::Plan;
use crate::probe::{Measured, Probe};
use crate::recorder::SeriesRecorder;
use crate::still::{READS_MAX, Reads, StillClock};

pub(super) static A4: Experiment = Experiment {
    id: ExperimentId::A4,
    title: "clock steps",
    question: "How fine are each clock's steps, how often does it change, and does it ever go back?",
    method: "First, consecutive reads on one thread: the smallest and the median non-zero difference, the changes per second, \
             and the backward steps with their size. Then two threads pinned to two CPUs take turns; each reads after it \
             has seen the other's value, so a smaller value shows that the clock goes back across CPUs. The processor may \
             execute unfenced counter reads early, which shows as a few ns; anything larger is skew.",
    columns: &[
        Column { name: "step", meaning: "The median difference between two consecutive different readings." },
        Column { name: "back", meaning: "Backward steps, on one thread and across CPUs, with the largest." },
    ],
    commands: &[Command::Clocks],
    probes,
    ..Experiment::BLANK
};

const CHUNK_READS: usize = 1_024;
/// Reads compared at once.
const BLOCK_READS: usize = 64;
/// The longest time to read one clock in a round.
const READING_MAX: Nanos = Nanos(32_000_000);
/// Turns that two CPUs take per clock and round.
const TURNS: u64 = 400;
/// The longest time for them, so that losing a CPU doesn't hold up the run.
const TURNS_TIME_MAX: Nanos = Nanos(10_000_000);

fn probes(platform: &dyn Platform, plan: &Plan) -> Vec<Box<dyn Probe>> {
    let clocks = platform.clocks().iter().enumerate().filter(|(_, clock)| plan.wants(clock.info().name));
    clocks
        .filter(|(_, clock)| clock.available().is_ok())
        .map(|(index, clock)| -> Box<dyn Probe> {
            Box::new(StepProbe {
                index,
                result: choose::described(clock.as_ref()),
                steps: Steps::default(),
                differences: Distribution::new(),
                changes: 0,
                read_for: Nanos::ZERO,
                rounds: plan.depth.pick(1, 2, 10),
                conditions: plan.conditions.clone(),
            })
        })
        .collect()
}

struct StepProbe {
    index: usize,
    result: ClockResult,
    steps: Steps,
    differences: Distribution,
    changes: u64,
    read_for: Nanos,
    rounds: u32,
    conditions: Conditions,
}

impl StepProbe {
    /// Long enough for several steps of a coarse clock, short for a fine one.
    fn reading_time(&self) -> Nanos {
        let stated = self.result.stated_step_ns.unwrap_or(Nanos(1));
        (stated * 12).max(Nanos(1_000_000)).min(READING_MAX)
    }

    fn on_one_thread(&mut self, bench: &Bench, scale: ClockScale) {
        let platform = bench.platform();
        let clock = platform.clocks()[self.index].as_ref();
        let mut chunk = vec![0; CHUNK_READS];
        let begun = platform.now();
        let mut previous = clock.read();
        let mut elapsed = Nanos::ZERO;
        let mut still = StillClock::default();
        while elapsed < self.reading_time() && !bench.stopped() {
            clock.read_into(&mut chunk);
            let now = platform.now();
            bench.note(&mut still, now, Reads(CHUNK_READS as u64));
            elapsed = now - begun;
            for block in chunk.chunks(BLOCK_READS) {
                // Most reads of a coarse clock show no change: there is nothing to convert.
                if block.iter().fold(0, |differ, raw| differ | (raw ^ previous)) == 0 {
                    continue;
                }
                for &raw in block {
                    self.record(scale.span(previous, raw));
                    previous = raw;
                }
            }
            self.steps.reads += chunk.len() as u64;
        }
        self.read_for += elapsed;
    }

    fn record(&mut self, difference: Nanos) {
        if difference > Nanos::ZERO {
            self.changes += 1;
            self.differences.record(difference.0);
        } else if difference < Nanos::ZERO {
            self.steps.backward_on_one_thread += 1;
            let largest = self.steps.backward_on_one_thread_ns.get_or_insert(Nanos::ZERO);
            *largest = (*largest).max(-difference);
        }
    }

    fn across_cpus(&mut self, bench: &Bench, scale: ClockScale) {
        let cpus = bench.platform().cpus();
        let &[first, .., last] = &cpus[..] else { return };
        if self.result.counts != Counts::ElapsedTime {
            return;
        }
        let turn = Arc::new(Turn::default());
        let (platform, turn_there, index) = (Arc::clone(bench.shared_platform()), Arc::clone(&turn), self.index);
        let partner = bench.platform().spawn(
            "measure-partner",
            Box::new(move || {
                let Some(_pin) = pinned(&*platform, last.number) else {
                    turn_there.over.store(true, Ordering::SeqCst);
                    return;
                };
                take_turns(&platform, index, &turn_there, 1, scale);
            }),
        );
        let Ok(partner) = partner else { return };
        if let Some(_pin) = pinned(bench.platform(), first.number) {
            take_turns(bench.shared_platform(), self.index, &turn, 0, scale);
        }
        turn.over.store(true, Ordering::SeqCst);
        partner.join();
        self.steps.cross_cpu_reads += turn.count.load(Ordering::SeqCst).saturating_sub(1);
        self.steps.backward_across_cpus += turn.backward.load(Ordering::SeqCst);
        let largest = turn.largest_ns.load(Ordering::SeqCst);
        if largest > 0 {
            let known = self.steps.backward_across_cpus_ns.get_or_insert(Nanos::ZERO);
            *known = (*known).max(Nanos(largest as i64));
        }
    }
}

/// The state that two threads share to take turns.
#[derive(Default)]
struct Turn {
    /// The number of reads so far. An even number means that it is the first thread's turn.
    count: AtomicU64,
    value: AtomicU64,
    backward: AtomicU64,
    largest_ns: AtomicU64,
    over: AtomicBool,
}

fn take_turns(platform: &SharedPlatform, index: usize, turn: &Turn, parity: u64, scale: ClockScale) {
    let clock = platform.clocks()[index].as_ref();
    let begun = platform.now();
    loop {
        let mut count = turn.count.load(Ordering::Acquire);
        let mut spins = 0_u64;
        while count % 2 != parity {
            if turn.over.load(Ordering::Relaxed) {
                return;
            }
            spins = spins.wrapping_add(1);
            let is_time_up = || spins >= READS_MAX || platform.now() - begun > TURNS_TIME_MAX;
            if spins.is_multiple_of(256) && is_time_up() {
                turn.over.store(true, Ordering::SeqCst);
                return;
            }
            platform.relax();
            count = turn.count.load(Ordering::Acquire);
        }
        let raw = clock.read();
        if count > 0 {
            let gone = scale.span(turn.value.load(Ordering::Relaxed), raw);
            if gone < Nanos::ZERO {
                turn.backward.fetch_add(1, Ordering::Relaxed);
                turn.largest_ns.fetch_max(gone.0.unsigned_abs(), Ordering::Relaxed);
            }
        }
        turn.value.store(raw, Ordering::Relaxed);
        turn.count.store(count + 1, Ordering::Release);
        if count + 1 >= TURNS {
            turn.over.store(true, Ordering::SeqCst);
            return;
        }
    }
}

/// Pins the calling thread to that CPU until the guard is dropped; `None` if the system refuses.
fn pinned(platform: &dyn Platform, cpu: u32) -> Option<Option<Box<dyn Restore>>> {
    let (outcome, guard) = platform.tunable(names::PIN)?.apply(&Setting::Cpus(vec![cpu]));
    outcome.holds().then_some(guard)
}

impl Probe for StepProbe {
    fn label(&self) -> String {
        format!("clock {}: steps", self.result.name)
    }

    fn rounds(&self) -> u32 {
        self.rounds
    }

    fn round_estimate(&self) -> Nanos {
        self.reading_time() + Nanos(300_000)
    }

    fn conditions(&self) -> &Conditions {
        &self.conditions
    }

    fn round(&mut self, bench: &Bench) -> Result<(), Unavailable> {
        // A counter that can't be calibrated has no steps in ns.
        let Ok(scale) = choose::scale_of(bench.platform(), self.index) else { return Ok(()) };
        self.on_one_thread(bench, scale);
        self.across_cpus(bench, scale);
        Ok(())
    }

    fn recorders(&mut self) -> Vec<&mut SeriesRecorder> {
        Vec::new()
    }

    fn finish(mut self: Box<Self>, _partial: bool, measured: &mut Measured) {
        let result = choose::clock_result(measured, &self.result);
        if self.steps.reads > 0 {
            self.steps.smallest_ns = self.differences.min().map(Nanos);
            self.steps.median_ns = self.differences.p50().map(Nanos);
            let per_second = self.changes as f64 / self.read_for.as_secs_f64();
            self.steps.changes_per_second = per_second.is_finite().then_some(per_second.round() as u64);
            result.steps = Some(self.steps);
        }
    }
}

#[cfg(test)]
mod tests {
    use oversleep_model::sim::Sim;

    use super::*;
    use crate::testing;

    fn steps_of(machine: testing::MachineBuilder, clock: &str) -> Steps {
        let sim = Sim::start(machine.build());
        let plan = Plan { subjects: vec![clock.to_owned()], ..Plan::default() };
        let measured = testing::measure_on(sim.clone(), probes(&*sim, &plan));
        measured.clocks[clock].steps.expect("it was read")
    }

    #[test]
    fn sees_the_step_of_a_coarse_clock() {
        let steps = steps_of(testing::machine(), "monotonic-coarse");
        assert_eq!(steps.smallest_ns, Some(Nanos::from_millis(4)));
        let changes = steps.changes_per_second.unwrap();
        assert!((235..=260).contains(&changes), "{changes}");
        assert_eq!(steps.backward_on_one_thread, 0);
    }

    #[test]
    fn sees_a_skewed_cpu() {
        let fine = steps_of(testing::machine(), "monotonic");
        assert!(fine.cross_cpu_reads > 100);
        assert_eq!(fine.backward_across_cpus, 0);
        let machine = testing::machine().with_clock("monotonic", |clock| clock.skew_ns = Nanos(50_000));
        let skewed = steps_of(machine, "monotonic");
        assert!(skewed.backward_across_cpus > 50, "{skewed:?}");
        let largest = skewed.backward_across_cpus_ns.unwrap();
        assert!((Nanos(49_000)..=Nanos(50_000)).contains(&largest), "{largest}");
    }
}
