//! What this process can see and change on Windows.

mod change;
mod observe;

use std::sync::Arc;

use oversleep_system::Ability;

use super::Native;
use crate::survey;

/// All abilities, available or not.
pub(super) fn survey() -> Vec<Ability> {
    survey::survey(&[change::ENTRIES, observe::ENTRIES], || Arc::new(Native::new()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_survey_is_complete() {
        assert!(survey().len() >= change::ENTRIES.len() + observe::ENTRIES.len() + 3);
    }
}
