//! The language runtime of a process that was followed.

use serde::{Deserialize, Serialize};

/// A language runtime, as it was seen in a running process.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SeenRuntime {
    /// Its name, as in `oversleep run R1`: `python`, `go`.
    pub name: String,
    /// Whether threads were seen to wait with a timeout for a lock in the runtime's own memory, and for no other lock.
    #[serde(default, skip_serializing_if = "is_false")]
    pub waits_for_own_lock: bool,
}

impl SeenRuntime {
    /// What holds of this and of another process; `None` if they have different runtimes.
    pub fn and(&self, other: &SeenRuntime) -> Option<SeenRuntime> {
        let waits_for_own_lock = self.waits_for_own_lock && other.waits_for_own_lock;
        (self.name == other.name).then(|| SeenRuntime { waits_for_own_lock, ..self.clone() })
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
fn is_false(value: &bool) -> bool {
    !value
}
