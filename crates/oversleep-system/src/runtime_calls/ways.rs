//! What programs of a runtime can do about a wait besides its other calls: leave an event loop for it, make calls of the
//! system themselves, and hold settings of the system.

use serde::{Deserialize, Serialize};

use super::{Record, Version, known};

/// How programs leave an event loop for a wait.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Aside {
    /// The loop's own waits.
    pub names: Vec<String>,
    /// What is called instead: a call of a runtime, or one of this project's libraries by its registry name. Without it, a
    /// sleep or timer of the system.
    #[serde(default)]
    pub call: Option<String>,
    /// The runtime of that call, if it is another one: tokio's programs are Rust's.
    #[serde(default)]
    pub family: Option<String>,
    /// How it is made, and what its figure lacks, as a clause after the call.
    pub how: String,
    /// The first version that can, if some can't.
    #[serde(default)]
    pub from: Option<Version>,
    /// Where that is said.
    pub source: String,
}

impl Aside {
    /// Whether programs of the versions that a record is about can: of that version, or of the newest.
    pub fn is_for(&self, record: &Record, version: Option<&Version>) -> bool {
        let has =
            |from: &Version| version.map_or(record.before.as_ref().is_none_or(|end| end > from), |one| one >= from);
        self.from.as_ref().is_none_or(has)
    }
}

/// How programs of a runtime make calls of the system themselves.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Native {
    /// The runtime's name in `oversleep runtimes`.
    pub family: String,
    /// By what, as a clause after the call: `by P/Invoke`. Empty if they call it as any function.
    #[serde(default)]
    pub how: String,
    /// Whether such a call may be a wait of the system, which keeps the thread.
    #[serde(default)]
    pub waits: bool,
    /// Where that is said.
    pub source: String,
}

/// How programs of a runtime hold a setting of the system.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Holding {
    /// The runtime's name in `oversleep runtimes`.
    pub family: String,
    /// Registry name of the setting, and its value.
    pub setting: String,
    /// As it is typed.
    pub value: String,
    /// What holds it, as the subject of a sentence: `a daemon thread in Thread.sleep(Long.MAX_VALUE)`.
    pub by: String,
    /// The runtime's call that holds it: it depends on the version whether it does.
    #[serde(default)]
    pub call: Option<String>,
    /// Where that is said.
    pub source: String,
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

    use super::super::{CallWait, all, find};
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
