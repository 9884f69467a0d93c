//! Collects the events of timed waits from the kernel: it loads a program into the kernel, says whom to follow, and reads
//! what arrives. What the events mean is decided by `oversleep-why`.
//!
//! Linux, and Windows by its documentation only. Everywhere else opening a collector says so.
#![forbid(unsafe_code)]

mod error;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(not(any(target_os = "linux", target_os = "windows")))]
mod other;
#[cfg(target_os = "windows")]
mod windows;

pub use error::CollectError;
#[cfg(target_os = "linux")]
pub use linux::{Collector, cgroup_of, command_name};
#[cfg(not(any(target_os = "linux", target_os = "windows")))]
pub use other::{Collector, cgroup_of, command_name};
#[cfg(target_os = "windows")]
pub use windows::{Collector, cgroup_of, command_name};

/// Whom to follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Every process but this one.
    pub everyone: bool,
    /// The processes that a followed one starts, too.
    pub children: bool,
    /// Stacks of the worst waits: where in the program and in the kernel they were called from.
    pub stacks: bool,
    /// The length of the kernel's tick: timeouts of sockets end on it.
    pub tick_ns: u64,
}

/// What the kernel's counters say at the end, beside what arrived.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Losses {
    /// Events that the kernel program delivered.
    pub sent: u64,
    /// Events that arrived.
    pub received: u64,
    /// Events for which the buffer had no room.
    pub no_room: u64,
    /// Times that the kernel didn't run the program, because it was running already.
    pub not_run: u64,
    /// Threads that were not followed, because there were too many.
    pub threads_not_followed: u64,
    /// Tracepoints that this kernel doesn't have, with what is missing without them.
    pub missing: Vec<&'static str>,
}

impl Losses {
    /// Events that were sent and never arrived, whatever the counters of the buffer say.
    pub fn vanished(&self) -> u64 {
        self.sent.saturating_sub(self.received)
    }
}
