//! A1: the cost of one read of each clock.

use oversleep_record::clock::is_coarse;
use oversleep_record::series::{Quantity, Series, Unit};
use oversleep_record::{ClockResult, Conditions, ExperimentId, Nanos, Unavailable, label};
use oversleep_system::Platform;

use super::choose;
use crate::bench::Bench;
use crate::experiment::{Column, Command, Experiment};
use crate::plan::Plan;
use crate::probe::{Measured, Probe};
use crate::recorder::SeriesRecorder;
use crate::still::{Reads, StillClock};

pub(super) static A1: Experiment = Experiment {
    id: ExperimentId::A1,
    title: "cost of a clock read",
    question: "What does one read of each clock cost, and how many times as much as the cheapest?",
    method: "Each clock is read in batches of at least 50 µs, so that the cost of the two timestamps around a batch is \
             negligible. The loop is compiled for that clock alone, so nothing but the call is timed, and the \
             optimiser must keep the values, so an empty loop can't be reported as a time. Batches of all clocks are \
             interleaved. Every batch is one value of the series, in ps per call; nothing is subtracted. `oversleep clocks \
             --count 10000000` times that many reads of each clock, as the published benchmark did. A clock that \
             costs ten times as much as the others is read by a system call instead of the vDSO.",
    quantities: &[Quantity::Cost],
    columns: &[Column { name: "cost", meaning: "Time per read, the mean of one batch." }],
    commands: &[Command::Clocks],
    probes,
    ..Experiment::BLANK
};

/// The shortest batch: at 20 ns each, the two timestamps around it are less than 0.1 % of it.
const BATCH_MIN: Nanos = Nanos(50_000);
/// The fewest reads for a requested number: the timestamps around fewer would affect the result.
pub const READS_MIN: u64 = 10_000;
/// Each clock is read in so many rounds.
const ROUNDS: u32 = 5;
/// The approximate number of reads in the shortest batch, and the approximate duration of one.
const BATCH_READS_USUAL: u64 = 1_024;
const READ_ESTIMATE: Nanos = Nanos(50);
/// Batches per round if a batch takes several ticks of the reference clock: ten in all.
const BATCHES_OF_TICKS: u64 = 2;
/// The clocks with which others are compared, besides the reference clock.
const ESSENTIAL: [&str; 2] = ["std-instant", "monotonic-syscall"];
/// The longest batch.
const BATCH_READS_MAX: u64 = 1 << 24;

fn probes(platform: &dyn Platform, plan: &Plan) -> Vec<Box<dyn Probe>> {
    let clocks = platform.clocks().iter().enumerate().filter(|(_, clock)| plan.wants(clock.info().name));
    let batches = plan.depth.pick(8, 20, 400);
    let values = plan.reads.map_or(batches * u64::from(ROUNDS), |reads| reads.div_ceil(BATCH_READS_USUAL));
    clocks
        .map(|(index, clock)| -> Box<dyn Probe> {
            let described = choose::described(clock.as_ref());
            let mut series = Series::new(A1.id, &described.name, Quantity::Cost, Unit::Ps);
            series.conditions = plan.conditions.clone();
            if let Some(reads) = plan.reads {
                series.labels.set(label::CALLS, reads);
            }
            let mut recorder = SeriesRecorder::new(series, values);
            if let Some(reason) = described.unavailable.clone() {
                recorder.unavailable(reason);
            }
            Box::new(CostProbe {
                index,
                described,
                recorder,
                batches,
                reads: plan.reads,
                rounds_run: 0,
                batch_reads: 0,
                is_essential: ESSENTIAL.contains(&clock.info().name) || clock.info().name == platform.reference_clock(),
                conditions: plan.conditions.clone(),
            })
        })
        .collect()
}

struct CostProbe {
    index: usize,
    described: ClockResult,
    recorder: SeriesRecorder,
    batches: u64,
    /// Reads to time in all rounds together, instead of batches.
    reads: Option<u64>,
    rounds_run: u32,
    /// Reads per batch; 0 until it is known how many take [`BATCH_MIN`].
    batch_reads: u64,
    is_essential: bool,
    conditions: Conditions,
}

impl CostProbe {
    /// The reads of the next round, if a number of reads was requested.
    fn share(&mut self) -> Option<u64> {
        let round = u64::from(self.rounds_run);
        self.rounds_run += 1;
        let until = |round: u64| Some(u128::from(self.reads?) * u128::from(round) / u128::from(ROUNDS));
        u64::try_from(until(round + 1)? - until(round)?).ok()
    }
}

impl Probe for CostProbe {
    fn label(&self) -> String {
        format!("clock {}: cost", self.described.name)
    }

    fn rounds(&self) -> u32 {
        if self.recorder.is_unavailable() { 0 } else { ROUNDS }
    }

    fn is_essential(&self) -> bool {
        self.is_essential
    }

