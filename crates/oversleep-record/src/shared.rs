//! The note in a shared copy of a result: how reliable it is, and what was left out of it.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::units::Nanos;

/// How reliable a result is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Reliability {
    /// Something else used the machine, or nothing was measured: don't draw conclusions.
    Poor,
    /// Few rounds, a quick or an interrupted run, or some disturbance: good for large effects.
    Limited,
    /// Enough rounds, which agree, on a quiet machine.
    Good,
}

impl fmt::Display for Reliability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Reliability::Poor => "poor",
            Reliability::Limited => "limited",
            Reliability::Good => "good",
        })
    }
}

/// What a shared copy calls those whose names it keeps to itself: `program 2`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Alias {
    /// An observed program.
    Program,
    /// One of its threads.
    Thread,
    /// Any other task.
    Task,
}

impl Alias {
    /// The alias with that number.
    pub fn numbered(self, number: usize) -> String {
        format!("{} {number}", self.noun())
    }

    /// Whether a name is an alias of this kind.
    pub fn is(self, name: &str) -> bool {
        let number = name.strip_prefix(self.noun()).and_then(|rest| rest.strip_prefix(' '));
        number.is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit()) && number.parse::<u16>().is_ok())
    }

    fn noun(self) -> &'static str {
        match self {
            Alias::Program => "program",
            Alias::Thread => "thread",
            Alias::Task => "task",
        }
    }
}

/// What was left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LeftOut {
    /// Raw samples. The distributions still hold every value.
    pub samples: u64,
    /// Series and clocks whose names oversleep doesn't know.
    pub series: u64,
    /// Facts about the machine that are not on the list of what is kept.
    pub facts: u64,
}

/// Marks a result as a shared copy, with figures about its reliability. All of them are numbers, so nothing here can
/// name a person or a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Shared {
    /// How far it can be relied on.
    pub reliability: Reliability,
    /// Series with values.
    pub series: u64,
    /// Of these, the ones with too few values or rounds for a conclusion.
    pub scarce: u64,
    /// Of these, the ones whose rounds disagree.
    pub unsteady: u64,
    /// Rounds of half of the series, or more.
    pub rounds_median: u64,
    /// The time in which values were taken, each moment once.
    pub measured_ns: Nanos,
    /// Share of it in which the hypervisor ran something else, in thousandths of one CPU; `None` if that is not available.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steal_permille: Option<u64>,
    /// CPU time of other processes meanwhile, in thousandths of one CPU.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other_cpu_permille: Option<u64>,
    /// Share of that time in which the CPU quota stopped this process, in thousandths.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throttled_permille: Option<u64>,
    /// What was left out.
    pub left_out: LeftOut,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_alias_is_its_kind_and_a_number() {
        assert!(Alias::Thread.is(&Alias::Thread.numbered(12)));
        for name in ["thread", "thread ", "thread 1a", "thread +1", "thread 20261130", "program 1", "my thread 1"] {
            assert!(!Alias::Thread.is(name), "{name}");
        }
    }
}
