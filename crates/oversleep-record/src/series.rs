//! One series: one thing measured many times under one set of conditions.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::conditions::Conditions;
use crate::distribution::Distribution;
use crate::disturbance::Disturbance;
use crate::experiment::ExperimentId;
use crate::idling::Idling;
use crate::key::SeriesKey;
use crate::label::{Label, LabelValue, Labels};
use crate::observed::ObservedWaits;
use crate::reason::Unavailable;
use crate::samples::Samples;
use crate::split::{LatenessSplit, PartSplit};
use crate::units::Nanos;

pub use crate::distribution::Beyond;

/// What each value of a series is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Quantity {
    /// End of a wait minus its deadline; below zero if it ended early.
    Lateness,
    /// End minus start, as one clock shows it.
    #[serde(alias = "elapsed")]
    Duration,
    /// Cost of one call.
    Cost,
    /// Difference of two consecutive different readings of one clock.
    Step,
    /// From the signal to the woken thread's first clock read (or there and back for ping-pong).
    HandoffLatency,
    /// From the fork to the join as the main thread sees it.
    ForkJoin,
    /// Wake-ups per second.
    WakeupsPerSecond,
    /// Generations per second.
    GenerationsPerSecond,
    /// The timer resolution that the system states while a setting is held.
    StatedResolution,
    /// Time spent in one idle state per second and CPU.
    IdleResidency,
    /// Power drawn by the processor packages together.
    Power,
    /// Items that went through a queue per second.
    ItemsPerSecond,
    /// From the moment at which an item was due to be sent until its consumer had it.
    ItemLatency,
    /// From one wake-up of a thread to its next.
    Period,
    /// From waking a thread up until it has a CPU, whatever woke it.
    WakeUpLatency,
}

/// A language runtime: two versions are two runtimes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Runtime {
    /// `java`, `go`, `python` …
    pub name: String,
    /// As the runtime states it: `17.0.9`.
    pub version: String,
}

impl fmt::Display for Runtime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&crate::runtime_name::with_versions(&self.name, &self.version))
    }
}

/// The unit of a series' values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// Nanoseconds.
    Ns,
    /// Picoseconds: costs of calls that take a few ns.
    Ps,
    /// Times per second.
    Hz,
    /// Milliwatts.
    Mw,
}

/// How the waits of a series follow one another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Pace {
    /// Each call has its own deadline: its start plus the request. The next begins as soon as it ended.
    BackToBack,
    /// Absolute deadlines, one request apart. None is skipped: a deadline that passed while the thread was off the CPU is
    /// recorded.
    Periodic,
    /// Back to back, with a pause of random length (spinning) before each call.
    RandomPhase,
}

impl fmt::Display for Pace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Pace::BackToBack => "back to back",
            Pace::Periodic => "periodic",
            Pace::RandomPhase => "random phase",
        })
    }
}

/// How a series ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum Status {
    /// All that was planned was measured.
    #[default]
    Complete,
    /// It stopped early: the user interrupted it, or the time budget was used up. Its values are valid.
    Partial,
    /// It is not available.
    Unavailable {
        /// Why.
        reason: Unavailable,
    },
}

/// Numbers of values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Counts {
    /// Deadlines in the time measured; `None` where there is no schedule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected: Option<u64>,
    /// Values recorded.
    pub recorded: u64,
    /// Of these, deadlines that had passed before the call could be made.
    #[serde(default)]
    pub missed: u64,
    /// Wake-ups before the deadline.
    #[serde(default)]
    pub early: u64,
    /// How often a clock went backwards between two reads.
    #[serde(default)]
    pub backward: u64,
    /// Waits that a signal ended instead of the timer; their values are not in the distribution.
    #[serde(default)]
    pub interrupted: u64,
}

