//! Records by the names of calls and by versions.

use std::borrow::Cow;
use std::collections::BTreeSet;

use oversleep_record::words;

use super::ways::{Aside, Holding, Native};
use super::{Evidence, Record, Version, all, known};

/// The records of that call on that system that are about a version, or all: the one that answers first, which is the
/// newest that a source states. A result's own records, `first`, take precedence. If names differ only in case and none
/// matches exactly, those are meant. A name may end in `@RUNTIME` or `@RUNTIME-VERSION`.
pub fn find<'a>(first: &'a [Record], os: &str, name: &str, version: Option<&Version>) -> Vec<&'a Record> {
    let (name, runtime) = name.split_once('@').map_or((name, None), |(name, runtime)| (name, Some(runtime)));
    let of_runtime = |record: &&Record| runtime.is_none_or(|runtime| is_of(record, runtime));
    let named = |fits: &dyn Fn(&str) -> bool| -> Vec<&'a Record> {
        let is_it = |record: &&Record| record.system == os && record.names.iter().any(|known| fits(known));
        let mut own: Vec<&Record> = first.iter().filter(is_it).filter(of_runtime).collect();
        let mut others: Vec<&Record> = all().iter().filter(is_it).filter(of_runtime).collect();
        others.sort_by_key(|record| (record.evidence != Evidence::Published, std::cmp::Reverse(record.from.clone())));
        own.append(&mut others);
        own
    };
    let mut found = named(&|known| known == name);
    if found.is_empty() {
        found = named(&|known| known.eq_ignore_ascii_case(name));
    }
    if let Some(version) = version {
        let family = if runtime.is_some() { None } else { numbered(&found, version) };
        found.retain(|record| record.covers(version) && family.is_none_or(|family| record.family() == family));
    }
    found
}

/// The runtime whose version that is, of those that have the call: the first one that numbers its versions so on any system.
/// A version 6 of a call of .NET is none of Mono 6.8, even where nothing is known of .NET 6.
fn numbered<'a>(found: &[&'a Record], version: &Version) -> Option<&'a str> {
    let has = |record: &&&Record| {
        record.covers(version) || all().iter().any(|one| one.is_same_call(record) && one.covers(version))
    };
    found.iter().find(has).map(|record| record.family())
}

/// The version that stands in a call's name, `Thread.sleep@java-17`, unless the name is one of that record's versions.
pub fn version_named(name: &str, record: &Record) -> Option<Version> {
    let (_, runtime) = name.split_once('@')?;
    let version = runtime.strip_prefix(record.family())?.strip_prefix('-')?;
    version.parse().ok().filter(|_| runtime != record.of_versions())
}

/// Whether a record is about `java`, or `java-17`.
fn is_of(record: &Record, runtime: &str) -> bool {
    let rest = runtime.strip_prefix(record.family());
    runtime == record.of_versions()
        || rest.is_some_and(|rest| match rest.strip_prefix('-') {
            Some(version) => version.parse().is_ok_and(|version| record.covers(&version)),
            None => rest.is_empty(),
        })
}

/// The record behind a wait of a runtime in a result of a modelled machine: its runtime, versions and name there.
pub fn behind(os: &str, family: &str, versions: &str, name: &str) -> Option<&'static Record> {
    let is_named = |record: &Record| record.names[0] == name || record.id.ends_with(&format!("/{name}"));
    let is_it = |record: &&Record| record.system == os && record.family() == family && record.versions == versions;
    all().iter().filter(is_it).find(|record| is_named(record))
}

/// The systems for which a record translates that call.
pub fn systems(name: &str) -> Vec<&'static str> {
    let name = name.split_once('@').map_or(name, |(name, _)| name);
    let is_named = |record: &&Record| record.names.iter().any(|known| known.eq_ignore_ascii_case(name));
    let systems: BTreeSet<&str> = all().iter().filter(is_named).map(|record| &*record.system).collect();
    systems.into_iter().collect()
}

/// The versions of that call on that system for which a record exists, in words.
pub fn versions(os: &str, name: &str) -> Vec<Cow<'static, str>> {
    let found = find(&[], os, name, None);
    let versions: BTreeSet<String> =
        found.iter().map(|one| words::with_versions(one.family(), &one.versions)).collect();
    versions.into_iter().map(Cow::Owned).collect()
}

