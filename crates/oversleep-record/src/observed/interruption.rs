//! What ended a call before its time, so that it was started again, or the wait was over.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What ended a call before its time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum Interruption {
    /// A signal reached the thread.
    Signal {
        /// Its number.
        number: u32,
        /// Who sent it.
        sender: Sender,
    },
    /// A signal of job control stopped the process: SIGSTOP, SIGTSTP, SIGTTIN or SIGTTOU.
    Stopped,
    /// A tracer, such as a debugger, stopped the thread.
    Traced,
    /// The freezer stopped it: its cgroup was frozen (a paused container), or the system was suspended.
    Frozen,
}

/// Who sent a signal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "by", rename_all = "snake_case")]
pub enum Sender {
    /// A process.
    Process {
        /// Its id; 0 where it is in no namespace that the receiver sees, or the copy is shared.
        pid: u32,
        /// The name of the thread that sent it; empty if that wasn't seen.
        name: String,
    },
    /// A timer that the process set itself.
    OwnTimer {
        /// The call that set it.
        call: String,
    },
    /// The kernel, on its own account.
    Kernel,
}

/// An interruption, and how often it came.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Interrupted {
    /// What it was.
    #[serde(flatten)]
    pub by: Interruption,
    /// How often.
    pub count: u64,
}

/// The most interruptions that are told apart.
pub const INTERRUPTIONS_MAX: usize = 16;

impl Interruption {
    /// Whether it is a stop, and no signal that a handler answers.
    pub fn is_stop(&self) -> bool {
        !matches!(self, Interruption::Signal { .. })
    }
}

/// `SIGUSR1 from sampler (77)`, `a tracer`.
impl fmt::Display for Interruption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Interruption::Signal { number, sender } => write!(f, "{} {sender}", signal_name(*number)),
            Interruption::Stopped => f.write_str("job control (SIGSTOP or a terminal)"),
            Interruption::Traced => f.write_str("a tracer"),
            Interruption::Frozen => f.write_str("the freezer"),
        }
    }
}

/// `from sampler (77)`, `of its own timer (setitimer)`.
impl fmt::Display for Sender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Sender::Process { pid: 0, name } if name.is_empty() => {
                f.write_str("from a process outside of its namespace")
            }
            Sender::Process { pid: 0, name } => write!(f, "from {name}"),
            Sender::Process { pid, name } if name.is_empty() => write!(f, "from process {pid}"),
            Sender::Process { pid, name } => write!(f, "from {name} ({pid})"),
            Sender::OwnTimer { call } => write!(f, "of its own timer ({call})"),
            Sender::Kernel => f.write_str("from the kernel"),
        }
    }
}

/// Counts an interruption among others; beyond [`INTERRUPTIONS_MAX`] of them, a new one isn't told.
pub fn count(all: &mut Vec<Interrupted>, by: &Interruption, count: u64) {
    if let Some(one) = all.iter_mut().find(|one| one.by == *by) {
        one.count = one.count.saturating_add(count);
    } else if all.len() < INTERRUPTIONS_MAX {
        all.push(Interrupted { by: by.clone(), count });
    }
}

/// The name of a signal, as Linux numbers them on x86 and Arm.
pub fn signal_name(number: u32) -> String {
    const NAMES: [&str; 31] = [
        "HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "USR1", "SEGV", "USR2", "PIPE", "ALRM",
        "TERM", "STKFLT", "CHLD", "CONT", "STOP", "TSTP", "TTIN", "TTOU", "URG", "XCPU", "XFSZ", "VTALRM", "PROF",
        "WINCH", "IO", "PWR", "SYS",
    ];
    /// The C libraries keep the two before it for themselves.
    const RT_MIN: u32 = 34;
    match usize::try_from(number).ok().and_then(|number| NAMES.get(number.checked_sub(1)?)) {
        Some(name) => format!("SIG{name}"),
        None if number >= RT_MIN => format!("SIGRTMIN+{}", number - RT_MIN),
        None => format!("signal {number}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_have_the_names_that_kill_lists() {
        let names = [1, 9, 14, 19, 27, 31, 32, 34, 40, 0].map(signal_name);
        let stated = ["HUP", "KILL", "ALRM", "STOP", "PROF", "SYS"].map(|name| format!("SIG{name}"));
        assert_eq!(names[..6], stated);
        assert_eq!(names[6..], ["signal 32", "SIGRTMIN+0", "SIGRTMIN+6", "signal 0"]);
    }

    #[test]
    fn an_interruption_names_who_it_is_from() {
        let process = |pid, name: &str| Sender::Process { pid, name: name.to_owned() };
        let signal = |sender| Interruption::Signal { number: 10, sender }.to_string();
        assert_eq!(signal(process(77, "sampler")), "SIGUSR1 from sampler (77)");
        assert_eq!(signal(process(77, "")), "SIGUSR1 from process 77");
        assert_eq!(signal(process(0, "sampler")), "SIGUSR1 from sampler");
        assert_eq!(signal(process(0, "")), "SIGUSR1 from a process outside of its namespace");
        assert_eq!(signal(Sender::OwnTimer { call: "setitimer".to_owned() }), "SIGUSR1 of its own timer (setitimer)");
        assert_eq!(signal(Sender::Kernel), "SIGUSR1 from the kernel");
        assert!(
            Interruption::Frozen.is_stop() && !Interruption::Signal { number: 10, sender: Sender::Kernel }.is_stop()
        );
    }

    #[test]
    fn the_same_interruptions_are_counted_and_many_are_bounded() {
        let mut all = Vec::new();
        let by = |number| Interruption::Signal { number, sender: Sender::Kernel };
        for number in [10, 12, 10] {
            count(&mut all, &by(number), 2);
        }
        assert_eq!(all.iter().map(|one| one.count).collect::<Vec<_>>(), [4, 2]);
        (0..100).for_each(|number| count(&mut all, &by(number), 1));
        assert_eq!(all.len(), INTERRUPTIONS_MAX);
    }
}
