//! What was observed of programs that oversleep did not write: their timed waits, where the lateness of each went, and who
//! delayed it (`oversleep why`).
//!
//! Waits of one program, thread, call and request are a [series](crate::Series) like any other, with its split and with
//! what only observed waits have ([`ObservedWaits`]). What belongs to no series is in [`Observation`].

mod by;
pub mod culprit;
pub mod group;
pub mod interruption;
pub mod period;
mod runtime;
pub mod stack;
pub mod wait;
pub mod wakes;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::distribution::Distribution;
#[cfg(feature = "schema")]
use crate::map_schema::by_word;
use crate::part::Part;
use crate::units::Nanos;
use culprit::{IrqCause, Whose, Why};
use group::{Autogroup, GroupQuota, GroupWeight};
use interruption::Interrupted;
use period::Periods;
use wait::{Outcome, TimerClock, Wait};
use wakes::Wakes;

pub use by::By;
pub use runtime::SeenRuntime;

/// Waits shown in full.
pub const WORST: usize = 10;

/// What an observed series has beyond others.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ObservedWaits {
    /// A process of these threads.
    pub tgid: u32,
    /// The shortest and the longest request, where they differ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requested_ns: Option<[Nanos; 2]>,
    /// The clock of their timers, as last seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock: Option<TimerClock>,
    /// Waits that ended for another reason than their timer; none of the series' figures includes them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[cfg_attr(feature = "schema", schemars(schema_with = "by_word::<Outcome, u64>"))]
    pub otherwise: BTreeMap<Outcome, u64>,
    /// How late the calls themselves were made, where the deadline had passed already, in ns. No part of the lateness.
    #[serde(default, skip_serializing_if = "Distribution::is_empty")]
    pub called_late: Distribution,
    /// How many of these calls would have been in time if the waits before had ended in time, and if nothing had kept the
    /// thread from a CPU since.
    #[serde(default, skip_serializing_if = "crate::is_zero")]
    pub late_after_late_count: u64,
    /// Who ran while these threads waited for a CPU.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blames: Vec<Blame>,
    /// What came before their timer interrupts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub irq_blames: Vec<IrqBlame>,
    /// What ended their calls before their time: then they were started again, or the wait was over.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub interruptions: Vec<Interrupted>,
    /// The threads' policy and priority, as last seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<(u32, i32)>,
    /// How many CPUs the threads may use, as last seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpus_allowed: Option<u32>,
    /// How long timer slack allowed their timers to expire late at most, if the timers themselves were not seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slack_bound_ns: Option<u64>,
    /// Waits around which the hypervisor took time.
    #[serde(default)]
    pub steal_count: u64,
    /// The loops that these waits are the pace of, where they come again and again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub periods: Option<Periods>,
    /// The language runtime of the process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime: Option<SeenRuntime>,
}

/// What one task took from the waits of a series.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Blame {
    /// Its name: of its process where that was seen, and else of the thread.
    pub name: String,
    /// Its process; 0 where it is unknown.
    #[serde(default, skip_serializing_if = "crate::is_zero")]
    pub tgid: u32,
    /// One of its threads.
    pub tid: u32,
    /// Its policy, as the kernel numbers it.
    pub policy: u32,
    /// Its priority as the kernel orders it: smaller goes first.
    pub prio: i32,
    /// Why it was allowed to run.
    pub why: Why,
    /// It may use one CPU only.
    pub is_pinned: bool,
    /// Whose it is.
    #[serde(default, skip_serializing_if = "Whose::is_program")]
    pub whose: Whose,
    /// How many waits it kept waiting.
    pub count: u64,
    /// For how long in all.
    pub total_ns: u64,
    /// For how long at most.
    pub max_ns: u64,
}

impl Blame {
    /// What an idle CPU is called that had to wake up first.
    pub const IDLE_CPU: &str = culprit::IDLE_CPU;
    /// What stands for whoever ran where threads moved to another CPU, and nobody told when.
    pub const UNKNOWN_CPU: &str = "tasks on an unknown CPU";

    /// Whether it is no task, but an idle CPU that had to wake up first.
    pub fn is_idle_cpu(&self) -> bool {
        self.whose == Whose::Kernel && self.name == Blame::IDLE_CPU
    }

    /// Whether it is no task: the threads waited on a CPU that isn't known.
    pub fn is_unknown_cpu(&self) -> bool {
        self.whose == Whose::Kernel && self.name == Blame::UNKNOWN_CPU
    }

