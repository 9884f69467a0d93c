//! Background load: threads that compete with what is measured, each kind an entry with its loop.

use crate::platform::interface::LoadKind;

/// All entries, available or not.
pub(super) fn registry() -> Vec<Box<dyn LoadKind>> {
    Vec::new()
}
