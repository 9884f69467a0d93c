//! What each system offers to a program, described for the model: the same names, units and rounding as the platforms of
//! real machines have. Figures are not here: they are a machine's, and come from its profile.

pub mod linux;
pub mod macos;
pub mod windows;

use oversleep_record::Nanos;

use super::loads::TimerLoad;
use super::machine::TunableModel;
use super::scheduler::Policy;
use oversleep_system::{ClockInfo, Family, Granularity, SlackRule, WaitInfo, ZeroMeans};

/// A system as far as programs see it.
#[derive(Debug)]
pub struct System {
    /// `linux`, `windows`, `macos`.
    pub os: &'static str,
    /// Registry name of the clock that deadlines are on.
    pub reference_clock: &'static str,
    /// Its clocks, those that no model has included.
    pub clocks: &'static [ClockInfo],
    /// Its waits.
    pub waits: fn() -> Vec<WaitInfo>,
    /// Its policies, the plainest first.
    pub policies: fn() -> Vec<Policy>,
    /// Its hand-offs.
    pub handoffs: &'static [&'static str],
    /// The timers of its load that lives by them, as in its platform.
    pub timer_load: TimerLoad,
    /// What it lets programs change.
    pub tunables: &'static [TunableModel],
}

impl System {
    /// The clocks that its models have, whatever their architecture.
    pub fn modelled_clocks(&self) -> impl Iterator<Item = &'static ClockInfo> + use<> {
        self.clocks.iter().filter(|info| info.is_modelled)
    }
}

/// Every system there is a model of.
pub static SYSTEMS: [&System; 3] = [&linux::SYSTEM, &windows::SYSTEM, &macos::SYSTEM];

/// A wait in whole nanoseconds that takes a span.
const fn wait(name: &'static str, call: &'static str, family: Family, slack: SlackRule, doc: &'static str) -> WaitInfo {
    WaitInfo {
        name,
        call,
        doc,
        family,
        absolute: false,
        granularity: Granularity::NANOSECOND,
        zero: ZeroMeans::ReturnsAtOnce,
        slack,
        since: "",
        page: "",
    }
}

const HUNDRED_NS: Granularity = Granularity { step: Nanos(100), rounds_up: true };

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_entry_is_described_under_its_own_name() {
        for system in SYSTEMS {
            let clocks = system.clocks;
            let waits = (system.waits)();
            let described = clocks
                .iter()
                .map(|info| (info.name, info.call, info.doc, info.page))
                .chain(waits.iter().map(|info| (info.name, info.call, info.doc, info.page)));
            let mut names = BTreeSet::new();
            for (name, call, doc, page) in described {
                assert!(call.len() > 3 && doc.ends_with('.') && page.starts_with("https://"), "{name}");
                names.insert(name);
            }
            assert!(names.len() + 3 >= clocks.len() + waits.len(), "names are unique in each registry");
            assert!(names.contains(system.reference_clock));
            assert_eq!(waits[0].family, Family::Sleep, "{}: the plainest sleep comes first", system.os);
        }
    }
}
