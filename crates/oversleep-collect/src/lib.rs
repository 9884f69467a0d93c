//! Collects the events of timed waits from the kernel: it loads a program into the kernel, tells it which processes to
//! follow, and reads the events that arrive. `oversleep-why` interprets them.
//!
//! Supports Linux, and Windows by its documentation only. On any other system, opening a collector fails.
#![forbid(unsafe_code)]

mod error;

cfg_if::cfg_if! {
    if #[cfg(target_os = "linux")] {
        mod linux;
        use linux as sys;
    } else if #[cfg(target_os = "windows")] {
        mod windows;
        use windows as sys;
    } else {
        mod other;
        use other as sys;
    }
}

pub use error::CollectError;
use oversleep_why::Event;
pub use sys::{Collector, cgroup_of, command_name};

impl Collector {
    /// Appends everything that has arrived to `events`.
    pub fn drain_all(&mut self, events: &mut Vec<Event>, is_last: bool) {
        while self.drain(events, is_last) {}
    }

    /// Passes everything that has arrived to `each` in batches, so that a flood takes no more memory than one batch.
    /// With `is_last`, the kernel program is stopped first. `batch` is a buffer for reuse between calls.
    ///
    /// # Errors
    /// The error of `each`; the rest isn't read.
    pub fn drain_each<E>(
        &mut self,
        batch: &mut Vec<Event>,
        is_last: bool,
        mut each: impl FnMut(&[Event]) -> Result<(), E>,
    ) -> Result<(), E> {
        if is_last {
            self.stop();
        }
        let mut has_more = true;
        while has_more {
            batch.clear();
            has_more = self.drain(batch, is_last);
            each(batch)?;
        }
        Ok(())
    }
}

/// What to follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Every process except this one.
    pub everyone: bool,
    /// Also the processes that a followed process starts.
    pub children: bool,
    /// Stacks of the worst waits: from where in the program and in the kernel they were called.
    pub stacks: bool,
    /// The length of the kernel's tick in ns: timeouts of sockets end on it.
    pub tick_ns: u64,
}

/// The kernel's counters at the end, to be compared with what arrived.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Losses {
    /// Events that the kernel program delivered.
    pub sent: u64,
    /// Events that arrived.
    pub received: u64,
    /// Events that were dropped because the buffer was full.
    pub no_room: u64,
    /// How often the kernel skipped the program because it was already running.
    pub not_run: u64,
    /// Threads that were not followed, because there were too many.
    pub threads_not_followed: u64,
    /// Tracepoints that this kernel lacks, with what is missing without them.
    pub missing: Vec<&'static str>,
}

impl Losses {
    /// Events that were sent but never arrived, whatever the counters of the buffer say.
    pub fn vanished(&self) -> u64 {
        self.sent.saturating_sub(self.received)
    }
}
