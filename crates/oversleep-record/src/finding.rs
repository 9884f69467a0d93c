//! Findings: conclusions from a result, in sentences, with evidence and remedies.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::units::Nanos;

/// How much a finding matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// A program can't trust this timing: a wrong clock, a stalled machine.
    Fault,
    /// Time lost that a remedy gets back.
    Cost,
    /// Good to know before choosing a call.
    Note,
}

impl Severity {
    /// The noun for one finding of this severity.
    pub fn noun(self) -> &'static str {
        match self {
            Severity::Fault => "fault",
            Severity::Cost => "cost",
            Severity::Note => "note",
        }
    }

    /// Its meaning for the reader.
    pub fn meaning(self) -> &'static str {
        match self {
            Severity::Fault => "timing you can't trust",
            Severity::Cost => "time that a remedy can recover",
            Severity::Note => "good to know before you choose a call",
        }
    }
}

/// The verdict on one finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It was found; `sentence` says how much.
    Found,
    /// It was checked and not found here; `sentence` says why not.
    #[serde(alias = "absent")]
    NotFound,
    /// The result lacks what the check needs; `sentence` says what.
    NotEnoughData,
    /// The rounds disagree; `sentence` says which.
    TooDisturbed,
}

/// One figure a finding rests on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Evidence {
    /// Where the figure comes from: a series key, the name of a fact or of a clock.
    pub source: String,
    /// The figure with its unit.
    #[serde(alias = "says")]
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
    /// What it gained here, or why it was not tried.
    pub tried: Tried,
}

/// Whether a remedy was tried here, and what it gained.
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
        /// What was requested of both; `None` where they have no request.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        requested_ns: Option<Nanos>,
        /// Median lateness without it, in ns.
        before_p50_ns: i64,
        /// Median lateness with it, in ns.
        after_p50_ns: i64,
        /// 99th percentile without it, in ns; `None` where there are too few values.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        before_p99_ns: Option<i64>,
        /// 99th percentile with it, in ns.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        after_p99_ns: Option<i64>,
        /// Whether the rounds agree that it helped.
        helped: bool,
    },
    /// It was tried, and the system refused.
    Refused {
        /// Why, and how to allow it.
        why: String,
    },
    /// It can't be tried without side effects, or this run did not try it.
    NotTried {
        /// Why.
        why: String,
    },
}

/// What a finding holds for besides the example in its sentence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct More {
    /// The runtime with its version.
    pub runtime: String,
    /// Its waits.
    pub waits: Vec<String>,
}

impl fmt::Display for More {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.runtime, self.waits.join(", "))
    }
}

/// One finding as it stands for one result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Finding {
    /// Stable id: `OVS-L001`.
    pub id: String,
    /// Short name: `timer-slack`.
    pub name: String,
    /// Which instance of it, where a result may have several: the cause or the culprit. Unique among those of one id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instance: Option<String>,
    /// The finding in general, in one sentence.
    pub summary: String,
    /// How much it matters here.
    pub severity: Severity,
    /// The verdict.
    pub verdict: Verdict,
    /// This instance, with its figures.
    pub sentence: String,
    /// What it holds for, too, where the sentence has an example.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub more: Vec<More>,
    /// How much lateness it explains, over all waits that it delayed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explained_ns: Option<Nanos>,
    /// What it rests on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<Evidence>,
    /// What to do about it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub advice: Vec<Advice>,
}

impl Finding {
    /// How many waits it holds for besides the example.
    pub fn more_count(&self) -> usize {
        self.more.iter().map(|more| more.waits.len()).sum()
    }

    /// The sentence with everything that it holds for.
    pub fn whole_sentence(&self) -> String {
        if self.more.is_empty() {
            return self.sentence.clone();
        }
        let more: Vec<String> = self.more.iter().map(More::to_string).collect();
        format!("{}; {} more: {}", self.sentence.trim_end_matches('.'), self.more_count(), more.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_whole_sentence_counts_and_names_what_it_holds_for_too() {
        let more = |runtime: &str, waits: &[&str]| More {
            runtime: runtime.to_owned(),
            waits: waits.iter().map(|&wait| wait.to_owned()).collect(),
        };
        let mut finding = Finding {
            id: "OVS-R002".to_owned(),
            name: "rounds-up".to_owned(),
            instance: None,
            summary: String::new(),
            severity: Severity::Note,
            verdict: Verdict::Found,
            sentence: "parkNanos truncates: 300 µs took 15.6 ms.".to_owned(),
            more: Vec::new(),
            explained_ns: None,
            evidence: Vec::new(),
            advice: Vec::new(),
        };
        assert_eq!(finding.whole_sentence(), finding.sentence);
        finding.more = vec![more("go 1.24", &["Sleep", "After"]), more("node 20", &["setTimeout"])];
        assert_eq!(
            finding.whole_sentence(),
            "parkNanos truncates: 300 µs took 15.6 ms; 3 more: go 1.24 (Sleep, After), node 20 (setTimeout)"
        );
    }
}
