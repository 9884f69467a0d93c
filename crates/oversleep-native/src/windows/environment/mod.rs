//! Facts about the machine that matter to timing: a registry of entries, one file per theme.
//!
//! A fact must affect how long waits, clock reads or wake-ups take, or explain a difference between two machines. It
//! must not identify a person or a host: no host or user name, serial number, product key, machine id, path, or custom
//! name of a power plan.

mod cpu;
mod power;
mod registry;
pub(super) mod system;
pub(super) mod timer;

use oversleep_record::environment::{Environment, FactValue};
use oversleep_record::{FactName, Unavailable};

/// One fact: its name, its source, and how to read it.
pub(super) struct Entry {
    /// The name, whose documentation says what the fact means for timing.
    pub name: FactName,
    /// The call that states it.
    pub source: &'static str,
    /// Reads it.
    pub read: fn() -> Answer,
}

/// A fact, or why it isn't available here.
pub(super) type Answer = Result<FactValue, Unavailable>;

/// All facts on Windows.
fn entries() -> impl Iterator<Item = &'static Entry> {
    [system::FACTS, timer::FACTS, cpu::FACTS, power::FACTS].into_iter().flatten()
}

/// Facts of this machine.
pub(super) fn collect() -> Environment {
    let mut environment = Environment::default();
    for entry in entries() {
        environment.set(entry.name, (entry.read)().unwrap_or_else(FactValue::Unknown), entry.source);
    }
    // Genuine Windows doesn't have this fact, not even as unknown.
    if let Some(version) = system::wine_version() {
        environment.set(FactName::OsWineVersion, FactValue::Text(version), "wine_get_version");
    }
    environment
}

fn text(words: &str) -> FactValue {
    FactValue::Text(words.to_owned())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_registry_holds_every_fact_once() {
        let names: BTreeSet<FactName> = entries().map(|entry| entry.name).collect();
        assert_eq!(names.len(), entries().count(), "one twice");
        assert!(entries().all(|entry| !entry.source.is_empty()));
    }

    #[test]
    fn windows_and_wine_state_their_build_counter_and_periods() {
        let environment = collect();
        assert!(environment.integer(FactName::OsBuild).is_some_and(|build| build > 2_600));
        assert!(environment.integer(FactName::QpcFrequencyHz).is_some_and(|hz| hz >= 1_000_000));
        let period = |name: FactName| environment.nanos(name).unwrap_or_else(|| panic!("{name}"));
        assert!(period(FactName::TimerPeriodMin) <= period(FactName::TimerPeriodNow));
        assert!(period(FactName::TimerPeriodNow) <= period(FactName::TimerPeriodDefault));
        assert!(environment.integer(FactName::CpuCount).is_some_and(|count| count >= 1));
    }

    #[test]
    fn only_wine_has_a_wine_version() {
        assert_eq!(collect().facts.contains_key(FactName::OsWineVersion.as_str()), system::wine_version().is_some());
    }

    #[test]
    fn nothing_here_names_the_host_or_its_user() {
        let text = format!("{:?}", collect());
        for variable in ["COMPUTERNAME", "USERNAME", "USERPROFILE", "USERDOMAIN"] {
            // Short names may be part of another word.
            if let Some(secret) = std::env::var(variable).ok().filter(|text| text.len() > 6) {
                assert!(!text.contains(&secret), "{variable}");
            }
        }
    }
}
