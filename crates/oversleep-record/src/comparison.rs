//! Comparisons of results: their machines, their differences, and their series side by side with a verdict.
//!
//! A comparison is a document of its own. oversleep makes it from results; reports show it and other programs read it.

use serde::{Deserialize, Serialize};

use crate::clock::Validity;
use crate::conditions::Conditions;
use crate::environment::{FactValue, PlatformId};
use crate::experiment::ExperimentId;
use crate::file::{Completion, Floor, Tool};
use crate::key::SeriesKey;
use crate::label::Labels;
use crate::part::Part;
use crate::reason::Unavailable;
use crate::series::{Pace, Quantity, Runtime, Unit};
use crate::units::Nanos;

/// The schema this crate writes.
pub const SCHEMA: &str = "oversleep-comparison/3";

/// Results compared with the first of them, the base.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Comparison {
    /// `oversleep-comparison/3`.
    #[cfg_attr(feature = "schema", schemars(extend("const" = SCHEMA)))]
    pub schema: String,
    /// Who compared.
    pub tool: Tool,
    /// What was compared, in the order given; the first is the base. Everywhere else a result is named by its place here,
    /// from 0.
    pub results: Vec<Compared>,
    /// What must not be concluded from these results, in sentences.
    pub caveats: Vec<Caveat>,
    /// Facts that matter for timing and are not the same everywhere.
    pub facts: Vec<FactDifference>,
    /// Clocks and their steps. The cost of a read is a series.
    pub clocks: Vec<ClockComparison>,
    /// Every series of every result. A series that is in several results is one entry.
    pub series: Vec<SeriesComparison>,
}

/// One of the results.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Compared {
    /// The name the user gave it with `--name`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Where it was taken.
    pub platform: PlatformId,
    /// The machine, in words: system, processor, what it runs in.
    pub machine: Vec<String>,
    /// The version of Wine that emulated Windows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wine: Option<String>,
    /// Why its processor is taken for an emulator's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub emulated: Option<String>,
    /// Who measured.
    pub tool: Tool,
    /// The command that ran: `check`, `waits` …
    pub command: String,
    /// When, seconds since 1970-01-01 UTC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub taken_unix_s: Option<i64>,
    /// How it ended.
    pub completion: Completion,
    /// The floor under its figures.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub floor: Option<Floor>,
}

/// A reason not to conclude something from one of the results.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Caveat {
    /// Which result.
    pub result: u32,
    /// Its kind.
    pub kind: CaveatKind,
    /// In a sentence.
    pub sentence: String,
}

/// Kinds of caveats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CaveatKind {
    /// The machine is a model.
    Modelled,
    /// The system is emulated by Wine.
    Wine,
    /// The processor is an emulator's.
    Emulated,
    /// Another program measured it.
    Imported,
    /// The run was stopped before its end.
    Interrupted,
    /// The run took few values.
    Quick,
    /// Other work kept the machine busy.
    Busy,
    /// Its timestamps come from another clock than the base's.
    OtherClock,
    /// Its waits were followed in another way than the base's.
    OtherFollower,
    /// Its threads share CPUs, and the base's don't, or the other way round.
    OtherCpus,
}

/// A fact that is not the same everywhere.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FactDifference {
    /// Its name: `timer.slack_ns`.
    pub name: String,
    /// Its value in each result, in their order; `null` where a result lacks it.
    pub values: Vec<Option<FactValue>>,
}

/// One clock.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClockComparison {
    /// Registry name.
    pub name: String,
    /// The clock in each result that has it.
    pub sides: Vec<ClockSide>,
}

/// A clock in one result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClockSide {
    /// Which result.
    pub result: u32,
    /// The step it was observed to move by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step_ns: Option<Nanos>,
    /// The step the system states.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stated_step_ns: Option<Nanos>,
    /// What a read costs there: the median, in ps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_ps: Option<i64>,
    /// Whether it is valid there for measuring elapsed time; left out where it is not available.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub validity: Option<Validity>,
    /// Which checks it failed there, or what they lacked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<String>,
    /// Why a valid clock is valid on one thread only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub caution: Option<String>,
    /// Why it is not available there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unavailable: Option<Unavailable>,
}

/// The same thing measured in one or several results.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SeriesComparison {
    /// The series' key in the results.
    pub key: SeriesKey,
    /// The experiment's id.
    pub experiment: ExperimentId,
    /// Registry name of the clock, wait or hand-off measured; of a runtime, the name its programmers write.
    pub subject: String,
    /// The language runtime that the subject belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime: Option<Runtime>,
    /// What each value is.
    pub quantity: Quantity,
    /// The unit of every figure here that doesn't name its own.
    pub unit: Unit,
    /// What the program requested, for waits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requested_ns: Option<Nanos>,
    /// How the waits follow one another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pace: Option<Pace>,
    /// The conditions requested.
    #[serde(default, skip_serializing_if = "Conditions::is_as_found")]
    pub conditions: Conditions,
    /// What else tells it from its neighbours.
    #[serde(default, skip_serializing_if = "Labels::is_empty")]
    pub labels: Labels,
    /// The results that have it, in their order. The plain sleeps of several systems are one entry.
    pub sides: Vec<Side>,
}

