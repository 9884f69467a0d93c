//! Facts about the machine that matter to timing: a registry of entries, one file per theme.
//!
//! A fact must affect how long waits, clock reads or wake-ups take, or explain a difference between two machines. It
//! must not identify a person or a host: no host name, user, address, serial number, hardware model with its serial,
//! path or process name.

mod cpu;
mod host;
mod sched;
mod timer;

use oversleep_record::environment::{Environment, FactValue};
use oversleep_record::{FactName, Unavailable};

pub(super) use cpu::tsc_hz;
pub(super) use sched::real_time;
pub(super) use timer::tiers;

use super::sysctl;

/// One fact: its name, its source, and how to read it.
pub struct Entry {
    /// Its name; what it means for timing stands with it in the record.
    pub name: FactName,
    /// The call or name that states it.
    pub source: &'static str,
    /// Reads it.
    pub read: fn() -> Answer,
}

/// A fact, or why it isn't available here.
pub type Answer = Result<FactValue, Unavailable>;

/// All facts.
pub fn registry() -> impl Iterator<Item = &'static Entry> {
    [host::FACTS, timer::FACTS, cpu::FACTS, sched::FACTS].into_iter().flatten()
}

/// Facts of this machine.
pub fn collect() -> Environment {
    let mut environment = Environment::default();
    for entry in registry() {
        environment.set(entry.name, (entry.read)().unwrap_or_else(FactValue::Unknown), entry.source);
    }
    environment
}

fn text(words: &str) -> FactValue {
    FactValue::Text(words.to_owned())
}

fn named_text(name: &str) -> Answer {
    sysctl::text(name).map(FactValue::Text)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_fact_occurs_once() {
        let names: BTreeSet<FactName> = registry().map(|entry| entry.name).collect();
        assert_eq!(names.len(), registry().count(), "one twice");
        assert!(registry().all(|entry| !entry.source.is_empty()));
        let environment = collect();
        for name in [
            FactName::KernelRelease,
            FactName::CpuCount,
            FactName::CpuModel,
            FactName::TimerTimebase,
            FactName::SchedPolicy,
        ] {
            assert!(environment.known(name).is_some(), "{name}: {:?}", environment.facts[name.as_str()]);
        }
    }
}
