//! The conditions of a measuring thread: applied for a round, checked at its end, restored.

use std::collections::BTreeMap;

use oversleep_record::conditions::{Outcome, Setting};
use oversleep_record::{Conditions, Unavailable};
use oversleep_system::{Platform, Restore, Scope};

/// Notes the outcomes of settings in a round. A setting that didn't hold in some round didn't hold at all.
pub(super) fn note_outcomes(conditions: &mut Conditions, outcomes: &BTreeMap<String, Outcome>) {
    for (name, outcome) in outcomes {
        if conditions.outcomes.get(name).is_none_or(Outcome::holds) {
            conditions.outcomes.insert(name.clone(), outcome.clone());
        }
    }
}

/// The thread's own granted settings at present. Shared ones may change because of other processes.
pub(super) fn held_now(platform: &dyn Platform, outcomes: &BTreeMap<String, Outcome>) -> BTreeMap<String, Setting> {
    let granted = outcomes.iter().filter(|(_, outcome)| outcome.holds());
    let own = granted.filter_map(|(name, _)| platform.tunable(name)).filter(|it| it.info().scope == Scope::Thread);
    own.filter_map(|tunable| Some((tunable.info().name.to_owned(), tunable.current().ok()?))).collect()
}

/// The settings that something else changed while the round ran.
pub(super) fn no_longer_held(
    before: &BTreeMap<String, Setting>,
    after: &BTreeMap<String, Setting>,
) -> BTreeMap<String, Outcome> {
    let changed = before.iter().filter_map(|(name, was)| Some((name, was, after.get(name).filter(|is| *is != was)?)));
    let lost = |(name, was, is): (&String, &Setting, &Setting)| {
        let why = format!("something outside oversleep changed it from {was} to {is} while it was measured");
        (name.clone(), Outcome::Denied { why: Unavailable::failed("holding it", why) })
    };
    changed.map(lost).collect()
}

/// Restores every change on drop, the last one first.
#[derive(Default)]
pub(super) struct Guards(pub(super) Vec<Box<dyn Restore>>);

impl Drop for Guards {
    fn drop(&mut self) {
        while let Some(guard) = self.0.pop() {
            drop(guard);
        }
    }
}

pub(super) fn apply(platform: &dyn Platform, conditions: &Conditions) -> (BTreeMap<String, Outcome>, Guards) {
    let mut guards = Guards::default();
    let mut outcomes = BTreeMap::new();
    for (name, setting) in &conditions.requested {
        let outcome = match platform.tunable(name) {
            None => Outcome::Denied { why: Unavailable::NotOnThisPlatform },
            Some(tunable) => {
                let (outcome, guard) = tunable.apply(setting);
                guards.0.extend(guard);
                outcome
            }
        };
        outcomes.insert(name.clone(), outcome);
    }
    (outcomes, guards)
}