impl SeriesComparison {
    /// A result's side.
    pub fn side(&self, result: u32) -> Option<&Side> {
        self.sides.iter().find(|side| side.result == result)
    }
}

/// One result's figures of a series; those of waits are of the calls made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Side {
    /// Which result.
    pub result: u32,
    /// What was measured there, where it has another name: the plain sleep of another system.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// What was requested there, where that differs: the only other waits of the same observed thread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requested_ns: Option<Nanos>,
    /// How the waits followed one another there, where that differs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pace: Option<Pace>,
    /// Why it is not available there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unavailable: Option<Unavailable>,
    /// What is passed to the call, after its own rounding of the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rounded_ns: Option<Nanos>,
    /// Number of values.
    pub count: u64,
    /// Number of rounds.
    pub rounds: u64,
    /// Deadlines that had passed before the call could be made; they are in none of the figures.
    pub missed: u64,
    /// The mean.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean: Option<i64>,
    /// The median.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p50: Option<Estimate>,
    /// The 99th percentile, where ten values lie beyond it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p99: Option<Estimate>,
    /// The largest value. Nothing is concluded from it: it grows with the number of values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<i64>,
    /// The parts of the lateness, where they were observed; parts that were always 0 are missing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<PartSide>,
    /// Compared with the base; left out for the base itself, and where the base has no such series.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub against_base: Option<AgainstBase>,
}

/// One part of the lateness in one result.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PartSide {
    /// The part.
    pub part: Part,
    /// Its mean; the means of all parts add up to that of the lateness.
    pub mean_ns: f64,
    /// Its median.
    pub p50: Estimate,
    /// Its 99th percentile, where ten values lie beyond it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p99: Option<Estimate>,
}

/// A figure and where it lies with 99 % confidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Estimate {
    /// The figure.
    pub value: i64,
    /// Its interval; left out where there are too few values for one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<Interval>,
}

/// An interval, its ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Interval {
    /// The lower end.
    pub low: i64,
    /// The upper end.
    pub high: i64,
}

/// One result's figures against the base's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AgainstBase {
    /// The medians compared.
    pub p50: Judgement,
    /// The 99th percentiles compared; left out where either side has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p99: Option<Judgement>,
    /// The largest value by the base's; left out unless both are above zero.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_ratio: Option<f64>,
    /// Each part of the lateness compared with the base's. Empty where the waits were followed in different ways, because
    /// then their parts are not the same.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<PartAgainst>,
}

/// A part of the lateness against the base's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PartAgainst {
    /// The part.
    pub part: Part,
    /// The medians compared.
    pub p50: Judgement,
    /// The 99th percentiles compared; left out where either side has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p99: Option<Judgement>,
}

/// A figure against the base's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Judgement {
    /// This figure by the base's; left out unless both are above zero.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ratio: Option<f64>,
    /// The smallest and the largest ratio that both intervals allow; left out unless they lie above zero.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ratio_interval: Option<[f64; 2]>,
    /// The verdict.
    #[serde(flatten)]
    pub verdict: Verdict,
}

impl Judgement {
    /// Two figures that differ by no more than this are the same.
    pub const SAME_MAX: f64 = 0.02;

    /// Whether the two figures are known to be the same: even the ends of their intervals differ by 2 % at most.
    pub fn is_the_same(&self) -> bool {
        self.verdict == Verdict::Overlap
            && self.ratio_interval.is_some_and(|ends| ends.into_iter().all(Self::is_near_one))
    }

    /// Whether two figures of that ratio count as the same.
    pub fn is_near_one(ratio: f64) -> bool {
        (1.0 - Self::SAME_MAX..=1.0 + Self::SAME_MAX).contains(&ratio)
    }
}

/// The verdict on two figures.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "verdict", rename_all = "snake_case")]
pub enum Verdict {
    /// They differ by more than the uncertainty of both.
    Differs,
    /// They may be the same: their intervals overlap, or they differ by no more than 2 %. That doesn't prove that they
    /// are.
    Overlap,
    /// Too few values or rounds to conclude from.
    TooFew {
        /// What is missing.
        why: String,
    },
    /// Something else was using the machine.
    TooDisturbed {
        /// What disturbed it.
        why: String,
    },
    /// The two are measurements of different things.
    NotComparable {
        /// What differs.
        why: String,
    },
}

impl Verdict {
    /// Whether the verdict permits a conclusion about the machines.
    pub fn is_conclusion(&self) -> bool {
        matches!(self, Verdict::Differs | Verdict::Overlap)
    }
}

impl Comparison {
    /// The results that are compared with the base.
    pub fn others(&self) -> impl Iterator<Item = u32> + use<> {
        1..u32::try_from(self.results.len()).unwrap_or(u32::MAX)
    }

    /// The verdict on the median of each series that base and result both have.
    pub fn verdicts(&self, result: u32) -> impl Iterator<Item = (&SeriesComparison, &Judgement)> {
        self.series.iter().filter_map(move |series| Some((series, &series.side(result)?.against_base.as_ref()?.p50)))
    }

    /// Whether anything could be concluded from any series.
    pub fn concludes(&self) -> bool {
        self.others().any(|result| self.verdicts(result).any(|(_, judged)| judged.verdict.is_conclusion()))
    }
}
