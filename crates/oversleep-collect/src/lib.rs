//! Collects the events of timed waits from the kernel: it loads a program into the kernel, tells it which processes to
//! follow, and reads the events that arrive. `oversleep-why` interprets them.
//!
//! Supports Linux, and Windows by its documentation only. On any other system, opening a collector fails.
//!
//! The kernel program (`oversleep-collect/bpf/why.bpf.c`, a header for each stage in `bpf/why/`) filters by process and
//! copies one event of 88 bytes for each step of a wait, with the times that only the kernel has. As long as a wait takes
//! its usual course, its steps stay in the kernel and are sent as one record when the call returns; `linux/whole.rs`
//! turns it into the same events. The program finds fields by the running kernel's type information (CO-RE), so one
//! object serves every kernel and processor; call numbers come from a table in Rust. Whatever the call, a wait begins
//! when it arms a timer on its thread's kernel stack; independent timers (timerfd, POSIX timers) begin one when they fire
//! and wake a thread. 32-bit programs on x86-64 have call numbers of their own (`compat` in the table). Ids are those of
//! oversleep's own PID namespace: outside the initial one, the kernel program sends them along and `namespace.rs`
//! substitutes them.
//!
//! Between the waits of a thread, the kernel program sums up what held it up (`bpf/why/between.h`): one record for each
//! period, and one for each longer time without a CPU, with who woke the thread. `machine/between.rs` names who ran and
//! which call it slept in; `builder/periods.rs` sums the parts up by thread, and each group of waits takes the difference
//! to its last wait.
//!
//! With `--stacks`, the kernel program notes where each wait goes to sleep, and sends the call stacks of those that end
//! as late as the worst ones so far. While the program runs, only the file of each address is noted
//! (`oversleep-collect/src/linux/symbols/`), because the memory map is gone when it ends; names are looked up at the end
//! and follow as events, so a recording has them, too.
//!
//! The object is committed, so building needs no clang. `cargo xtask bpf` compiles it, and `--check` compares source and
//! object. `cargo prove why-truth` burns a known time at each stage and checks that the right part shows it; it also
//! makes every call that waits, and stops, migrates and delays programs, to check each cause. `cargo prove why-cost`
//! measures the cost of following.
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

use oversleep_why::Event;

pub use error::CollectError;
pub use sys::{Collector, named};

impl Collector {
    /// Appends everything that has arrived to `events`.
    pub fn drain_all(&mut self, events: &mut Vec<Event>, is_last: bool) {
        while self.drain(events, is_last) {}
    }

    /// Passes what has arrived to `each` in batches, so that a flood takes no more memory than one batch. In a flood that
    /// arrives faster than it is read, the caller gets a turn now and then. With `is_last`, the kernel program is stopped
    /// first, and everything is read. `batch` is a buffer for reuse between calls.
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
        in_batches(is_last, || {
            batch.clear();
            let has_more = self.drain(batch, is_last);
            each(batch)?;
            Ok(has_more)
        })
    }
}

/// The most batches between two turns of the caller: about a quarter of a second's work.
const BATCHES_MAX: usize = 16;

/// Repeats `next` while it has more; unless everything is to be read, not without end.
fn in_batches<E>(is_last: bool, mut next: impl FnMut() -> Result<bool, E>) -> Result<(), E> {
    for n in 0.. {
        if !next()? || (!is_last && n + 1 >= BATCHES_MAX) {
            break;
        }
    }
    Ok(())
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
    /// What threads do between their waits: the periods of loops.
    pub periods: bool,
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

#[cfg(test)]
mod tests {
    use super::{BATCHES_MAX, in_batches};

    /// How many batches are read of so many.
    fn read_of(batches: usize, is_last: bool) -> usize {
        let mut read = 0;
        let next = || {
            read += 1;
            Ok::<_, ()>(read < batches)
        };
        in_batches(is_last, next).expect("no batch fails");
        read
    }

    #[test]
    fn a_flood_without_end_leaves_the_caller_a_turn() {
        assert_eq!((read_of(3, false), read_of(3, true)), (3, 3));
        assert_eq!(read_of(usize::MAX, false), BATCHES_MAX);
        assert_eq!(read_of(10 * BATCHES_MAX, true), 10 * BATCHES_MAX, "what came before the end is not lost");
        assert_eq!(in_batches(true, || Err("full")), Err("full"));
    }
}
