//! What delayed a wait: tasks that ran instead, and interrupts that came first.

use serde::{Deserialize, Serialize};

/// What a task may do that keeps another one waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Why {
    /// Its policy goes before the thread's.
    HigherPolicy,
    /// The same real-time policy, and at least the thread's priority.
    HigherPriority,
    /// Both share the CPU fairly, and its turn was not over.
    TurnNotOver,
    /// Its policy goes after the thread's: the kernel was not yet able to switch.
    NotYetPreempted,
}

/// A task that ran while a thread waited for the CPU.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Culprit {
    /// Its thread id.
    pub tid: u32,
    /// Its process.
    pub tgid: u32,
    /// Its name.
    pub name: String,
    /// Its policy, as the kernel numbers it.
    pub policy: u32,
    /// Its priority as the kernel orders it: smaller goes first.
    pub prio: i32,
    /// For how long it ran meanwhile.
    pub ran_ns: u64,
    /// Why it was allowed to.
    pub why: Why,
    /// It may use this CPU only.
    pub is_pinned: bool,
    /// When it ran, as far as that kept the thread waiting; the first of many.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub turns: Vec<Span>,
}

impl Culprit {
    /// Adds a turn.
    pub(crate) fn add(&mut self, span: Span) {
        self.ran_ns = self.ran_ns.saturating_add(span.to_ns.saturating_sub(span.from_ns));
        if self.turns.len() < TURNS_KEPT {
            self.turns.push(span);
        }
    }
}

/// The most turns that are kept of one culprit.
pub const TURNS_KEPT: usize = 24;

/// From one time to another, on the clock of the deadlines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Span {
    /// Its begin.
    pub from_ns: u64,
    /// Its end.
    pub to_ns: u64,
}

/// What a CPU did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Activity {
    /// What kind of thing.
    pub what: ActivityKind,
    /// The name of the interrupt or the softirq, or the number of the idle state.
    pub name: String,
    /// When.
    pub span: Span,
}

/// What a CPU may do besides running tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ActivityKind {
    /// An interrupt.
    Interrupt,
    /// A softirq.
    Softirq,
    /// Idle.
    Idle,
}

/// One turn of a task on a CPU.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Turn {
    pub tid: u32,
    pub tgid: u32,
    pub name: crate::event::Name,
    pub policy: u32,
    pub prio: i32,
    pub cpus_allowed: u32,
    pub from: u64,
    pub to: u64,
}

impl Turn {
    /// The part of the turn between two times.
    pub fn overlap(&self, from: u64, to: u64) -> Option<Span> {
        let span = Span { from_ns: self.from.max(from), to_ns: self.to.min(to) };
        (span.from_ns < span.to_ns).then_some(span)
    }
}

/// The order of tasks, lowest first: deadline, real-time, fair, idle; then the priority among real-time tasks.
fn rank(policy: u32, prio: i32) -> (u32, i32) {
    match policy {
        6 => (0, 0),
        _ if prio < 0 => (0, 0),
        _ if prio < 100 => (1, prio),
        5 => (3, 0),
        _ => (2, 0),
    }
}

/// Why one task may keep another one waiting.
pub fn why(culprit: (u32, i32), victim: (u32, i32)) -> Why {
    let (culprit, victim) = (rank(culprit.0, culprit.1), rank(victim.0, victim.1));
    if culprit.0 < victim.0 {
        Why::HigherPolicy
    } else if culprit.0 > victim.0 {
        Why::NotYetPreempted
    } else if culprit.0 >= 2 {
        Why::TurnNotOver
    } else if culprit.1 <= victim.1 {
        Why::HigherPriority
    } else {
        Why::NotYetPreempted
    }
}

/// Stands for the policy of threads on Windows, where only the priority matters.
pub const WINDOWS_POLICY: u32 = 64;

/// The scheduling policy in words, with its priority if it has one.
pub fn policy_words(policy: u32, prio: i32) -> String {
    let rt = 99 - i64::from(prio);
    match policy {
        // A fair task that holds a lock for a real-time task runs at that task's priority.
        0 | 3 if prio < 100 => format!("boosted to priority {rt}"),
        0 => format!("SCHED_OTHER, nice {}", i64::from(prio) - 120),
        1 => format!("SCHED_FIFO, priority {rt}"),
        2 => format!("SCHED_RR, priority {rt}"),
        3 => "SCHED_BATCH".to_owned(),
        5 => "SCHED_IDLE".to_owned(),
        6 => "SCHED_DEADLINE".to_owned(),
        7 => "SCHED_EXT".to_owned(),
        WINDOWS_POLICY => format!("priority {}", 31i64.saturating_sub(prio.into())),
        other => format!("policy {other}"),
    }
}

/// What a CPU did when the timer interrupt should have come.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum IrqCause {
    /// Another interrupt ran.
    Interrupt {
        /// Its number.
        number: u32,
        /// Its name.
        name: String,
        /// For how long of that time.
        ran_ns: u64,
    },
    /// A softirq ran.
    Softirq {
        /// Its name.
        name: String,
        /// For how long of that time.
        ran_ns: u64,
    },
    /// The CPU was idle: leaving the idle state took that long, or the hypervisor did.
    Idle {
        /// The idle state.
        state: u32,
    },
    /// A task ran: its interrupts were off, or the hypervisor had the CPU.
    Task {
        /// Its thread id.
        tid: u32,
        /// Its name.
        name: String,
    },
}

/// The kernel's names of softirqs, by number.
pub(crate) const SOFTIRQS: [&str; 10] =
    ["HI", "TIMER", "NET_TX", "NET_RX", "BLOCK", "IRQ_POLL", "TASKLET", "SCHED", "HRTIMER", "RCU"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_may_run_first_is_decided_by_policy_then_priority() {
        let (fifo_50, fifo_10, fair, idle, deadline) = ((1, 49), (1, 89), (0, 120), (5, 120), (6, -1));
        assert_eq!(why(fifo_10, fair), Why::HigherPolicy);
        assert_eq!(why(deadline, fifo_50), Why::HigherPolicy);
        assert_eq!(why(fifo_50, fifo_10), Why::HigherPriority);
        assert_eq!(why(fifo_50, fifo_50), Why::HigherPriority);
        assert_eq!(why(fifo_10, fifo_50), Why::NotYetPreempted);
        assert_eq!(why(fair, fair), Why::TurnNotOver);
        assert_eq!(why(idle, fair), Why::NotYetPreempted);
        assert_eq!(policy_words(1, 49), "SCHED_FIFO, priority 50");
        assert_eq!(policy_words(0, 139), "SCHED_OTHER, nice 19");
    }
}
