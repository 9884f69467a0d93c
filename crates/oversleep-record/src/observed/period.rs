//! Loops: the periods of a thread from the end of one wait to the end of its next one of that kind, and what filled them.

use serde::{Deserialize, Serialize};

use super::Blame;
use super::culprit::Culprit;
use crate::distribution::Distribution;
use crate::split::PartSplit;
use crate::units::Nanos;

/// The periods of a series' threads.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Periods {
    /// Their lengths, in ns, and their parts: waiting as requested, late waits, and what the thread did in between.
    pub split: PartSplit,
    /// What a period is meant to be: that of the timer, or the usual distance of the deadlines. Absent where the program
    /// states none, because it waits for spans.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub intended_ns: Option<Nanos>,
    /// Expirations of the timer that the thread didn't come to wait for, because the one before was not yet read.
    #[serde(default, skip_serializing_if = "crate::is_zero")]
    pub missed_count: u64,
    /// Page faults between the waits.
    #[serde(default, skip_serializing_if = "crate::is_zero")]
    pub fault_count: u64,
    /// How often another time was requested than before, …
    #[serde(default, skip_serializing_if = "crate::is_zero")]
    pub requests_changed_count: u64,
    /// … and how often it was longer because there was less to do before it, or the other way round.
    #[serde(default, skip_serializing_if = "crate::is_zero")]
    pub requests_follow_count: u64,
    /// Who ran while the thread could have worked between its waits, where it had to wait for longer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blames: Vec<Blame>,
    /// Where it slept between its waits for longer, the call that took most first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blocks: Vec<Block>,
}

impl Periods {
    /// Their lengths.
    pub fn lengths(&self) -> Option<&Distribution> {
        self.split.total.as_ref().filter(|lengths| lengths.count() != 0)
    }
}

/// Sleeping in one call, between timed waits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Block {
    /// The call: its name, or its number where that is all that is known. Empty if it wasn't seen.
    pub call: String,
    /// The thread that woke it, where a thread does that; empty otherwise.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub woken_by: String,
    /// How often.
    pub count: u64,
    /// For how long in all.
    pub total_ns: u64,
    /// For how long at most.
    pub max_ns: u64,
}

/// What a thread did between two waits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Between {
    /// From the end of the call before …
    pub from_ns: u64,
    /// … to the begin of the next one.
    pub until_ns: u64,
    /// It waited for a CPU.
    pub runq_ns: u64,
    /// A CPU quota stopped it.
    pub quota_ns: u64,
    /// It slept in other calls.
    pub blocked_ns: u64,
    /// It was in page faults.
    pub fault_ns: u64,
    /// Their number.
    pub fault_count: u64,
    /// What took longer, each by itself.
    pub held: Vec<Held>,
}

/// A longer time without a CPU.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    /// When it had one again.
    pub t: u64,
    /// How long job control, a tracer or the freezer had stopped it at first.
    pub stop_ns: u64,
    /// Where it slept at first, if it did.
    pub block: Option<Block>,
    /// Who ran while it waited for a CPU.
    pub culprits: Vec<Culprit>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::part::Parts;

    #[test]
    fn periods_have_lengths_once_there_is_one() {
        let mut periods = Periods { split: PartSplit::apart(""), ..Periods::default() };
        assert_eq!(periods.lengths(), None);
        periods.split.record(&Parts { work: 5, requested: 10, ..Parts::default() });
        assert_eq!(periods.lengths().and_then(Distribution::max), Some(15));
    }
}
