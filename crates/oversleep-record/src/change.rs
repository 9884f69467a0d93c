//! Changes that `oversleep resolution watch` saw while people used the machine.

use serde::{Deserialize, Serialize};

use crate::units::Nanos;

/// One thing that changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Change {
    /// When it was seen, in ns since the run's origin.
    pub at_ns: Nanos,
    /// What changed: `resolution`, `sleep(1ms)`, `step(get-tick-count-64)`, a neighbour, a tunable, the name of a fact.
    pub what: String,
    /// What it was before; `None` for what began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// What it is since.
    pub after: String,
}
