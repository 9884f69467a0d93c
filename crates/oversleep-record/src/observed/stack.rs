//! The call stacks of waits.

use serde::{Deserialize, Serialize};

/// The calls that led to a wait, the innermost first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Stack {
    /// In the kernel, from where the thread left its CPU. Empty if it never did.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kernel: Vec<String>,
    /// In the program. It ends early where the program was built without frame pointers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub user: Vec<String>,
}

impl Stack {
    /// Whether neither stack is known.
    pub fn is_empty(&self) -> bool {
        self.kernel.is_empty() && self.user.is_empty()
    }
}

/// A stack as addresses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Frames {
    /// In the kernel.
    pub kernel: Vec<u64>,
    /// In the program.
    pub user: Vec<u64>,
}