/// One of the interleaved rounds a series was measured in. For observed programs a slice of the time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Round {
    /// When it began, in ns since the run's origin.
    pub start_ns: Nanos,
    /// Number of values.
    pub count: u64,
    /// Its median, which tells drift and disturbance from the effect; `None` without values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub median: Option<i64>,
    /// Its 90th percentile, where at least one value lies beyond it. One round's says little; those of many rounds show how
    /// far the tail varies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p90: Option<i64>,
    /// Its 99th percentile likewise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p99: Option<i64>,
    /// What else the machine did meanwhile.
    pub disturbance: Disturbance,
}

impl Round {
    /// The round of these values. At least one value lies beyond a percentile of it.
    pub fn of(start_ns: Nanos, values: &Distribution, disturbance: Disturbance) -> Round {
        let percentile = |percent: u64| {
            let has_beyond = values.count().saturating_mul(100 - percent) >= 100;
            values.quantile(percent as f64 / 100.0).filter(|_| has_beyond)
        };
        let (count, median) = (values.count(), values.p50());
        Round { start_ns, count, median, p90: percentile(90), p99: percentile(99), disturbance }
    }
}

/// One thing measured many times under one set of conditions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Series {
    /// Unique in its file: `B5/nanosleep/1ms`, `C2/nanosleep/1ms/slack=1ns`.
    pub key: SeriesKey,
    /// The experiment's id: `B5`.
    pub experiment: ExperimentId,
    /// Registry name of the clock, wait or hand-off measured; of a runtime, the name its programmers write.
    pub subject: String,
    /// The language runtime that the subject belongs to; `None` for the calls of the system.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime: Option<Runtime>,
    /// What each value is.
    pub quantity: Quantity,
    /// Its unit.
    pub unit: Unit,
    /// What the program requested, for waits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requested_ns: Option<Nanos>,
    /// What is passed to the call, after its own rounding of the request.
    #[serde(default, alias = "asked_ns", skip_serializing_if = "Option::is_none")]
    pub rounded_ns: Option<Nanos>,
    /// How the waits follow one another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pace: Option<Pace>,
    /// Registry name of the clock that its timestamps come from.
    pub clock: String,
    /// The conditions requested and what became of each.
    #[serde(default, skip_serializing_if = "Conditions::is_as_found")]
    pub conditions: Conditions,
    /// What else distinguishes it: `style` → `spinning`, `threads` → `8`, `way` → `one-way`.
    #[serde(default, skip_serializing_if = "Labels::is_empty")]
    pub labels: Labels,
    /// How it ended.
    pub status: Status,
    /// Whether its rounds agreed so well that further ones would have changed no conclusion: it ended with the round that
    /// showed this. `false` where they never did, so that all planned rounds were measured; `None` where all always are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settled: Option<bool>,
    /// How many waits of other series were under way at the same time, begun one after the other so that they didn't end
    /// together. `None` if it was measured alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub company: Option<u64>,
    /// Numbers of values.
    pub counts: Counts,
    /// Every value recorded, missed deadlines included.
    pub distribution: Distribution,
    /// Only the values of calls that were made, as a tool that skips missed periods would show them. Present where a
    /// deadline was missed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calls_only: Option<Distribution>,
    /// Raw samples, up to a cap.
    #[serde(default)]
    pub samples: Samples,
    /// The interleaved rounds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rounds: Vec<Round>,
    /// Where the lateness comes from, where that was observed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub split: Option<LatenessSplit>,
    /// The same split into every part that the kernel shows: of these waits where they were observed (`oversleep why`),
    /// else of separate rounds (`check --why`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<PartSplit>,
    /// Why waits of an observed program ended and who delayed them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed: Option<ObservedWaits>,
    /// Values beyond the range of the program that recorded them, which knows only how many there were. They are in no other
    /// count of the series; [`set_beyond`](Series::set_beyond) tells its distribution.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beyond: Option<Beyond>,
    /// What waiting for items cost, for series about queues.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idling: Option<Idling>,
}

