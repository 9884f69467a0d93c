//! A1: what one read of each clock costs.

use oversleep_record::series::{Quantity, Series, Unit};
use oversleep_record::{ClockResult, Conditions, ExperimentId, Nanos, Unavailable};

use super::choose;
use crate::bench::Bench;
use crate::experiment::{Column, Command, Experiment};
use crate::plan::Plan;
use crate::probe::{Measured, Probe};
use crate::recorder::SeriesRecorder;
use crate::still::{Reads, StillClock};
use oversleep_system::Platform;

pub(super) static A1: Experiment = Experiment {
    id: ExperimentId::A1,
    title: "cost of a clock read",
    question: "What does one read of each clock cost, and how many times as much as the cheapest?",
    method: "Each clock is read in batches of at least 50 µs, so that the cost of the two timestamps around a batch is \
             negligible. The loop is compiled for that clock alone, so nothing but the call is timed, and the \
             optimiser must keep the values, so an empty loop can't be reported as a time. Batches of all clocks are \
             interleaved. Every batch is one value of the series, in ps per call; nothing is subtracted. A clock that \
             costs ten times as much as the others is read by a system call instead of the vDSO.",
    quantities: &[Quantity::Cost],
    columns: &[Column { name: "cost", meaning: "Time per read, the mean of one batch." }],
    commands: &[Command::Clocks],
    probes,
    ..Experiment::BLANK
};

/// The shortest batch: at 20 ns each, the two timestamps around it are less than 0.1 % of it.
const BATCH_MIN: Nanos = Nanos(50_000);
/// The longest batch.
const BATCH_READS_MAX: u64 = 1 << 24;

fn probes(platform: &dyn Platform, plan: &Plan) -> Vec<Box<dyn Probe>> {
    let clocks = platform.clocks().iter().enumerate().filter(|(_, clock)| plan.wants(clock.info().name));
    let batches = plan.depth.pick(8, 20, 400);
    clocks
        .map(|(index, clock)| -> Box<dyn Probe> {
            let described = choose::described(clock.as_ref());
            let mut series = Series::new(A1.id, &described.name, Quantity::Cost, Unit::Ps);
            series.conditions = plan.conditions.clone();
            let mut recorder = SeriesRecorder::new(series, batches * 5);
            if let Some(reason) = described.unavailable.clone() {
                recorder.unavailable(reason);
            }
            Box::new(CostProbe {
                index,
                described,
                recorder,
                batches,
                batch_reads: 0,
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
    /// Reads per batch; 0 until it is known how many take [`BATCH_MIN`].
    batch_reads: u64,
    conditions: Conditions,
}

impl Probe for CostProbe {
    fn label(&self) -> String {
        format!("clock {}: cost", self.described.name)
    }

    fn rounds(&self) -> u32 {
        if self.recorder.is_unavailable() { 0 } else { 5 }
    }

    fn round_estimate(&self) -> Nanos {
        BATCH_MIN * i64::try_from(self.batches).unwrap_or(i64::MAX) + Nanos(100_000)
    }

    fn conditions(&self) -> &Conditions {
        &self.conditions
    }

    fn round(&mut self, bench: &Bench) {
        let platform = bench.platform();
        let clock = platform.clocks()[self.index].as_ref();
        let timed = |reads| {
            let before = platform.now();
            clock.read_batch(reads);
            (before, platform.now() - before)
        };
        self.recorder.series_mut().clock = platform.reference_clock().to_owned();
        let reference = platform.clock(platform.reference_clock());
        let step = reference.and_then(|clock| clock.stated_step_ns()).unwrap_or_default();
        // A reference clock that moves in ticks must have moved by several.
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
        let mut recorded = 0;
        while recorded < self.batches {
            if bench.stopped() {
                return;
            }
            let (before, duration) = timed(self.batch_reads);
            // Not the time of a batch: it was disturbed, or a tick of the clock, when the size was chosen.
            if duration.0 < enough.0 / 2 && self.batch_reads < BATCH_READS_MAX {
                self.batch_reads *= 2;
                continue;
            }
            if duration <= Nanos::ZERO {
                return self.recorder.unavailable(Unavailable::failed(
                    "timing the reads",
                    format!("the reference clock did not move in {} of them", self.batch_reads),
                ));
            }
            recorded += 1;
            let ps = i128::from(duration.0) * 1_000 / i128::from(self.batch_reads);
            self.recorder.record(bench.since_origin(before), i64::try_from(ps).unwrap_or(i64::MAX));
        }
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
    use super::*;
    use crate::testing;
    use oversleep_model::sim::Sim;

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
}
