//! What a measurement may change on Windows, each an entry with its way back.

use crate::platform::interface::Tunable;

/// All entries, available or not.
pub(super) fn registry() -> Vec<Box<dyn Tunable>> {
    Vec::new()
}
