//! What one thread has seen of the clock: the line that it examined, and the latest time that it was given.

use std::cell::Cell;

use crate::sys::counter;

/// One thread's view. It is thread-local, so a signal handler shares it with the thread it interrupted: each field is
/// right on its own, whatever happened between two accesses.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    sequence: Cell<u64>,
    ns: Cell<u64>,
    /// The time that was repeated last, and how often.
    repeated_ns: Cell<u64>,
    repeats: Cell<u32>,
}

impl Seen {
    pub(crate) const fn new() -> Self {
        Self { sequence: Cell::new(0), ns: Cell::new(0), repeated_ns: Cell::new(0), repeats: Cell::new(0) }
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

    /// Whether `ns` may be given to this thread: it is above the last one, or equal to it and that hasn't happened too
    /// often. A counter that has stopped repeats itself for ever; a coarse one does so between two ticks.
    #[inline]
    pub(crate) fn advance(&self, ns: u64) -> bool {
        if ns > self.ns.get() {
            self.ns.set(ns);
            return true;
        }
        ns == self.ns.get() && self.repeat(ns)
    }

    fn repeat(&self, ns: u64) -> bool {
        let before = if self.repeated_ns.replace(ns) == ns { self.repeats.get() } else { 0 };
        self.repeats.set(before + 1);
        self.repeats.get() < counter::REPEATS_MAX
    }

    /// Notes that the line of this number was examined.
    pub(crate) fn examined(&self, sequence: u64) {
        self.sequence.set(sequence);
        self.repeats.set(0);
    }

    /// Forgets everything.
    #[cfg(test)]
    pub(crate) fn forget(&self) {
        self.examined(0);
        self.ns.set(0);
    }

    /// The later of `ns` and what this thread was given before.
    pub(crate) fn raised(&self, ns: u64) -> u64 {
        self.ns.set(self.ns.get().max(ns));
        self.ns.get()
    }
}
