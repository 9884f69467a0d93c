//! Facts that matter to timing: how a system's tables are written, and how they become an environment.
//!
//! A fact must affect how long waits, clock reads or wake-ups take, or explain a difference between two machines. It
//! must not identify a person or a host: no host or user name, address, serial number, product key, machine id, firmware
//! tag, custom name of a power plan, path or process name, and only recognised boot parameters.

use oversleep_record::environment::{Environment, FactValue};
use oversleep_record::{FactName, Unavailable};

/// A fact: its name, whose documentation explains what it means for timing, the call or file that it comes from, and
/// how to read it.
pub(crate) struct Entry<R> {
    pub(crate) name: FactName,
    pub(crate) source: &'static str,
    pub(crate) read: R,
}

/// A fact, or why it isn't available here.
pub(crate) type Answer = Result<FactValue, Unavailable>;

/// A table of facts: the name, the source, and how to read it. `Entry` is the system's type.
macro_rules! facts {
    ($($name:ident: $source:literal => $read:expr,)*) => {
        &[$(Entry { name: oversleep_record::FactName::$name, source: $source, read: $read }),*]
    };
}
pub(crate) use facts;

/// The facts of these entries.
pub(crate) fn collect<'a, R: 'a>(
    entries: impl Iterator<Item = &'a Entry<R>>,
    read: impl Fn(&R) -> Answer,
) -> Environment {
    let mut environment = Environment::default();
    for entry in entries {
        environment.set(entry.name, read(&entry.read).unwrap_or_else(FactValue::Unknown), entry.source);
    }
    environment
}

pub(crate) fn text(words: &str) -> FactValue {
    FactValue::Text(words.to_owned())
}

#[cfg(test)]
pub(crate) mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// Checks that a system's entries name each fact once, with its source.
    pub(crate) fn check<'a, R: 'a>(entries: impl Iterator<Item = &'a Entry<R>>) {
        let mut names = BTreeSet::new();
        for entry in entries {
            assert!(names.insert(entry.name) && !entry.source.is_empty(), "{}", entry.name);
        }
    }
}
