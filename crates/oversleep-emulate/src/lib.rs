//! Runs an unmodified program with another machine's timing: each timed wait ends when the rules of that machine say.
//!
//! `plan` applies the rules of a modelled machine to a wait of this system. Its functions are pure, and use the figures and
//! rules of the model's own waits; `plan/classes.rs` says which wait of the machine stands for a class of calls. `linux` is
//! the supervisor. It stops the program at the calls that wait or set a time, and at the few others that it must change
//! (`linux/filter/calls.rs`). Everything else runs at native speed.
//!
//! An [`Observation`] uses the same stops to follow the waits of a program and leaves them as they are.

pub mod plan;
pub mod report;

cfg_if::cfg_if! {
    if #[cfg(all(target_os = "linux", target_arch = "x86_64"))] {
        mod linux;
        /// Whether programs can be supervised here.
        pub const IS_SUPPORTED: bool = true;
        pub use linux::{Observation, Running, control, run};
    } else {
        mod unsupported;
        /// Whether programs can be supervised here.
        pub const IS_SUPPORTED: bool = false;
        pub use unsupported::{Observation, Running, control, run};
    }
}

use std::ffi::OsString;

use oversleep_native::AppEnd;
use oversleep_record::Nanos;

use plan::{ClockChoice, Plan};

/// What to run, and with which machine's timing.
pub struct Request {
    /// The rules for its waits. Without rules, waits are left alone.
    pub plan: Option<Plan>,
    /// Whether to lock all memory of each executed program.
    pub locks_memory: bool,
    /// The timer resolution that every process of the program holds from its start.
    pub resolution: Option<Nanos>,
    /// Which of the program's clocks advance as the machine's do.
    pub clocks: ClockChoice,
    /// Whether a program of a known runtime waits and reads clocks as the runtime's port to the machine's system does.
    pub has_adapters: bool,
    /// The calls of runtimes that the program's sleeps stand for, the first that says something about a call first.
    pub stands_for: Vec<String>,
    /// Whether programs of 32 bits run, with native timing. Otherwise they are refused.
    pub allows_32_bit: bool,
    /// Tells the user at once what to know: how the program is run instead where tracing isn't allowed, which programs are
    /// refused. It is called in another thread.
    pub note: fn(&str),
    /// The program and its arguments.
    pub program: Vec<OsString>,
}

/// How the program ended and what was emulated.
#[derive(Debug)]
pub struct Ended {
    /// Its exit code, or the signal that ended it.
    pub end: AppEnd,
    /// What was emulated, if there was a supervisor to report it.
    pub report: Option<report::Report>,
}

/// Why the program was not run, or not until its end.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The supervisor failed, or was told something wrong.
    #[error("{0}")]
    Own(String),
    /// The program can't be traced here, and was not run.
    #[error("{0}")]
    NotTraced(String),
    /// The program exists but can't be run.
    #[error("{0}")]
    NotRun(String),
    /// There is no such program.
    #[error("{0}")]
    NotFound(String),
}
