//! The clocks, waits, hand-offs, tunables and loads of a platform, and the idle strategies, as lists: for the command and
//! its suggestions.

use oversleep_record::Unavailable;

use oversleep_explain as explain;
use oversleep_measure as measure;
use oversleep_system::{Described, Platform, SharedPlatform, Tunable};

use crate::machines;
use crate::session::Laboratory;

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
        Kind::Wait => measure::all_waits(platform).map(|wait| wait.info().name).collect(),
        Kind::Handoff => platform.handoffs().iter().map(|kind| kind.info().name).collect(),
        Kind::Tunable => platform.tunables().iter().map(|tunable| tunable.info().name).collect(),
        Kind::Load => platform.loads().iter().map(|load| load.info().name).collect(),
        Kind::Strategy => measure::IDLE_STRATEGIES.iter().map(|strategy| strategy.name).collect(),
    }
}

/// A machine of each system, for what this one doesn't have.
const OTHERS: [&str; 3] = ["linux-hz250", "windows-11", "macos-14-m1"];

/// The clocks, waits, hand-offs and tunables that have this name, or a call with this word in it: those of this machine, and
/// those of other systems.
pub fn called(lab: &Laboratory, word: &str) -> Vec<Entry> {
    const KINDS: [Kind; 4] = [Kind::Clock, Kind::Wait, Kind::Handoff, Kind::Tunable];
    let plain = |name: &str| name.trim().to_lowercase().replace('_', "-");
    let (name, in_call) = (plain(word), word.trim().to_lowercase());
    let is_meant = |entry: &Entry| plain(entry.name) == name || explain::mentions(entry.call, &in_call);
    let of = |lab: &Laboratory| -> Vec<Entry> {
        KINDS.iter().flat_map(|&kind| lab.entries(kind)).filter(is_meant).collect()
    };
    let mut found = of(lab);
    let others = OTHERS.iter().filter_map(|machine| machines::load(machine, &[], machines::SEED).ok());
    for other in others.filter(|other| other.platform_id().os != lab.platform_id().os) {
        for entry in of(&other) {
            if found.iter().all(|known| known.name != entry.name) {
                found.push(Entry { unavailable: Some(Unavailable::NotOnThisPlatform), ..entry });
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_a_name_is_found_by_it_and_by_its_call_on_every_system() {
        let lab = machines::load("linux-hz250", &[], machines::SEED).unwrap_or_else(|error| panic!("{error}"));
        let found = |word: &str| -> Vec<(&str, bool)> {
            called(&lab, word).iter().map(|entry| (entry.name, entry.unavailable.is_none())).collect()
        };
        assert!(found("nanosleep").contains(&("nanosleep", true)), "{:?}", found("nanosleep"));
        assert_eq!(found("CLOCK_REALTIME").first(), Some(&("realtime", true)));
        assert_eq!(found("QueryPerformanceCounter"), [("qpc", false)]);
        assert_eq!(found("zzz"), []);
    }

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
