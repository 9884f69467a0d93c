//! Facts about the machine that matter to timing: a registry of entries, one file per theme.

mod clocksource;
mod cpu;
mod frequency;
mod groups;
mod idle;
mod kernel;
mod library;
mod observation;
mod power;
mod sched;
mod timer;
pub(super) mod tsc;
mod vdso;
mod virtualisation;

use std::cell::OnceCell;

use oversleep_record::environment::{Environment, FactValue};
use oversleep_record::{FactName, Unavailable};

use super::cgroup::{self, CpuGroups};
use super::files::{Cached, Disk, Files};
use crate::native::facts::{self, Answer, text};

pub(super) use sched::real_time;

/// One fact, and how to read it.
pub type Entry = facts::Entry<fn(&Machine<'_>) -> Answer>;

/// All facts.
pub fn registry() -> impl Iterator<Item = &'static Entry> {
    [
        kernel::FACTS,
        timer::FACTS,
        clocksource::FACTS,
        cpu::FACTS,
        tsc::FACTS,
        virtualisation::FACTS,
        idle::FACTS,
        frequency::FACTS,
        groups::FACTS,
        sched::FACTS,
        library::FACTS,
        power::FACTS,
        observation::FACTS,
    ]
    .into_iter()
    .flatten()
}

/// One fact of this machine.
pub fn fact(name: FactName) -> FactValue {
    let files = Cached::new(Disk);
    let entry = registry().find(|entry| entry.name == name);
    let read = |entry: &Entry| (entry.read)(&Machine::new(&files)).unwrap_or_else(FactValue::Unknown);
    entry.map_or(FactValue::Unknown(Unavailable::NotOnThisPlatform), read)
}

/// Facts of this machine.
pub fn collect() -> Environment {
    let files = Cached::new(Disk);
    collect_from(&Machine::new(&files))
}

fn collect_from(machine: &Machine<'_>) -> Environment {
    facts::collect(registry(), |read| read(machine))
}

/// The source of facts: files, read once, and values that several facts share.
pub struct Machine<'a> {
    files: &'a dyn Files,
    configuration: OnceCell<Result<String, Unavailable>>,
    groups: OnceCell<Result<CpuGroups, Unavailable>>,
}

impl<'a> Machine<'a> {
    /// A machine with these files.
    pub fn new(files: &'a dyn Files) -> Machine<'a> {
        Machine { files, configuration: OnceCell::new(), groups: OnceCell::new() }
    }

    /// The kernel's build configuration.
    fn configuration(&self) -> Result<&str, Unavailable> {
        let found = self.configuration.get_or_init(|| kernel::configuration(self.files));
        found.as_deref().map_err(Clone::clone)
    }

    /// This process's control groups.
    fn groups(&self) -> Result<&CpuGroups, Unavailable> {
        self.groups.get_or_init(|| cgroup::find(self.files)).as_ref().map_err(Clone::clone)
    }

    fn text(&self, path: &str) -> Answer {
        self.files.text(path).map(FactValue::Text)
    }

    fn integer(&self, path: &str) -> Answer {
        self.files.integer(path).map(FactValue::Integer)
    }
}

fn words(text: &str) -> FactValue {
    FactValue::List(text.split_whitespace().map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linux::files::Sample;

    #[test]
    fn the_registry_holds_every_fact_once() {
        facts::tests::check(registry());
    }

    #[test]
    fn a_machine_without_files_has_a_value_or_a_reason_for_every_fact() {
        let environment = collect_from(&Machine::new(&Sample::default()));
        assert_eq!(environment.facts.len(), registry().count());
        for name in
            [FactName::ClocksourceCurrent, FactName::CpuidleStates, FactName::CgroupVersion, FactName::SchedRtRuntimeUs]
        {
            assert_eq!(environment.known(name), None, "{name}");
        }
    }

    #[test]
    fn nothing_here_names_the_host() {
        let environment = collect();
        let text = format!("{environment:?}");
        for file in ["/proc/sys/kernel/hostname", "/etc/machine-id", "/proc/sys/kernel/random/boot_id"] {
            // Short names ("vm", "kvm") may be part of another word.
            if let Some(secret) = Disk.text(file).ok().filter(|text| text.len() > 8) {
                assert!(!text.contains(&secret), "{file}");
            }
        }
    }
}
