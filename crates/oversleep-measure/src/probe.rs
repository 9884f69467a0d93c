//! A probe: the part of an experiment that runs on one thread under one set of conditions, round by round.

use std::collections::BTreeMap;

use oversleep_record::{ClockResult, Conditions, Nanos, Series, Unavailable};

use super::bench::Bench;
use super::recorder::SeriesRecorder;

/// The results of measuring.
#[derive(Debug, Default)]
pub struct Measured {
    /// Every series, in the order of the experiments.
    pub series: Vec<Series>,
    /// What was learned about each clock, by name.
    pub clocks: BTreeMap<String, ClockResult>,
}

/// One thing to measure. Its rounds are interleaved with those of the other probes, so that a passing disturbance
/// touches one round of many series instead of all rounds of one.
pub trait Probe: Send {
    /// The label while it runs: `nanosleep 1 ms`.
    fn label(&self) -> String;

    /// The number of its rounds.
    fn rounds(&self) -> u32;

    /// Its priority within a round. Probes of a lower rank go first, in case the run is cut short.
    fn rank(&self) -> u32 {
        0
    }

    /// Whether the main conclusions depend on it. If a machine is too slow for everything, all rounds of such a probe
    /// are still run, and others get fewer.
    fn is_essential(&self) -> bool {
        false
    }

    /// The estimated duration of a round, until one has been run.
    fn round_estimate(&self) -> Nanos;

    /// The period of its schedule: a shorter time contains no deadline. `None` if each call is its own deadline, or if
    /// nothing waits.
    fn period(&self) -> Option<Nanos> {
        None
    }

    /// If nothing is concluded from the last microseconds of its waits: how often it ends one. It may then share a round's
    /// time with others that end one as often.
    fn company(&self) -> Option<Nanos> {
        None
    }

    /// Whether its rounds so far suffice, so that it needs no more; `None` if it always has all of them.
    fn is_settled(&self) -> Option<bool> {
        None
    }

    /// The conditions of its measuring thread.
    fn conditions(&self) -> &Conditions;

    /// Measures one round, on a separate thread under the conditions. It isn't called again once all of its series are
    /// unavailable.
    ///
    /// # Errors
    /// Why none of its series can be measured; they keep what they have.
    fn round(&mut self, bench: &Bench) -> Result<(), Unavailable>;

    /// The series that it fills, so that rounds, disturbance and outcomes are recorded in each.
    fn recorders(&mut self) -> Vec<&mut SeriesRecorder>;

    /// Returns what was measured. `partial` means that some rounds didn't run.
    fn finish(mut self: Box<Self>, partial: bool, measured: &mut Measured) {
        measured.series.extend(self.recorders().into_iter().map(|recorder| recorder.take_series(partial)));
    }
}
