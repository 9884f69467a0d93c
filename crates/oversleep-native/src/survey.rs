//! What this process may see and change here, what each ability is good for, and how to get those it lacks.

use oversleep_record::Unavailable;

use oversleep_system::{Ability, SharedPlatform};

/// One ability.
pub struct Entry {
    /// Short name.
    pub name: &'static str,
    /// What it is good for.
    pub gives: &'static str,
    /// How it was seen, or why it is not there.
    pub look: fn() -> Result<String, Unavailable>,
}

/// All abilities, present or not. Looks on a thread of its own, so that nothing sticks to the caller.
pub fn survey(tables: &'static [&'static [Entry]], native: fn() -> SharedPlatform) -> Vec<Ability> {
    let look = move || look(tables, native);
    match std::thread::Builder::new().name("survey".to_owned()).spawn(look) {
        Ok(thread) => thread.join().unwrap_or_default(),
        Err(_) => look(),
    }
}

fn look(tables: &[&[Entry]], native: fn() -> SharedPlatform) -> Vec<Ability> {
    let entries = tables.iter().copied().flatten();
    let mut abilities: Vec<Ability> = entries
        .map(|entry| Ability { name: entry.name.to_owned(), gives: entry.gives.to_owned(), state: (entry.look)() })
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

/// One line for all of a registry, and one for each entry that can't be used.
fn summary(
    all: &str,
    one: &str,
    gives: &str,
    states: impl Iterator<Item = (&'static str, Result<(), Unavailable>)>,
) -> Vec<Ability> {
    let states: Vec<_> = states.collect();
    let usable = states.iter().filter(|(_, state)| state.is_ok()).count();
    let state = if usable > 0 {
        Ok(format!("{usable} of {} can be used", states.len()))
    } else {
        Err(Unavailable::missing(format!("every one of {} {all}", states.len())))
    };
    let mut abilities = vec![Ability { name: all.to_owned(), gives: gives.to_owned(), state }];
    // What another architecture has is not lacking here.
    let lacking = states.into_iter().filter_map(|(name, state)| Some((name, state.err()?)));
    abilities.extend(lacking.filter(|(_, why)| *why != Unavailable::NotOnThisPlatform).map(|(name, why)| Ability {
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
    fn every_ability_says_what_it_gives_and_how_it_stands() {
        let abilities = crate::here().abilities();
        assert!(abilities.len() >= 5, "{}", abilities.len());
        for ability in &abilities {
            assert!(!ability.gives.is_empty(), "{}", ability.name);
            if let Ok(seen) = &ability.state {
                assert!(!seen.is_empty(), "{}", ability.name);
            }
            if let Err(Unavailable::NotPermitted { allow, .. }) = &ability.state {
                assert!(!allow.is_empty(), "{} does not say how to allow it", ability.name);
            }
        }
        let mut names: Vec<&str> = abilities.iter().map(|ability| ability.name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), abilities.len(), "a name stands twice");
    }

    #[test]
    fn a_registry_is_one_line_and_one_for_each_that_lacks() {
        let states =
            [("a", Ok(())), ("b", Err(Unavailable::missing("b's file"))), ("c", Err(Unavailable::NotOnThisPlatform))];
        let told = summary("waits", "wait", "x", states.into_iter());
        assert_eq!(told[0].state, Ok("1 of 3 can be used".to_owned()));
        assert_eq!(told[1].name, "wait b");
        assert_eq!(told.len(), 2);
        assert!(summary("waits", "wait", "x", [].into_iter())[0].state.is_err());
    }
}
