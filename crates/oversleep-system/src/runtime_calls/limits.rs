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
