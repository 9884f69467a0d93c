//! Looks up the figures of a profile by path.

use oversleep_record::{Nanos, Unavailable};
use oversleep_system::ClockInfo;

use crate::machines::nature::is_time;
use crate::machines::profile::Profile;
use crate::machines::sources::{ASSUMED, BY_USER};
use crate::machines::value::Value;
use crate::machines::{MachineError, evidence, versions};
use crate::sim::Spread;
use crate::sim::systems::System;

/// Looks figures up. If a profile states none, returns the value that switches the rule off.
pub(in crate::machines) struct Figures<'a>(pub(super) &'a Profile);

impl Figures<'_> {
    pub(in crate::machines) fn value(&self, path: &str) -> Option<&Value> {
        self.0.stated.get(path).map(|stated| &stated.value)
    }

    pub(super) fn share_ppm(&self, path: &str) -> i64 {
        (self.share(path) * 1e6).round() as i64
    }

    /// Whether a flag is off. A flag is on unless the profile states otherwise.
    pub(super) fn is_off(&self, path: &str) -> bool {
        matches!(self.value(path), Some(Value::Flag(false)))
    }

    pub(super) fn flag(&self, path: &str) -> bool {
        matches!(self.value(path), Some(Value::Flag(true)))
    }

    pub(in crate::machines) fn text(&self, path: &str) -> &str {
        self.0.word(path)
    }

    /// The period of the counter that Linux's time counts: a clock of it moves by as much
    /// (<https://docs.kernel.org/timers/timekeeping.html>). One nanosecond where it is shorter, or not known.
    pub(super) fn counter_period(&self, clock: &ClockInfo) -> Nanos {
        let hz = match self.text("facts.clocksource.current") {
            _ if self.text("machine.os") != "linux" || !is_time(clock) => 0,
            "arch_sys_counter" => self.integer("frequencies.cntvct"),
            "hpet" => versions::HPET_HZ,
            "acpi_pm" => versions::ACPI_PM_HZ,
            _ => 0,
        };
        Nanos(if hz > 0 { (1_000_000_000 + hz / 2) / hz } else { 1 }).max(Nanos(1))
    }

    /// What reading a clock costs, in ps, with the trap of a hypervisor if its counter has one.
    pub(super) fn cost_ps(&self, system: System, clock: &ClockInfo) -> u64 {
        let is_trapped = self.0.nature().reads_the_counter(&format!("costs.{}", clock.name));
        let trap = self.cost_at("cpus.counter-trap").filter(|_| is_trapped).unwrap_or_default();
        self.untrapped_ps(system, clock).saturating_add(trap)
    }

    /// What reading a clock costs, in ps: at least a read of the clock that it reads, and as much if no source states its
    /// own.
    fn untrapped_ps(&self, system: System, clock: &ClockInfo) -> u64 {
        let path = format!("costs.{}", clock.name);
        let read = clock.reads.filter(|_| self.is_of_its_system()).and_then(|name| system.clock(name));
        let read = read.map(|read| (read, self.untrapped_ps(system, read)));
        match (self.cost_at(&path), read) {
            (Some(own), Some((read, ps))) if self.may_be_raised(&path, read, ps) => own.max(ps),
            (Some(own), _) => own,
            (None, Some((_, ps))) => ps,
            (None, None) => self.cost_at("costs.other").unwrap_or_default(),
        }
    }

    /// Whether a read of that clock, which costs that much, may raise this cost. An assumed one raises no stated one; where
    /// one source states both, they are as it measured them, and a user's figure stays.
    fn may_be_raised(&self, path: &str, read: &ClockInfo, read_ps: u64) -> bool {
        let source = |path: &str| self.0.stated.get(path).map_or(ASSUMED, |stated| stated.source_id.as_str());
        let own = format!("costs.{}", read.name);
        let read_path = if self.value(&own).is_some() { &own } else { "costs.other" };
        let is_as_stated = self.cost_at(read_path) == Some(read_ps);
        match source(path) {
            BY_USER => false,
            ASSUMED => true,
            stated => !is_as_stated || (source(read_path) != ASSUMED && !evidence::is_from(source(read_path), stated)),
        }
    }

    fn cost_at(&self, path: &str) -> Option<u64> {
        match self.value(path) {
            Some(Value::Cost(ps)) => Some(*ps),
            _ => None,
        }
    }

    /// Whether its calls are those of its system: Wine's read other clocks than Windows' do.
    fn is_of_its_system(&self) -> bool {
        !self.is_off("timers.tick-ends-waits")
    }

    /// Whether the user set it.
    pub(super) fn is_by_user(&self, path: &str) -> bool {
        self.0.stated.get(path).is_some_and(|stated| stated.source_id == BY_USER)
    }

    /// Why the machine doesn't have the clock, wait or hand-off with that name, which came with that version of its system.
    pub(super) fn missing(&self, name: &str, since: &str) -> Option<Unavailable> {
        match self.value(&format!("since.{name}")) {
            Some(Value::Text(needs)) => Some(Unavailable::TooOld { needs: needs.clone() }),
            _ if versions::is_older(self.text(versions::RELEASE), since) => {
                Some(Unavailable::TooOld { needs: since.to_owned() })
            }
            _ => None,
        }
    }

    /// An error about that parameter.
    pub(in crate::machines) fn wrong(&self, path: &str, why: impl Into<String>) -> MachineError {
        let why = format!("'{path}': {}", why.into());
        MachineError::Malformed { name: self.0.name.clone(), why }
    }
}

/// Lookups for each kind of figure, with the default if a profile states none.
macro_rules! figures {
    ($($name:ident: $kind:ident($of:ty) or $none:expr;)+) => {
        impl Figures<'_> {
            $(pub(in crate::machines) fn $name(&self, path: &str) -> $of {
                match self.value(path) {
                    Some(Value::$kind(stated)) => stated.clone(),
                    _ => $none,
                }
            })+
        }
    };
}

figures! {
    span: Span(Nanos) or Nanos::ZERO;
    spread: Spread(Spread) or Spread::fixed(Nanos::ZERO);
    ladder: Ladder(Vec<(Nanos, Spread)>) or Vec::new();
    share: Share(f64) or 0.0;
    integer: Integer(i64) or 0;
    tiers: Tiers(Vec<(String, i32, Nanos)>) or Vec::new();
}
