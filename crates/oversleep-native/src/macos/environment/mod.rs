//! Facts about the machine that matter to timing: a registry of entries, one file per theme.

mod cpu;
mod host;
mod sched;
mod timer;

use oversleep_record::environment::{Environment, FactValue};

use super::sysctl;
use crate::native::facts::{self, Answer, text};

pub(super) use cpu::tsc_hz;
pub(super) use sched::real_time;
pub(super) use timer::tiers;

/// One fact, and how to read it.
pub type Entry = facts::Entry<fn() -> Answer>;

/// All facts.
pub fn registry() -> impl Iterator<Item = &'static Entry> {
    [host::FACTS, timer::FACTS, cpu::FACTS, sched::FACTS].into_iter().flatten()
}

/// Facts of this machine.
pub fn collect() -> Environment {
    facts::collect(registry(), |read| read())
}

fn named_text(name: &str) -> Answer {
    sysctl::text(name).map(FactValue::Text)
}

#[cfg(test)]
mod tests {
    use oversleep_record::FactName;

    use super::*;

    #[test]
    fn every_fact_occurs_once() {
        facts::tests::check(registry());
        let environment = collect();
        use FactName::{CpuCount, CpuModel, KernelRelease, SchedPolicy, TimerTimebase};
        for name in [KernelRelease, CpuCount, CpuModel, TimerTimebase, SchedPolicy] {
            assert!(environment.known(name).is_some(), "{name}: {:?}", environment.facts[name.as_str()]);
        }
    }
}
