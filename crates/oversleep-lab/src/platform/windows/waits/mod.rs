//! Every timed wait Windows offers to a program, as entries of one table.

use crate::platform::interface::Wait;

/// All entries, available or not.
pub(super) fn registry() -> Vec<Box<dyn Wait>> {
    Vec::new()
}
