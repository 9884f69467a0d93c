//! What each system offers to a program, described for the model: the same names, units and rounding as the platforms of
//! real machines have. Figures are not here: they are a machine's, and come from its profile.

pub mod linux;
pub mod macos;
pub mod windows;

use oversleep_record::clock::{AcrossSuspend, Counts, Epoch};

use super::loads::TimerLoad;
use super::machine::TunableModel;
use super::scheduler::Policy;
use oversleep_system::{ClockInfo, HandoffInfo, WaitInfo};

/// A system as far as programs see it.
#[derive(Debug)]
pub struct System {
    /// `linux`, `windows`, `macos`.
    pub os: &'static str,
    /// Registry name of the clock that deadlines are on.
    pub reference_clock: &'static str,
    /// Its clocks.
    pub clocks: fn() -> Vec<ClockRow>,
    /// Its waits, those that are not modelled included.
    pub waits: &'static [&'static WaitInfo],
    /// Its policies, the plainest first.
    pub policies: fn() -> Vec<Policy>,
    /// Its hand-offs.
    pub handoffs: &'static [&'static HandoffInfo],
    /// The timers of its load that lives by them, as in its platform.
    pub timer_load: TimerLoad,
    /// What it lets programs change.
    pub tunables: &'static [TunableModel],
}

impl System {
    /// Its waits that a model has.
    pub fn modelled_waits(&self) -> impl Iterator<Item = &'static WaitInfo> {
        self.waits.iter().copied().filter(|info| info.is_modelled)
    }
}

/// Every system there is a model of.
pub static SYSTEMS: [&System; 3] = [&linux::SYSTEM, &windows::SYSTEM, &macos::SYSTEM];

/// A clock, and what it follows; the figures are the machine's.
#[derive(Clone, Debug)]
pub struct ClockRow {
    /// Its description.
    pub info: ClockInfo,
    /// What it follows.
    pub follows: Follows,
    /// Which architecture has it; empty for all.
    pub arch: &'static str,
}

/// What a clock follows, before a machine's figures are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Follows {
    /// Time, as finely as its unit or the counter behind it shows.
    Time,
    /// Time in steps of the kernel's tick.
    KernelTick,
    /// Time in steps of the default period of the timer interrupt, whatever it is now.
    DefaultTick,
    /// Time as of the last timer interrupt.
    LastInterrupt,
    /// CPU time of the reading thread.
    ThreadCpu,
    /// CPU time of the process.
    ProcessCpu,
    /// The processor's counter.
    Counter,
}

const fn clock(name: &'static str, call: &'static str, doc: &'static str, follows: Follows) -> ClockRow {
    ClockRow {
        info: ClockInfo {
            name,
            call,
            doc,
            counts: match follows {
                Follows::ThreadCpu => Counts::ThreadCpuTime,
                Follows::ProcessCpu => Counts::ProcessCpuTime,
                _ => Counts::ElapsedTime,
            },
            epoch: match follows {
                Follows::ThreadCpu => Epoch::Thread,
                Follows::ProcessCpu => Epoch::Process,
                Follows::Counter => Epoch::Processor,
                _ => Epoch::Boot,
            },
            unit: match follows {
                Follows::Counter => "ticks",
                _ => "ns",
            },
            across_suspend: AcrossSuspend::Stops,
            bits: 64,
            may_avoid_syscall: true,
            since: "",
            page: "",
        },
        follows,
        arch: "",
    }
}

impl ClockRow {
    const fn unit(mut self, unit: &'static str) -> ClockRow {
        self.info.unit = unit;
        self
    }

    const fn bits(mut self, bits: u32) -> ClockRow {
        self.info.bits = bits;
        self
    }

    const fn time_of_day(mut self, epoch: Epoch) -> ClockRow {
        self.info.counts = Counts::TimeOfDay;
        self.info.epoch = epoch;
        self.info.across_suspend = AcrossSuspend::Continues;
        self
    }

    const fn across_suspend(mut self, across_suspend: AcrossSuspend) -> ClockRow {
        self.info.across_suspend = across_suspend;
        self
    }

    const fn only_on(mut self, arch: &'static str) -> ClockRow {
        self.arch = arch;
        self
    }

    const fn page(mut self, page: &'static str) -> ClockRow {
        self.info.page = page;
        self
    }

    const fn epoch(mut self, epoch: Epoch) -> ClockRow {
        self.info.epoch = epoch;
        self
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_clock_is_described_under_its_own_name() {
        for system in SYSTEMS {
            let mut names = BTreeSet::new();
            for ClockRow { info, .. } in (system.clocks)() {
                let is_described = info.call.len() > 3 && info.doc.ends_with('.') && info.page.starts_with("https://");
                assert!(is_described && names.insert(info.name), "{}", info.name);
            }
            assert!(names.contains(system.reference_clock));
        }
    }

    #[test]
    fn the_load_that_lives_by_timers_has_a_modelled_wait() {
        for system in SYSTEMS {
            assert!(system.modelled_waits().any(|info| info.name == system.timer_load.wait), "{}", system.os);
        }
    }
}
