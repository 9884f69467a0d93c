//! What this process may see and change on Windows.

mod change;
mod observe;

use std::sync::Arc;

use super::Native;
use crate::survey;
use oversleep_system::Ability;

/// All abilities, present or not.
pub(super) fn survey() -> Vec<Ability> {
    survey::survey(&[change::ENTRIES, observe::ENTRIES], || Arc::new(Native::new()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_left_out() {
        assert!(survey().len() >= change::ENTRIES.len() + observe::ENTRIES.len() + 3);
    }
}
