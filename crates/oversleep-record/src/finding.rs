//! What a result says in sentences: findings, their evidence and their remedies.

use serde::{Deserialize, Serialize};

use crate::units::Nanos;

/// How much a finding matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Timing that a program can't trust: a wrong clock, a stalled machine.
    Fault,
    /// Time lost that a remedy gets back.
    Cost,
    /// Good to know before choosing a call.
    Note,
}

/// What a check of one finding came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It is so here; `sentence` says how much.
    Found,
    /// It was checked and not found here; `sentence` says why not.
    NotFound,
    /// The result does not hold what the check needs; `sentence` says what.
    NotEnoughData,
    /// The figures disagree with themselves; `sentence` says which.
    TooDisturbed,
}

/// One figure a finding rests on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Evidence {
    /// Where it stands: a series key, a fact's name, a clock's name.
    pub source: String,
    /// The figure with its unit.
    pub text: String,
}

/// A remedy: what to do, and what it gained when it was tried here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Advice {
    /// The remedy's stable id, as `lower-timer-slack`.
    pub remedy: String,
    /// What to do, in a sentence.
    pub sentence: String,
    /// Code or a command that does it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub example: Option<String>,
    /// What it gained here, before and after; or why it was not tried.
    pub tried: Tried,
}

/// Whether a remedy was tried here and what came of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum Tried {
    /// It was measured, before and after.
    Measured {
        /// Registry name of the wait measured with it.
        subject: String,
        /// Registry name of the wait measured without it, where that is another one: the remedy replaces it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        instead_of: Option<String>,
        /// What both were asked for; `None` where they have no request.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        requested_ns: Option<Nanos>,
        /// Median lateness without it, in ns.
        before_p50_ns: i64,
        /// Median lateness with it, in ns.
        after_p50_ns: i64,
        /// 99th percentile without it, in ns; `None` with too few values.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        before_p99_ns: Option<i64>,
        /// 99th percentile with it, in ns.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        after_p99_ns: Option<i64>,
        /// Whether the rounds agree that it helped.
        helped: bool,
    },
    /// It was tried and the system refused.
    Refused {
        /// Why, and how to allow it.
        why: String,
    },
    /// It can't be tried harmlessly, or this run did not.
    NotTried {
        /// Why.
        why: String,
    },
}

/// One finding as it stands for one result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Finding {
    /// Stable id: `OVS-L001`.
    pub id: String,
    /// Short name: `timer-slack`.
    pub name: String,
    /// The finding in general, in one sentence.
    pub summary: String,
    /// How much it matters here.
    pub severity: Severity,
    /// What the check came to.
    pub verdict: Verdict,
    /// This instance, with its figures.
    pub sentence: String,
    /// What it rests on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<Evidence>,
    /// What to do about it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub advice: Vec<Advice>,
}