impl Series {
    /// An empty series; fill in the rest with struct update syntax.
    pub fn new(experiment: ExperimentId, subject: &str, quantity: Quantity, unit: Unit) -> Series {
        Series {
            key: SeriesKey::new(experiment, subject),
            experiment,
            subject: subject.to_owned(),
            runtime: None,
            quantity,
            unit,
            requested_ns: None,
            rounded_ns: None,
            pace: None,
            clock: String::new(),
            conditions: Conditions::as_found(),
            labels: Labels::new(),
            status: Status::Complete,
            settled: None,
            company: None,
            counts: Counts::default(),
            distribution: Distribution::default(),
            calls_only: None,
            samples: Samples::default(),
            rounds: Vec::new(),
            split: None,
            why: None,
            observed: None,
            beyond: None,
            idling: None,
        }
    }

    /// The series as a schedule without omission would have seen it: deadlines missed while a call overran are filled
    /// in, from the calls alone. The schedule's interval is what was requested, whatever the call rounded it to.
    ///
    /// `None` for series without a schedule (call by call, where each call is its own deadline and none can be missed),
    /// and where the request is absurdly short.
    pub fn corrected(&self) -> Option<Distribution> {
        if self.pace != Some(Pace::Periodic) {
            return None;
        }
        self.calls().corrected_for_omission(self.requested_ns?.0)
    }

    /// The values of calls that were made.
    pub fn calls(&self) -> &Distribution {
        self.calls_only.as_ref().unwrap_or(&self.distribution)
    }

    /// States values beyond the range of the program that recorded them: no figure leaves them out.
    pub fn set_beyond(&mut self, beyond: Option<Beyond>) {
        self.beyond = beyond;
        self.distribution.set_beyond(beyond);
    }

    /// The sum of all rounds' disturbance.
    pub fn disturbance(&self) -> Disturbance {
        self.rounds.iter().fold(Disturbance::default(), |sum, round| sum.merged(&round.disturbance))
    }

    /// Allocates all the memory that recording needs.
    pub fn prepare(&mut self) {
        self.distributions_mut().for_each(Distribution::prepare);
    }

    /// Gives back what [`prepare`](Series::prepare) took, until more is recorded.
    pub fn rest(&mut self) {
        self.distributions_mut().for_each(Distribution::shrink);
    }

    /// Gives back all the memory that only recording needs.
    pub fn shrink(&mut self) {
        self.samples.shrink();
        self.rest();
    }

    fn distributions_mut(&mut self) -> impl Iterator<Item = &mut Distribution> {
        let split = self.split.iter_mut().flat_map(LatenessSplit::parts_mut);
        let observed = self.observed.iter_mut().flat_map(ObservedWaits::distributions_mut);
        let parks = self.idling.iter_mut().map(|idling| &mut idling.park_overshoot);
        let parts = self.why.iter_mut().flat_map(PartSplit::parts_mut);
        [&mut self.distribution]
            .into_iter()
            .chain(&mut self.calls_only)
            .chain(split)
            .chain(parts)
            .chain(parks)
            .chain(observed)
    }

    /// Whether it has values.
    pub fn has_values(&self) -> bool {
        !self.distribution.is_empty()
    }

    /// A label's value; `None` if the series has none that this version knows.
    pub fn label<T: LabelValue>(&self, label: Label<T>) -> Option<T> {
        self.labels.get(label)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_corrected_view_follows_the_schedule_not_the_rounding() {
        let mut series = Series::new(ExperimentId::B5, "poll", Quantity::Lateness, Unit::Ns);
        (series.requested_ns, series.rounded_ns) = (Some(Nanos(300_000)), Some(Nanos::from_millis(1)));
        series.distribution.record(760_000);
        for pace in [None, Some(Pace::BackToBack), Some(Pace::RandomPhase)] {
            series.pace = pace;
            assert_eq!(series.corrected(), None, "{pace:?} has no schedule to miss");
        }
        series.pace = Some(Pace::Periodic);
        assert_eq!(series.corrected().map(|corrected| corrected.count()), Some(3), "760, 460 and 160 µs");
    }
}
