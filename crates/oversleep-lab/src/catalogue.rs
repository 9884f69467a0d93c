//! The clocks, waits, hand-offs, tunables and loads of a platform, and the idle strategies, as lists: for the command and
//! its suggestions.

use oversleep_measure as measure;
use oversleep_record::Unavailable;
use oversleep_system::{Described, Platform, SharedPlatform, Tunable};

/// The kinds of entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Clocks.
    Clock,
    /// Waits, the composed ones included.
    Wait,
    /// Ways of waking a thread.
    Handoff,
    /// Settings that a measurement may change.
    Tunable,
    /// Kinds of background load.
    Load,
    /// Idle strategies.
    Strategy,
}

/// One entry of a registry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Registry name.
    pub name: &'static str,
    /// The call as a programmer writes it; empty if there is none.
    pub call: &'static str,
    /// Its use and its pitfalls.
    pub doc: &'static str,
    /// Properties in the order to show them: `unit` → `ms, rounded up`.
    pub properties: Vec<(&'static str, String)>,
    /// Version of the system that introduced it.
    pub since: &'static str,
    /// The vendor's page.
    pub page: &'static str,
    /// Why it is not available here, if that is known without measuring.
    pub unavailable: Option<Unavailable>,
}

impl Entry {
    fn of(info: &dyn Described, unavailable: Option<Unavailable>) -> Entry {
        Entry {
            name: info.name(),
            call: info.call(),
            doc: info.doc(),
            properties: info.properties(),
            since: info.since(),
            page: info.page(),
            unavailable,
        }
    }

    fn of_strategy(strategy: &measure::IdleStrategy) -> Entry {
        Entry {
            name: strategy.name,
            call: strategy.call,
            doc: strategy.doc,
            properties: strategy.properties(),
            since: "",
            page: strategy.page,
            unavailable: None,
        }
    }

    /// A tunable, with what depends on the machine: the scope of a change, and the present setting.
    fn of_tunable(tunable: &dyn Tunable) -> Entry {
        let now = tunable.current().map_or_else(|why| why.to_string(), |setting| setting.to_string());
        let properties = vec![("reaches", tunable.reaches()), ("now", now)];
        Entry { properties, ..Entry::of(tunable.info(), None) }
    }
}

/// All entries of a kind, available or not.
pub(crate) fn entries(platform: &SharedPlatform, kind: Kind) -> Vec<Entry> {
    let (machine, waits) = (&**platform, || measure::all_waits(&**platform));
    match kind {
        Kind::Clock => machine.clocks().iter().map(|clock| Entry::of(clock.info(), clock.available().err())).collect(),
        Kind::Wait => waits().map(|wait| Entry::of(wait.info(), wait.open(platform).err())).collect(),
        Kind::Handoff => machine.handoffs().iter().map(|kind| Entry::of(kind.info(), kind.open().err())).collect(),
        Kind::Tunable => machine.tunables().iter().map(|tunable| Entry::of_tunable(&**tunable)).collect(),
        Kind::Load => machine.loads().iter().map(|load| Entry::of(load.info(), None)).collect(),
        Kind::Strategy => measure::IDLE_STRATEGIES.iter().map(Entry::of_strategy).collect(),
    }
}

/// All names of a kind, without checking whether each works here.
pub(crate) fn names(platform: &dyn Platform, kind: Kind) -> Vec<&'static str> {
    match kind {
        Kind::Clock => platform.clocks().iter().map(|clock| clock.info().name).collect(),
        Kind::Wait => measure::named_waits(platform).map(|wait| wait.info().name).collect(),
        Kind::Handoff => platform.handoffs().iter().map(|kind| kind.info().name).collect(),
        Kind::Tunable => platform.tunables().iter().map(|tunable| tunable.info().name).collect(),
        Kind::Load => platform.loads().iter().map(|load| load.info().name).collect(),
        Kind::Strategy => measure::IDLE_STRATEGIES.iter().map(|strategy| strategy.name).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machines;

    #[test]
    fn whom_a_resolution_reaches_is_told_alike_everywhere() {
        let told = |name: &str| {
            let lab = machines::load(name, &[], 1).unwrap_or_else(|error| panic!("{error}"));
            let tunable = lab.resolution_tunable().expect("Windows has one");
            let listed = lab.entries(Kind::Tunable).into_iter().filter(|entry| entry.name == tunable.name);
            let reaches = listed.flat_map(|entry| entry.properties).find(|(property, _)| *property == "reaches");
            assert_eq!(reaches.map(|(_, text)| text).as_ref(), Some(&tunable.reached.sentence), "{name}");
            tunable.reached.sentence
        };
        assert_ne!(told("windows-10-1909"), told("windows-10-2004"));
        assert_eq!(told("windows-10-1909"), told("windows-server-2022"));
        told("linux-hz250");
    }
}
