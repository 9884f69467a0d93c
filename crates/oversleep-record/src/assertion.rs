//! Assertions about results, and what was found of each: the document that `oversleep assert` writes.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::file::Tool;

/// The schema this crate writes.
pub const SCHEMA: &str = "oversleep-assertions/1";

/// Assertions with their verdicts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Assertions {
    /// `oversleep-assertions/1`.
    #[cfg_attr(feature = "schema", schemars(extend("const" = SCHEMA)))]
    pub schema: String,
    /// Who judged.
    pub tool: Tool,
    /// The verdict on all of them: the worst.
    pub verdict: Verdict,
    /// Each assertion about each thing that it concerns, in the order given.
    pub assertions: Vec<Judged>,
}

impl Assertions {
    /// The document of these.
    pub fn of(assertions: Vec<Judged>) -> Assertions {
        Assertions {
            schema: SCHEMA.to_owned(),
            tool: Tool { name: "oversleep".to_owned(), version: env!("CARGO_PKG_VERSION").to_owned() },
            verdict: assertions.iter().map(|judged| judged.verdict).max().unwrap_or(Verdict::Undecided),
            assertions,
        }
    }

    /// How many have that verdict.
    pub fn count(&self, verdict: Verdict) -> usize {
        self.assertions.iter().filter(|judged| judged.verdict == verdict).count()
    }
}

/// The verdict on an assertion, from good to bad.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "AssertionVerdict"))]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It holds, with 99 % confidence.
    Pass,
    /// The values allow neither.
    Undecided,
    /// It doesn't hold, with 99 % confidence.
    Fail,
}

impl Verdict {
    /// Its word.
    pub fn word(self) -> &'static str {
        match self {
            Verdict::Pass => "pass",
            Verdict::Undecided => "undecided",
            Verdict::Fail => "fail",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// Where an assertion is written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Place {
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: u64,
}

/// `timing.assert:3`.
impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// The unit of the figure of an assertion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "AssertionUnit"))]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Nanoseconds.
    Ns,
    /// A part of 1.
    Share,
    /// A number.
    Count,
    /// The new figure by the base's.
    Ratio,
}

/// What was found of one assertion about one thing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Judged {
    /// The assertion as it was typed.
    pub assertion: String,
    /// Where it is written, if in a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<Place>,
    /// What it is about: the key of a series, the name of a clock, a finding or a fact.
    pub about: String,
    /// The verdict.
    pub verdict: Verdict,
    /// The figure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub figure: Option<f64>,
    /// The lower and the upper end of its 99 % interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<[f64; 2]>,
    /// What it may be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<f64>,
    /// The unit of the three.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<Unit>,
    /// Why, in a sentence; what would decide it, if it is undecided.
    pub message: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(verdict: Verdict) -> Judged {
        let [assertion, about, message] = ["p50 < 1ms", "B5/nanosleep/1ms", "It holds."].map(str::to_owned);
        Judged {
            assertion,
            place: None,
            about,
            verdict,
            figure: None,
            interval: None,
            limit: None,
            unit: None,
            message,
        }
    }

    #[test]
    fn the_worst_verdict_is_that_of_all() {
        use Verdict::{Fail, Pass, Undecided};
        let of = |all: &[Verdict]| Assertions::of(all.iter().copied().map(judged).collect()).verdict;
        assert_eq!(of(&[Pass, Pass]), Pass);
        assert_eq!(of(&[Pass, Undecided, Pass]), Undecided);
        assert_eq!(of(&[Pass, Fail, Undecided]), Fail);
        assert_eq!(of(&[]), Undecided);
    }
}
