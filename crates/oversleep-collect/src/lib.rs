//! Collects the events of timed waits from the kernel: it loads a program into the kernel, says whom to follow, and reads
//! what arrives. What the events mean is decided by `oversleep-why`.
//!
//! Linux, and Windows by its documentation only. Everywhere else opening a collector says so.
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
    /// Reads everything that arrived into `events`.
    pub fn drain_all(&mut self, events: &mut Vec<Event>, is_last: bool) {
        while self.drain(events, is_last) {}
    }

    /// Hands everything that arrived to `each`, a batch at a time, so that a flood takes no more memory than a batch. The
    /// last look stops the kernel program first. `batch` is only room, to be used again for the next look.
    ///
    /// # Errors
    /// What `each` returns; the rest is not read.
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
