//! What each system offers to a program, described for the model: the same names, units and rounding as the platforms of
//! real machines have. Figures are not here: they are a machine's, and come from its profile.

pub mod linux;
pub mod macos;
pub mod windows;

use super::scheduler::Policy;
use oversleep_system::{ClockInfo, HandoffInfo, LoadInfo, TunableInfo, WaitInfo, clocks};

/// A system as far as programs see it.
#[derive(Debug)]
pub struct System {
    /// `linux`, `windows`, `macos`.
    pub os: &'static str,
    /// Its clocks, those that no model has included.
    pub clocks: &'static [ClockInfo],
    /// Its waits, those that no model has included.
    pub waits: &'static [WaitInfo],
    /// Its policies, the plainest first.
    pub policies: fn() -> Vec<Policy>,
    /// Its hand-offs.
    pub handoffs: &'static [HandoffInfo],
    /// Its loads.
    pub loads: &'static [LoadInfo],
    /// What it lets programs change, what no model has included.
    pub tunables: &'static [TunableInfo],
}

impl System {
    /// Registry name of the clock that deadlines are on.
    pub fn reference_clock(&self) -> &'static str {
        clocks::reference(self.os)
    }

    /// The clocks that its models have, whatever their architecture.
    pub fn modelled_clocks(&self) -> impl Iterator<Item = &'static ClockInfo> + use<> {
        self.clocks.iter().filter(|info| info.is_modelled)
    }

    /// What programs can change on its models.
    pub fn modelled_tunables(&self) -> impl Iterator<Item = &'static TunableInfo> + use<> {
        self.tunables.iter().filter(|info| info.is_modelled)
    }

    /// The waits that its models have.
    pub fn modelled_waits(&self) -> impl Iterator<Item = &'static WaitInfo> + use<> {
        self.waits.iter().filter(|info| info.is_modelled)
    }
}

/// Every system there is a model of.
pub static SYSTEMS: [&System; 3] = [&linux::SYSTEM, &windows::SYSTEM, &macos::SYSTEM];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_system_is_said_to_have_is_described() {
        for system in SYSTEMS {
            assert!(system.modelled_clocks().any(|info| info.name == system.reference_clock()), "{}", system.os);
            for timer in system.loads.iter().filter_map(|load| load.timer) {
                assert!(system.modelled_waits().any(|info| info.name == timer.wait), "{}", system.os);
            }
        }
    }
}
