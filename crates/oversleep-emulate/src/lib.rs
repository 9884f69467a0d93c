//! An unmodified program with another machine's timing: each of its timed waits ends when the rules of that machine say.
//!
//! `plan` holds what the rules of a modelled machine say about a wait on this system: pure functions over the same
//! figures and rules that the model's own waits use. `linux` is the supervisor: it stops the program only at its timed
//! waits and gives each of them another end. Everything else runs at native speed.

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

/// What to run, and the machine to emulate.
pub struct Request {
    /// The rules of the machine's waits; `None` leaves the waits as they are.
    pub plan: Option<Plan>,
    /// Whether each program that is executed has all its memory locked.
    pub locks_memory: bool,
    /// The resolution that the program holds from its start, in every process of it.
    pub resolution: Option<Nanos>,
    /// Which clocks show the emulated machine's values.
    pub clocks: ClockChoice,
    /// Whether programs of known runtimes wait and read clocks as the runtime's port to the emulated system does.
    pub has_adapters: bool,
    /// The program and its arguments.
    pub program: Vec<OsString>,
}

/// How the program ended, and what was emulated.
#[derive(Debug)]
pub struct Ended {
    /// As shells report it: the exit code, or 128 plus the signal's number.
    pub code: i32,
    /// The signal that ended it, if one did.
    pub signal: Option<i32>,
    /// What was emulated, if the supervisor could report it.
    pub report: Option<report::Report>,
}

/// Why the program did not run, or not to its end.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The supervisor failed: exit code 125, by the convention of `env` and `timeout`.
    #[error("{0}")]
    Own(String),
    /// The program was found but can't be run: exit code 126.
    #[error("{0}")]
    NotRun(String),
    /// There is no such program: exit code 127.
    #[error("{0}")]
    NotFound(String),
}

impl Failure {
    /// The process exit code for this failure.
    pub fn code(&self) -> i32 {
        match self {
            Failure::Own(_) => 125,
            Failure::NotRun(_) => 126,
            Failure::NotFound(_) => 127,
        }
    }
}