    fn round_estimate(&self) -> Nanos {
        if let Some(reads) = self.reads {
            return Nanos(i64::try_from(reads / u64::from(ROUNDS)).unwrap_or(i64::MAX)) * READ_ESTIMATE.0;
        }
        BATCH_MIN * i64::try_from(self.batches).unwrap_or(i64::MAX) + Nanos(100_000)
    }

    fn conditions(&self) -> &Conditions {
        &self.conditions
    }

    fn round(&mut self, bench: &Bench) -> Result<(), Unavailable> {
        let platform = bench.platform();
        let share = self.share();
        let clock = platform.clocks()[self.index].as_ref();
        let timed = |reads| {
            let before = platform.now();
            clock.read_batch(reads);
            (before, platform.now() - before)
        };
        self.recorder.series_mut().clock = platform.reference_clock().to_owned();
        let reference = platform.clock(platform.reference_clock());
        let step = reference.and_then(|clock| clock.stated_step_ns()).unwrap_or_default();
        // If the reference clock moves in ticks, the batch must take several.
        let enough = BATCH_MIN.max(step * 8);
        let mut still = StillClock::default();
        if self.batch_reads == 0 {
            self.batch_reads = 16;
            loop {
                let (before, duration) = timed(self.batch_reads);
                bench.note(&mut still, before + duration, Reads(self.batch_reads));
                if duration >= enough || self.batch_reads >= BATCH_READS_MAX || bench.stopped() {
                    break;
                }
                self.batch_reads *= 2;
            }
        }
        // Its batches are so long that a few must suffice.
        let batches = if is_coarse(step) { self.batches.min(BATCHES_OF_TICKS) } else { self.batches };
        let mut recorded = 0;
        let mut left = share;
        while left > Some(0) || left.is_none() && recorded < batches {
            if bench.stopped() {
                return Ok(());
            }
            // The last batch takes the remainder, so that exactly the requested number of reads is timed.
            let reads = left.filter(|&left| left < 2 * self.batch_reads).unwrap_or(self.batch_reads);
            let (before, duration) = timed(reads);
            // The batch is too short: a disturbance, or a tick of the clock, falsified the choice of its size.
            if duration.0 < enough.0 / 2 && self.batch_reads < BATCH_READS_MAX && left.is_none_or(|left| left > reads) {
                self.batch_reads *= 2;
                continue;
            }
            if duration <= Nanos::ZERO {
                let what = format!("the reference clock did not move in {reads} of them");
                return Err(Unavailable::failed("timing the reads", what));
            }
            recorded += 1;
            left = left.map(|left| left - reads);
            let ps = i128::from(duration.0) * 1_000 / i128::from(reads);
            self.recorder.record(bench.since_origin(before), i64::try_from(ps).unwrap_or(i64::MAX));
        }
        Ok(())
    }

    fn recorders(&mut self) -> Vec<&mut SeriesRecorder> {
        vec![&mut self.recorder]
    }

    fn finish(self: Box<Self>, partial: bool, measured: &mut Measured) {
        let series = self.recorder.into_series(partial);
        let result = choose::clock_result(measured, &self.described);
        if series.has_values() {
            result.cost_series = Some(series.key.clone());
        }
        measured.series.push(series);
    }
}

#[cfg(test)]
mod tests {
    use oversleep_model::sim::Sim;

    use super::*;
    use crate::testing;

    #[test]
    fn costs_are_those_of_the_model() {
        let sim = Sim::start(testing::machine().build());
        let measured = testing::measure_on(sim.clone(), probes(&*sim, &Plan::default()));
        let p50 = |name: &str| {
            let series = measured.series.iter().find(|series| series.subject == name).unwrap();
            series.distribution.p50().unwrap()
        };
        // The two timestamps of 20 ns are not subtracted: 40 ns in at least 50 µs.
        assert!((20_000..20_020).contains(&p50("monotonic")), "{}", p50("monotonic"));
        assert!((50_000..50_050).contains(&p50("monotonic-coarse")));
        assert!((280_000..280_300).contains(&p50("clock")));
        assert_eq!(measured.clocks["clock"].cost_series, Some("A1/clock".into()));
    }

    #[test]
    fn as_many_reads_are_timed_as_were_asked_for() {
        for reads in [10_000_000, 1_000_003, READS_MIN] {
            let sim = Sim::start(testing::machine().build());
            let plan = Plan { subjects: vec!["monotonic".to_owned()], reads: Some(reads), ..Plan::default() };
            let measured = testing::measure_on(sim.clone(), probes(&*sim, &plan));
            let [series] = &measured.series[..] else { panic!("one clock") };
            assert_eq!(series.label(label::CALLS), Some(reads));
            // Each read takes 20 ns there, and the two timestamps of a batch take 40.
            let batches = series.counts.recorded as i64;
            let spent: i64 = series.rounds.iter().map(|round| round.disturbance.window_ns.0).sum();
            let timed = reads as i64 * 20 + batches * 40;
            assert!(spent >= timed, "{reads}: {spent} of {timed}");
            assert!((20_000..20_050).contains(&series.distribution.p50().unwrap()), "{:?}", series.distribution.p50());
        }
    }
}
