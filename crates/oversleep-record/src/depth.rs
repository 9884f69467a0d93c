//! How thoroughly a run measures.

use std::fmt;

use serde::{Deserialize, Serialize};

/// How long a run may take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Depth {
    /// About 5 s in all, enough for the large effects.
    Quick,
    /// Under 20 s.
    #[default]
    Normal,
    /// Minutes, with enough values for p99.9.
    Thorough,
}

impl Depth {
    /// The value for this depth.
    pub fn pick<T>(self, quick: T, normal: T, thorough: T) -> T {
        match self {
            Depth::Quick => quick,
            Depth::Normal => normal,
            Depth::Thorough => thorough,
        }
    }
}

impl fmt::Display for Depth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.pick("quick", "normal", "thorough"))
    }
}
