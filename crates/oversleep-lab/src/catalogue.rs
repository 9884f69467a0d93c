//! What there is to measure with, to wait with and to change, as a list for help, suggestions and documentation.

use oversleep_record::Unavailable;

use oversleep_measure as measure;
use oversleep_system::{Clock, HandoffKind, LoadKind, Platform, Scope, SharedPlatform, Tunable};

/// The kinds of things that have names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Clocks.
    Clock,
    /// Waits with a deadline, the composed ones included.
    Wait,
    /// Ways of waking a thread.
    Handoff,
    /// What a measurement may change.
    Tunable,
    /// Kinds of background load.
    Load,
}

/// One entry of a registry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Registry name.
    pub name: &'static str,
    /// The call as a programmer writes it; empty where there is none.
    pub call: &'static str,
    /// What it is good for and what to beware of.
    pub doc: &'static str,
    /// Properties in the order to show them: `unit` → `ms, rounded up`.
    pub properties: Vec<(&'static str, String)>,
    /// Version of the system that introduced it.
    pub since: &'static str,
    /// The vendor's page.
    pub page: &'static str,
    /// Why it can't be used here, where that is known without measuring.
    pub unavailable: Option<Unavailable>,
}

/// All entries of a kind, available or not.
pub(crate) fn entries(platform: &SharedPlatform, kind: Kind) -> Vec<Entry> {
    match kind {
        Kind::Clock => clocks(&**platform),
        Kind::Wait => waits(platform),
        Kind::Handoff => handoffs(&**platform),
        Kind::Tunable => tunables(&**platform),
        Kind::Load => loads(&**platform),
    }
}

/// All names of a kind, without opening anything to see whether it works here.
pub(crate) fn names(platform: &dyn Platform, kind: Kind) -> Vec<&'static str> {
    match kind {
        Kind::Clock => platform.clocks().iter().map(|clock| clock.info().name).collect(),
        Kind::Wait => measure::all_waits(platform).map(|wait| wait.info().name).collect(),
        Kind::Handoff => platform.handoffs().iter().map(|kind| kind.info().name).collect(),
        Kind::Tunable => platform.tunables().iter().map(|tunable| tunable.info().name).collect(),
        Kind::Load => platform.loads().iter().map(|kind| kind.info().name).collect(),
    }
}

fn clocks(platform: &dyn Platform) -> Vec<Entry> {
    let entry = |clock: &dyn Clock| {
        let info = clock.info();
        Entry {
            name: info.name,
            call: info.call,
            doc: info.doc,
            properties: vec![("unit", info.unit.name().to_owned())],
            since: info.since,
            page: info.page,
            unavailable: clock.available().err(),
        }
    };
    platform.clocks().iter().map(AsRef::as_ref).map(entry).collect()
}

fn waits(platform: &SharedPlatform) -> Vec<Entry> {
    measure::all_waits(&**platform)
        .map(|wait| {
            let info = wait.info();
            Entry {
                name: info.name,
                call: info.call,
                doc: info.doc,
                properties: vec![
                    ("family", info.family.name().to_owned()),
                    ("deadline", if info.takes.is_absolute() { "absolute" } else { "relative" }.to_owned()),
                    ("unit", info.granularity.to_string()),
                    ("zero", info.zero.words().to_owned()),
                    ("slack", info.slack.words().to_owned()),
                ],
                since: info.since,
                page: info.page,
                unavailable: wait.open(platform).err(),
            }
        })
        .collect()
}

fn handoffs(platform: &dyn Platform) -> Vec<Entry> {
    let entry = |kind: &dyn HandoffKind| {
        let info = kind.info();
        Entry {
            name: info.name,
            call: info.call,
            doc: info.doc,
            properties: Vec::new(),
            since: info.since,
            page: info.page,
            unavailable: kind.open().err(),
        }
    };
    platform.handoffs().iter().map(AsRef::as_ref).map(entry).collect()
}

fn tunables(platform: &dyn Platform) -> Vec<Entry> {
    let entry = |tunable: &dyn Tunable| {
        let info = tunable.info();
        let reaches = match info.scope {
            // Whom a timer resolution reaches is a question of the system's version, not of its call alone.
            _ if info.sets_resolution => tunable.reached().sentence,
            Scope::MachineWhileHeld => tunable.reached().sentence,
            Scope::Thread => "it reaches the measuring thread".to_owned(),
            Scope::Process => "it reaches this process".to_owned(),
        };
        let current = tunable.current();
        let shown = current.as_ref().map_or_else(ToString::to_string, ToString::to_string);
        Entry {
            name: info.name,
            call: info.call,
            doc: info.doc,
            properties: vec![("reaches", reaches), ("now", shown)],
            since: info.since,
            page: info.page,
            unavailable: None,
        }
    };
    platform.tunables().iter().map(AsRef::as_ref).map(entry).collect()
}

fn loads(platform: &dyn Platform) -> Vec<Entry> {
    let entry = |kind: &dyn LoadKind| {
        let info = kind.info();
        Entry {
            name: info.name,
            call: "",
            doc: info.doc,
            properties: Vec::new(),
            since: "",
            page: "",
            unavailable: None,
        }
    };
    platform.loads().iter().map(AsRef::as_ref).map(entry).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machines;
    use crate::session::Laboratory;
    use oversleep_explain::names::looked_for;

    /// Findings read results of any system, so they know clocks, waits and tunables by name only.
    #[track_caller]
    fn knows_what_findings_look_for(laboratory: &Laboratory) {
        let id = laboratory.platform_id();
        let wanted = looked_for(&id.os);
        let machine = id.modelled.as_deref().unwrap_or("this machine");
        for (kind, wanted) in
            [(Kind::Clock, wanted.clocks), (Kind::Wait, wanted.waits), (Kind::Tunable, wanted.tunables)]
        {
            let known = laboratory.names(kind);
            assert!(!wanted.is_empty() || kind == Kind::Clock, "{machine}: no {kind:?} is looked for");
            for name in wanted {
                assert!(known.contains(&name), "{machine}: no {kind:?} is called {name}");
            }
        }
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

    #[test]
    fn every_system_has_what_its_findings_look_for_modelled_and_real() {
        for name in ["windows-11", "macos-14-m1", "linux-hz250"] {
            let laboratory = machines::load(name, &[], 1).unwrap_or_else(|error| panic!("{error}"));
            knows_what_findings_look_for(&laboratory);
        }
        knows_what_findings_look_for(&Laboratory::on(oversleep_native::here()));
    }
}
