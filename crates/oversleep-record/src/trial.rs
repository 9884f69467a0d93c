//! A remedy tried: the series it was measured with, before and after.

use serde::{Deserialize, Serialize};

use crate::conditions::Conditions;
use crate::key::SeriesKey;

/// One remedy tried on the laboratory's own threads, its rounds alternating with rounds without it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Trial {
    /// The remedy's stable id, as `lower-timer-slack`.
    pub remedy: String,
    /// The conditions it consists of.
    pub conditions: Conditions,
    /// Keys of the series without it and with it, pair by pair.
    pub pairs: Vec<TrialPair>,
}

/// The same wait without and with the remedy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TrialPair {
    /// Key of the series without the remedy.
    pub before: SeriesKey,
    /// Key of the series with it.
    pub after: SeriesKey,
}