/// The versions that these published records of a call are about, newest first, neighbours together: `13, 3 to 11`.
pub fn versions_together(records: &[&Record]) -> String {
    let mut spans: Vec<(&Version, Option<&Version>)> =
        records.iter().filter_map(|record| Some((record.from.as_ref()?, record.before.as_ref()))).collect();
    spans.sort_unstable();
    let mut together: Vec<(&Version, Option<&Version>)> = Vec::new();
    for (from, before) in spans {
        match together.last_mut() {
            Some((_, end)) if *end == Some(from) => *end = before,
            _ => together.push((from, before)),
        }
    }
    let words = |(from, before): &(&Version, Option<&Version>)| match before {
        None => format!("{from} and later"),
        Some(before) => match before.preceding() {
            Some(last) if last == **from => from.to_string(),
            Some(last) => format!("{from} to {last}"),
            None => format!("{from} to before {before}"),
        },
    };
    together.iter().rev().map(words).collect::<Vec<_>>().join(", ")
}

/// How programs leave an event loop instead of its call of that record.
pub fn asides(record: &Record) -> impl Iterator<Item = &'static Aside> {
    known::ways().0.iter().filter(|aside| aside.names.iter().any(|name| record.names.contains(name)))
}

/// How programs of that runtime make calls of the system, if they can.
pub fn native(family: &str) -> Option<&'static Native> {
    known::ways().1.iter().find(|one| one.family == family)
}

/// How programs of that runtime hold that value of a setting by a call that is theirs.
pub fn holding(family: &str, setting: &str, value: &str) -> Option<&'static Holding> {
    known::ways().2.iter().find(|one| one.family == family && one.setting == setting && one.value == value)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::CallWait;
    use super::*;
    use crate::{Wait, waits};

    /// Every name that people read says its runtime and its versions once, and no version whose source was read.
    #[test]
    fn no_record_names_its_runtime_or_a_version_twice() {
        for record in all() {
            let series = oversleep_record::series::Runtime {
                name: record.family().to_owned(),
                version: record.versions.clone(),
            };
            for words in
                [record.version_words(), series.to_string(), CallWait::of(record.clone()).info().call.to_owned()]
            {
                let of = format!("{}: {words}", record.id);
                assert!(!words.contains(';') && !words.contains("read "), "{of}");
                let split: Vec<String> = words.split([' ', ',', '(', ')']).map(str::to_lowercase).collect();
                let names = split
                    .iter()
                    .filter(|word| word.len() > 1 && !["and", "to", "of", "the", ".net"].contains(&&***word));
                let mut known = BTreeSet::new();
                names.for_each(|word| assert!(known.insert(word), "{of}: {word} twice"));
            }
        }
    }

    /// Other ways lead to calls that are known, and say where that is said.
    #[test]
    fn ways_are_of_known_runtimes_and_lead_to_known_calls() {
        let (asides, natives, holdings) = known::ways();
        let is_known = |family: &str| all().iter().any(|one| one.family() == family);
        let mut once = BTreeSet::new();
        for native in natives {
            assert!(is_known(&native.family) && once.insert(&native.family), "{}", native.family);
            assert!(native.source.starts_with("https://") && !native.how.ends_with('.'), "{}", native.family);
        }
        for holding in holdings {
            assert!(is_known(&holding.family) && holding.source.starts_with("https://"), "{}", holding.family);
            let has = |call: &String| !find(&[], "windows", call, None).is_empty();
            assert!(holding.call.as_ref().is_none_or(has), "{}", holding.family);
        }
        for aside in asides {
            let is_named = |call: &String| all().iter().any(|one| one.names.contains(call));
            assert!(aside.names.iter().all(is_named), "{:?}", aside.names);
            let is_library = |call: &String| *call == waits::ASYNC_SLEEP.name;
            assert!(aside.call.as_ref().is_none_or(|call| is_named(call) || is_library(call)), "{:?}", aside.call);
            assert!(aside.source.starts_with("https://") && !aside.how.ends_with('.'), "{:?}", aside.names);
        }
    }
}
