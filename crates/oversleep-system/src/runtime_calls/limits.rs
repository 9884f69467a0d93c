//! The spans that a call takes, and how it counts what has passed of one.

use oversleep_record::Nanos;
use serde::{Deserialize, Serialize};

use super::Rule;

/// The shortest or longest span of a call. What lies beyond becomes another span or is refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limit {
    /// The span in ms.
    pub ms: i64,
    /// What one beyond it becomes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub becomes_ms: Option<i64>,
    /// How one beyond it is refused, as a clause about the call: `throws ArgumentOutOfRangeException`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
    /// How the low 32 bits of one beyond it are read, if these are what is left of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wraps: Option<Wraps>,
}

/// How the low 32 bits of a number of milliseconds are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Wraps {
    /// Without a sign.
    Unsigned,
    /// With one; what is negative is no span.
    Signed,
}

/// What a span beyond the longest one becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Beyond {
    Becomes(Nanos),
    Wraps(Wraps),
}

impl Limit {
    /// The longest span, and what one beyond it becomes if it isn't refused.
    pub(super) fn beyond(&self) -> Option<(Nanos, Beyond)> {
        let becomes = self.becomes_ms.map(|ms| Beyond::Becomes(Nanos::from_millis(ms)));
        Some((Nanos::from_millis(self.ms), becomes.or(self.wraps.map(Beyond::Wraps))?))
    }
}

impl Beyond {
    /// What that span becomes. Whole milliseconds are left of it.
    pub(super) fn span(self, requested: Nanos) -> Nanos {
        let low = (requested.0 / 1_000_000) as u32;
        match self {
            Beyond::Becomes(span) => span,
            Beyond::Wraps(Wraps::Unsigned) => Nanos::from_millis(i64::from(low)),
            Beyond::Wraps(Wraps::Signed) => Nanos::from_millis(i64::from(low as i32).max(0)),
        }
    }
}

/// When a call is due that waits again until a clock shows it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Counts {
    /// Once the span has passed that it rounded the request to.
    #[default]
    Rounded,
    /// Once the request itself has passed.
    Exactly,
    /// Once the whole milliseconds that its clock shows have become as many as it rounded the request to.
    MillisecondsShown,
}

impl Counts {
    pub(super) fn is_rounded(&self) -> bool {
        *self == Counts::Rounded
    }

    /// What passed between two times of its clock.
    pub fn passed(self, earlier: Nanos, later: Nanos) -> Nanos {
        let whole = |time| Rule::Truncates.rounded(time);
        match self {
            Counts::Rounded | Counts::Exactly => later - earlier,
            Counts::MillisecondsShown => whole(later) - whole(earlier),
        }
    }
}
