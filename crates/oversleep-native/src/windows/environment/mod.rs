//! Facts about the machine that matter to timing: a registry of entries, one file per theme.

mod cpu;
mod power;
mod registry;
pub(super) mod system;
pub(super) mod timer;

use oversleep_record::FactName;
use oversleep_record::environment::{Environment, FactValue};

use crate::native::facts::{self, Answer, text};

/// One fact, and how to read it.
pub(super) type Entry = facts::Entry<fn() -> Answer>;

/// All facts on Windows.
fn entries() -> impl Iterator<Item = &'static Entry> {
    [system::FACTS, timer::FACTS, cpu::FACTS, power::FACTS].into_iter().flatten()
}

/// Facts of this machine.
pub(super) fn collect() -> Environment {
    let mut environment = facts::collect(entries(), |read| read());
    // Genuine Windows doesn't have this fact, not even as unknown.
    if let Some(version) = system::wine_version() {
        environment.set(FactName::OsWineVersion, FactValue::Text(version), "wine_get_version");
    }
    environment
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_registry_holds_every_fact_once() {
        facts::tests::check(entries());
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
