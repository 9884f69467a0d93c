//! What this process can see and change here, what each ability is for, and how to get the missing ones.

use oversleep_record::Unavailable;
use oversleep_record::conditions::{Outcome, Setting};
use oversleep_system::{Ability, SharedPlatform, Tunable};

/// An ability.
pub struct Entry {
    /// Its short name.
    pub name: &'static str,
    /// What it is for.
    pub gives: &'static str,
    /// Checks for it: the evidence that it is available, or the reason why not.
    pub check: fn() -> Result<String, Unavailable>,
}

/// A table of abilities: the name, what it is for, and the check.
macro_rules! abilities {
    ($($name:literal: $gives:literal => $check:expr,)*) => {
        &[$($crate::survey::Entry { name: $name, gives: $gives, check: $check }),*]
    };
}
pub(crate) use abilities;

/// All abilities, available or not. They are checked on a separate thread, so that the caller stays unchanged.
pub fn survey(tables: &'static [&'static [Entry]], native: fn() -> SharedPlatform) -> Vec<Ability> {
    let check = move || check_all(tables, native);
    match std::thread::Builder::new().name("survey".to_owned()).spawn(check) {
        Ok(thread) => thread.join().unwrap_or_default(),
        Err(_) => check(),
    }
}

/// Whether one of these tunables accepts a setting, which is undone at once.
pub fn try_setting(
    tunables: &[Box<dyn Tunable>],
    name: &str,
    setting: &Setting,
    evidence: &str,
) -> Result<String, Unavailable> {
    let tunable = tunables.iter().find(|tunable| tunable.info().name == name);
    match tunable.ok_or(Unavailable::NotOnThisPlatform)?.apply(setting).0 {
        Outcome::Denied { why } => Err(why),
        _ => Ok(evidence.to_owned()),
    }
}

fn check_all(tables: &[&[Entry]], native: fn() -> SharedPlatform) -> Vec<Ability> {
    let entries = tables.iter().copied().flatten();
    let mut abilities: Vec<Ability> = entries
        .map(|entry| Ability { name: entry.name.to_owned(), gives: entry.gives.to_owned(), state: (entry.check)() })
        .collect();
    let platform = native();
    let clocks = platform.clocks().iter().map(|clock| (clock.info().name, clock.available()));
    abilities.extend(summary("clocks", "clock", "each can be measured and compared", clocks));
    let waits = platform.waits().iter().map(|wait| (wait.info().name, wait.open(&platform).map(drop)));
    abilities.extend(summary("waits", "wait", "each can be measured and compared", waits));
    let handoffs = platform.handoffs().iter().map(|handoff| (handoff.info().name, handoff.open().map(drop)));
    abilities.extend(summary("hand-offs", "hand-off", "each can be measured and compared", handoffs));
    abilities
}

/// An ability for a whole registry, and one for each entry that isn't available.
fn summary(
    all: &str,
    one: &str,
    gives: &str,
    states: impl Iterator<Item = (&'static str, Result<(), Unavailable>)>,
) -> Vec<Ability> {
    let states: Vec<_> = states.collect();
    let available = states.iter().filter(|(_, state)| state.is_ok()).count();
    let state = if available > 0 {
        Ok(format!("{available} of {} available", states.len()))
    } else {
        Err(Unavailable::missing(format!("a usable {one} (of {})", states.len())))
    };
    let mut abilities = vec![Ability { name: all.to_owned(), gives: gives.to_owned(), state }];
    // Entries for other architectures aren't missing here.
    let missing = states.into_iter().filter_map(|(name, state)| Some((name, state.err()?)));
    abilities.extend(missing.filter(|(_, why)| *why != Unavailable::NotOnThisPlatform).map(|(name, why)| Ability {
        name: format!("{one} {name}"),
        gives: format!("this {one} can be measured"),
        state: Err(why),
    }));
    abilities
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_ability_states_its_use_and_its_evidence_or_reason() {
        let abilities = crate::here().abilities();
        assert!(abilities.len() >= 5, "{}", abilities.len());
        for ability in &abilities {
            assert!(!ability.gives.is_empty(), "{}", ability.name);
            if let Ok(evidence) = &ability.state {
                assert!(!evidence.is_empty(), "{}", ability.name);
            }
            if let Err(Unavailable::NotPermitted { allow, .. }) = &ability.state {
                assert!(!allow.is_empty(), "{} doesn't say how to allow it", ability.name);
            }
        }
        let mut names: Vec<&str> = abilities.iter().map(|ability| ability.name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), abilities.len(), "a name occurs twice");
    }

    #[test]
    fn a_registry_is_one_ability_and_one_for_each_missing_entry() {
        let states =
            [("a", Ok(())), ("b", Err(Unavailable::missing("b's file"))), ("c", Err(Unavailable::NotOnThisPlatform))];
        let abilities = summary("waits", "wait", "x", states.into_iter());
        assert_eq!(abilities[0].state, Ok("1 of 3 available".to_owned()));
        assert_eq!(abilities[1].name, "wait b");
        assert_eq!(abilities.len(), 2);
        assert!(summary("waits", "wait", "x", [].into_iter())[0].state.is_err());
    }
}
