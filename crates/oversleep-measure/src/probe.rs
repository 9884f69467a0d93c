//! A probe: the part of an experiment that runs in one thread under one set of conditions, round by round.

use std::collections::BTreeMap;

use oversleep_record::{ClockResult, Conditions, Nanos, Series};

use super::bench::Bench;
use super::recorder::SeriesRecorder;

/// What measuring leaves behind.
#[derive(Debug, Default)]
pub struct Measured {
    /// Every series, in the order of the experiments.
    pub series: Vec<Series>,
    /// What was learned about clocks, by name.
    pub clocks: BTreeMap<String, ClockResult>,
}

/// One thing to measure. Its rounds are interleaved with those of the other probes, so that a passing disturbance
/// touches a round of many series instead of all rounds of one.
pub trait Probe: Send {
    /// What to show while it runs: `waits: nanosleep 1 ms`.
    fn label(&self) -> String;

    /// How many rounds it wants.
    fn rounds(&self) -> u32;

    /// Its place within a round: those of a lower rank go first, in case the run is cut.
    fn rank(&self) -> u32 {
        0
    }

    /// About how long a round takes; for the progress bar only.
    fn round_estimate(&self) -> Nanos;

    /// The period of its schedule: within less time not one deadline falls. `None` where each call is its own deadline, or
    /// where nothing is waited for.
    fn period(&self) -> Option<Nanos> {
        None
    }

    /// The conditions its measuring thread must have.
    fn conditions(&self) -> &Conditions;

    /// One round, on a thread of its own that has the conditions.
    fn round(&mut self, bench: &Bench);

    /// The series it fills, so that rounds, disturbance and outcomes are noted in each.
    fn recorders(&mut self) -> Vec<&mut SeriesRecorder>;

    /// Gives up what was measured. `partial` says that not all rounds were run.
    fn finish(self: Box<Self>, partial: bool, measured: &mut Measured);
}
