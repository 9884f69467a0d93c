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

/// Whose a task is, where that decides what can be done about it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Whose {
    /// Another program's.
    #[default]
    Program,
    /// That process's own whose thread waited.
    Own,
    /// The kernel's: a thread that no tool should move or slow down.
    Kernel,
    /// The collector's own: it runs because the program is followed.
    Collector,
}

impl Whose {
    /// Whether it is another program's.
    pub fn is_program(&self) -> bool {
        *self == Whose::Program
    }
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
    /// The name of its process, where that is another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process: Option<String>,
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
    /// Whose it is.
    #[serde(default, skip_serializing_if = "Whose::is_program")]
    pub whose: Whose,
    /// When it ran, as far as that kept the thread waiting; the first of many.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub turns: Vec<Span>,
}

/// What an idle CPU is called that had to wake up first.
pub(super) const IDLE_CPU: &str = "idle CPU";
/// How the name of tasks begins that nobody knows.
const UNKNOWN: &str = "tasks on CPU ";

impl Culprit {
    /// What stands for whoever ran where a thread waited on one of two CPUs, and nobody told on which one.
    pub fn on_either([one, other]: [u16; 2]) -> String {
        format!("{UNKNOWN}{} or {}", one.min(other), one.max(other))
    }

    /// Whether it is no task: the thread waited on a CPU that isn't known.
    pub fn is_on_unknown_cpu(&self) -> bool {
        self.whose == Whose::Kernel && self.name.starts_with(UNKNOWN)
    }

    /// Whether it is no task, but an idle CPU that had to wake up first.
    pub fn is_idle_cpu(&self) -> bool {
        self.whose == Whose::Kernel && self.name == IDLE_CPU
    }

    /// Whether it is a task, with a name of its own.
    pub fn is_task(&self) -> bool {
        !self.is_idle_cpu() && !self.is_on_unknown_cpu()
    }

    /// Adds a turn.
    pub fn add(&mut self, span: Span) {
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
    /// The hypervisor ran something else, as it reports itself.
    Steal,
    /// A task ran: its interrupts were off, or the hypervisor had the CPU.
    Task {
        /// Its thread id.
        tid: u32,
        /// Its name.
        name: String,
    },
}

impl IrqCause {
    /// Whether it is the same cause, for however long it ran.
    pub fn is_same(&self, other: &IrqCause) -> bool {
        match (self, other) {
            (IrqCause::Interrupt { number: a, .. }, IrqCause::Interrupt { number: b, .. }) => a == b,
            (IrqCause::Softirq { name: a, .. }, IrqCause::Softirq { name: b, .. }) => a == b,
            (IrqCause::Idle { state: a }, IrqCause::Idle { state: b }) => a == b,
            (IrqCause::Steal, IrqCause::Steal) => true,
            (IrqCause::Task { name: a, .. }, IrqCause::Task { name: b, .. }) => a == b,
            _ => false,
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn causes_are_the_same_by_what_they_are_not_by_how_long_they_took() {
        let causes = |n: u32, name: &str| {
            let (name, ran_ns) = (name.to_owned(), u64::from(n));
            [
                IrqCause::Interrupt { number: n, name: name.clone(), ran_ns },
                IrqCause::Softirq { name: name.clone(), ran_ns },
                IrqCause::Idle { state: n },
                IrqCause::Task { tid: n, name },
            ]
        };
        let same = |one: &[IrqCause; 4], other: &[IrqCause; 4]| -> [[bool; 4]; 4] {
            std::array::from_fn(|a| std::array::from_fn(|b| one[a].is_same(&other[b])))
        };
        let alike = |kinds: [bool; 4]| -> [[bool; 4]; 4] {
            std::array::from_fn(|a| std::array::from_fn(|b| a == b && kinds[a]))
        };
        assert_eq!(same(&causes(1, "a"), &causes(1, "a")), alike([true; 4]));
        assert_eq!(same(&causes(1, "a"), &causes(2, "a")), alike([false, true, false, true]));
        assert_eq!(same(&causes(1, "a"), &causes(1, "b")), alike([true, false, true, false]));
    }

    #[test]
    fn policies_are_named_as_people_set_them() {
        assert_eq!(policy_words(1, 49), "SCHED_FIFO, priority 50");
        assert_eq!(policy_words(0, 139), "SCHED_OTHER, nice 19");
    }
}
