//! What each system offers to a program, described for the model: the same names, units and rounding as the platforms of
//! real machines have. Figures are not here: they are a machine's, and come from its profile.

pub mod linux;
pub mod macos;
pub mod windows;

use oversleep_record::Nanos;
use oversleep_record::clock::{AcrossSuspend, Counts, Epoch};

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
    /// Its clocks.
    pub clocks: fn() -> Vec<ClockRow>,
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
            let clocks = (system.clocks)();
            let waits = (system.waits)();
            let described = clocks
                .iter()
                .map(|row| (row.info.name, row.info.call, row.info.doc, row.info.page))
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
