//! What the findings say of results with exact figures, for the tests of this room.

use oversleep_record::Finding;
use oversleep_record::conditions::Conditions;
pub(super) use oversleep_record::testing::{Sheet, differed, good_clock, rounds};

use super::remedies;

/// A result file under construction that is explained.
pub(super) trait Explained {
    /// A trial of a remedy on a wait at 1 ms, under the conditions that the remedy asks for.
    fn trial(self, remedy: &str, wait: &str, before: i64, after: i64) -> Sheet;
    /// What a finding comes to in this file; panics where it isn't listed.
    fn finding(&self, id: &str) -> Finding;
    fn lists(&self, id: &str) -> bool;
}

impl Explained for Sheet {
    fn trial(self, remedy: &str, wait: &str, before: i64, after: i64) -> Sheet {
        let conditions = match remedies::get(remedy).map(|entry| &entry.harmless) {
            Some(remedies::Harmless::TryHere(conditions)) => conditions(),
            _ => Conditions::as_found(),
        };
        self.trial_under(remedy, wait, conditions, before, after)
    }

    fn finding(&self, id: &str) -> Finding {
        let all = super::findings(&self.file);
        all.into_iter().find(|finding| finding.id == id).unwrap_or_else(|| panic!("{id} is not listed"))
    }

    fn lists(&self, id: &str) -> bool {
        super::findings(&self.file).iter().any(|finding| finding.id == id)
    }
}
