//! The clock as one thread has seen it: the line that it examined, and the latest time that it was given.

use std::cell::Cell;
use std::sync::atomic::{Ordering, compiler_fence};

use super::servo::Line;
use crate::sys::counter;

/// One thread's view. It is thread-local, so a signal handler shares it with the thread it interrupted: each field is
/// right on its own, whatever happened between two accesses.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    sequence: Cell<u64>,
    /// Ticks from the start of that line to the latest time. Comparing ticks takes no time, because the processor does it
    /// while it reads the counter again; comparing nanoseconds cost 0.6 ns on an EPYC.
    since: Cell<u64>,
    ns: Cell<u64>,
    /// The lower half of the ticks that were repeated last, and how often they were.
    repeated: Cell<u32>,
    repeats: Cell<u32>,
}

impl Seen {
    pub(crate) const fn new() -> Self {
        let (repeated, repeats) = (Cell::new(0), Cell::new(0));
        Self { sequence: Cell::new(0), since: Cell::new(0), ns: Cell::new(0), repeated, repeats }
    }

    /// The number of the line that this thread has examined; 0 for none.
    #[inline]
    pub(crate) fn sequence(&self) -> u64 {
        self.sequence.get()
    }

    /// The latest time that this thread was given.
    #[inline]
    pub(crate) fn ns(&self) -> u64 {
        self.ns.get()
    }

    /// Whether this thread may be given `ns`, which is `since` ticks after the start of its line. It may if `ns` is
    /// above the last time, or equal to it and that hasn't happened too often: a counter that has stopped repeats
    /// itself forever, a coarse one between two ticks.
    #[inline]
    pub(crate) fn advance(&self, since: u64, ns: u64) -> bool {
        if since <= self.since.get() && !self.repeat(since) {
            return false;
        }
        self.since.set(since);
        self.ns.set(ns);
        true
    }

    #[cold]
    fn repeat(&self, since: u64) -> bool {
        if since != self.since.get() {
            return false;
        }
        let before = if self.repeated.replace(since as u32) == since as u32 { self.repeats.get() } else { 0 };
        self.repeats.set(before + 1);
        self.repeats.get() < counter::REPEATS_MAX
    }

    /// Notes that this thread has examined the line. From now on, the line gives it nothing below its latest time.
    pub(crate) fn examined(&self, sequence: u64, line: &Line) {
        self.since.set(line.since(self.ns.get()));
        self.repeats.set(0);
        // A signal handler that comes between the two finds the former number, which is no longer the current one, or
        // belongs to the same line.
        compiler_fence(Ordering::SeqCst);
        self.sequence.set(sequence);
    }

    /// Notes that there is no line.
    pub(crate) fn without_a_line(&self) {
        self.sequence.set(0);
    }

    /// Forgets everything.
    #[cfg(any(test, feature = "fault-injection"))]
    pub(crate) fn forget(&self) {
        self.without_a_line();
        self.ns.set(0);
    }

    /// The later of `ns` and what this thread was given before.
    pub(crate) fn raised(&self, ns: u64) -> u64 {
        self.ns.set(self.ns.get().max(ns));
        self.ns.get()
    }

    /// Raises the floor of the line with this number, if it is the examined one, to the latest time of this thread.
    pub(crate) fn raise(&self, sequence: u64, line: &Line) {
        if self.sequence.get() == sequence {
            self.since.set(self.since.get().max(line.since(self.ns.get())));
        }
    }
}