    /// Whether it is a task, with a name of its own.
    pub fn is_task(&self) -> bool {
        !self.is_idle_cpu() && !self.is_unknown_cpu()
    }
}

/// What made timer interrupts late.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct IrqBlame {
    /// The cause of the longest.
    pub cause: IrqCause,
    /// How many waits it delayed.
    pub count: u64,
    /// For how long in all.
    pub total_ns: u64,
    /// For how long at most.
    pub max_ns: u64,
}

impl ObservedWaits {
    /// Waits that ended for another reason than their timer.
    pub fn otherwise_count(&self) -> u64 {
        self.otherwise.values().fold(0, |sum, &count| sum.saturating_add(count))
    }

    /// Its distributions beside those of the series.
    pub(crate) fn distributions_mut(&mut self) -> impl Iterator<Item = &mut Distribution> {
        let periods = self.periods.iter_mut().flat_map(|periods| periods.split.parts_mut());
        [&mut self.called_late].into_iter().chain(periods)
    }

    /// Those who ran instead, the one that took most first.
    pub fn by_blame(&self) -> Vec<&Blame> {
        let mut all: Vec<&Blame> = self.blames.iter().collect();
        all.sort_by_key(|blame| std::cmp::Reverse(blame.total_ns));
        all
    }

    /// What delayed the timer interrupt, the one that took most first.
    pub fn by_irq(&self) -> Vec<&IrqBlame> {
        let mut all: Vec<&IrqBlame> = self.irq_blames.iter().collect();
        all.sort_by_key(|blame| std::cmp::Reverse(blame.total_ns));
        all
    }
}

/// What was lost between the kernel and the result.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Losses {
    /// Events that the buffer had no room for.
    pub no_room: u64,
    /// Events that were sent and did not arrive.
    pub vanished: u64,
    /// Times that the kernel left the collector out.
    pub not_run: u64,
    /// Threads that were too many to follow.
    pub threads_not_followed: u64,
    /// Waits whose end was not seen.
    pub unfinished: u64,
    /// What this kernel can't show.
    #[serde(default)]
    pub missing: Vec<String>,
    /// The recording is damaged, or its writer was killed: what follows an event that is no event was not read.
    #[serde(default)]
    pub is_truncated: bool,
}

/// A process and its name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Named {
    /// Its id.
    pub tgid: u32,
    /// Its name.
    pub name: String,
    /// The group that its CPU quota is stated for; `/` for none of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cgroup: Option<String>,
    /// That group and those that it is in, as far as their share of a CPU isn't the default.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub weights: Vec<GroupWeight>,
    /// The tightest CPU quota of that group and those that it is in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quota: Option<GroupQuota>,
    /// Its session's group, where the kernel shares the CPUs among sessions and its control group is the root.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub autogroup: Option<Autogroup>,
    /// Its group of the version 1 freezer, if that is one that can be frozen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub freezer: Option<String>,
    /// Its language runtime.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime: Option<SeenRuntime>,
}

/// What a result about observed programs has besides its series.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Observation {
    /// Who followed the waits.
    #[serde(default)]
    pub by: By,
    /// The recorder of another project, as it calls itself: `perf 6.1`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recorder: Option<String>,
    /// What was followed, in words; empty for every process.
    #[serde(default)]
    pub target: String,
    /// Processes that were followed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub processes: Vec<Named>,
    /// Processes that ran while others with such a share waited for a CPU.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub neighbours: Vec<Named>,
    /// What the program meant to wait for, where the user stated that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub want_ns: Option<Nanos>,
    /// Waits that a selection left out.
    #[serde(default)]
    pub left_out: u64,
    /// The waits with the most lateness.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub worst: Vec<Wait>,
    /// What was lost.
    #[serde(default)]
    pub losses: Losses,
    /// Parts that the recording doesn't show. They are in no split, which doesn't mean that they were 0.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unseen: Vec<Part>,
    /// The recording doesn't say which threads are of one process: a program has the name of its thread.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub lacks_processes: bool,
    /// What the recorder rounds times to, if that is more than 1 ns: each part may be wrong by so much.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolution_ns: Option<Nanos>,
    /// Wake-ups of idle CPUs and the rhythm of threads, if every switch was recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wakes: Option<Wakes>,
}
