//! Every clock that can be read on Windows, each an entry with its documentation.

use crate::platform::interface::Clock;

/// All entries, available or not.
pub(super) fn registry() -> Vec<Box<dyn Clock>> {
    Vec::new()
}
