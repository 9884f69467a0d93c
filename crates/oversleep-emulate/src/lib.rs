//! An unmodified program with another machine's timing: each of its timed waits ends when the rules of that machine say.
//!
//! `plan` is what the rules of a modelled machine say about a wait of this system: pure functions over the same figures and
//! rules as the model's own waits. `linux` is the supervisor: it stops the program at its timed waits only and gives each
//! of them another end. Everything else runs at native speed.

pub mod plan;
pub mod report;

cfg_if::cfg_if! {
    if #[cfg(all(target_os = "linux", target_arch = "x86_64"))] {
        mod linux;
        /// Whether programs can be supervised here.
        pub const IS_SUPPORTED: bool = true;
        pub use linux::{control, end_by, run};
    } else {
        mod unsupported;
        /// Whether programs can be supervised here.
        pub const IS_SUPPORTED: bool = false;
        pub use unsupported::{control, end_by, run};
    }
}

use std::ffi::OsString;

use oversleep_record::Nanos;
use plan::{ClockChoice, Plan};

/// What to run, and as on which machine.
pub struct Request {
    /// The rules of its waits; none lets them be as they are.
    pub plan: Option<Plan>,
    /// Whether each program that is executed has all its memory locked.
    pub locks_memory: bool,
    /// The resolution that the program holds from its start, in every process of it.
    pub resolution: Option<Nanos>,
    /// Which clocks show the machine's.
    pub clocks: ClockChoice,
    /// Whether programs of known runtimes wait and read clocks as the runtime's port to the machine's system does.
    pub has_adapters: bool,
    /// Tells the user in which other way the program is run, where this system doesn't allow the ordinary one.
    pub note: fn(&str),
    /// The program and its arguments.
    pub program: Vec<OsString>,
}

/// How the program ended, and what was emulated.
#[derive(Debug)]
pub struct Ended {
    /// As a shell has it: the exit code, or 128 plus the signal's number.
    pub code: i32,
    /// The signal that ended it, if one did.
    pub signal: Option<i32>,
    /// What was emulated, where the supervisor could say so.
    pub report: Option<report::Report>,
}

/// Why the program was not run, or not to its end.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The supervisor failed: exit code 125, as `env` and `timeout` have it.
    #[error("{0}")]
    Own(String),
    /// The program was found and can't be run: exit code 126.
    #[error("{0}")]
    NotRun(String),
    /// There is no such program: exit code 127.
    #[error("{0}")]
    NotFound(String),
}

impl Failure {
    /// The exit code of it.
    pub fn code(&self) -> i32 {
        match self {
            Failure::Own(_) => 125,
            Failure::NotRun(_) => 126,
            Failure::NotFound(_) => 127,
        }
    }
}
