//! What figures say about a machine as a whole: its system and kernel, and where reads of its clocks go.

use std::collections::BTreeMap;

use oversleep_record::clock::Counts;
use oversleep_system::{ClockInfo, Follows};

use super::value::{Stated, Value};
use crate::sim::systems::SYSTEMS;

/// The parameter that states the clock rate of the processor, in MHz.
pub(super) const RATE: &str = "cpus.mhz";

/// The kinds of machines whose clocks are read over a bus, whatever the processor's rate.
pub(super) const BUSES: [&str; 3] = ["clocksource-hpet", "clocksource-acpi-pm", "windows-hpet"];

/// Whether the clock shows the system's time as of now, rather than a processor's counter, the last tick or CPU time.
pub(super) fn is_time(info: &ClockInfo) -> bool {
    let is_time = matches!(info.counts, Counts::ElapsedTime | Counts::TimeOfDay);
    is_time && info.follows == Follows::Time && info.architecture.is_none()
}

/// The figures of a machine, and the kinds of machines that gave some of them, both by path.
pub(super) struct Nature<'a> {
    pub stated: &'a BTreeMap<String, Stated>,
    pub drawn: &'a BTreeMap<String, &'static str>,
}

impl<'a> Nature<'a> {
    /// A figure that is a word; empty if there is none.
    pub(super) fn word(&self, path: &str) -> &'a str {
        match self.stated.get(path).map(|stated| &stated.value) {
            Some(Value::Text(text)) => text,
            _ => "",
        }
    }

    pub(super) fn os(&self) -> &'a str {
        self.word("machine.os")
    }

    /// The version of its Linux; 0.0 if it states none.
    pub(super) fn kernel(&self) -> (u32, u32) {
        let mut numbers = self.word("facts.kernel.release").split(['.', '-']).map(|number| number.parse().unwrap_or(0));
        (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0))
    }

    /// Whether its kernel idles on the processor itself.
    pub(super) fn is_bare(&self) -> bool {
        let is_none = |fact| matches!(self.word(fact), "none" | "");
        is_none("facts.virtualisation.hypervisor") && is_none("facts.virtualisation.wsl")
    }

    /// Whether its calls are those of its system: reads of Wine's and WSL 1's clocks are calls of another one.
    pub(super) fn makes_its_own_calls(&self) -> bool {
        let ends_waits = self.stated.get("timers.tick-ends-waits").map(|stated| &stated.value);
        ends_waits != Some(&Value::Flag(false)) && self.word("facts.virtualisation.wsl") != "wsl1"
    }

    /// The clock whose cost a figure is; `None` for `costs.other`.
    fn clock(&self, path: &str) -> Option<&'static ClockInfo> {
        SYSTEMS.iter().find(|system| system.os == self.os())?.clock(path.strip_prefix("costs.")?)
    }

    /// Whether the figure is what a read of memory costs.
    pub(super) fn is_in_memory(&self, path: &str) -> bool {
        self.clock(path).is_some_and(|info| info.follows != Follows::Time)
    }

    /// Whether the figure is what a read over a bus costs.
    pub(super) fn goes_over_a_bus(&self, path: &str) -> bool {
        let is_bus = matches!(self.word("facts.clocksource.current"), "hpet" | "acpi_pm");
        self.drawn.get(path).is_some_and(|kind| BUSES.contains(kind))
            || (is_bus && path.starts_with("costs.") && self.clock(path).is_none_or(is_time))
    }

    /// Whether the figure is what a read of a clock costs that takes a number of the processor's cycles.
    pub(super) fn takes_cycles(&self, path: &str) -> bool {
        path.starts_with("costs.") && !self.goes_over_a_bus(path)
    }

    /// Whether the figure is what a read of the processor's counter costs, alone or with a call around it.
    pub(super) fn reads_the_counter(&self, path: &str) -> bool {
        path.starts_with("costs.") && !self.is_in_memory(path) && !self.goes_over_a_bus(path)
    }
}
