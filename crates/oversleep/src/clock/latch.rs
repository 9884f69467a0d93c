//! The state of the counter's clock, readable by every thread without waiting.
//!
//! Several slots, and a sequence number that says which one is current. A writer takes a free slot, fills it, and then
//! exchanges the number. So readers always find a valid line: while a writer is preempted, in a forked child, and in a
//! signal handler that interrupted the writer. Only atomics are used, and the number reveals a torn read.
//!
//! Two writers never share a slot, and only one of them can exchange a given number. So a writer that is stopped between
//! any two instructions, even for good, costs one slot and no other writer has to wait for it.

use super::atomic::{AtomicU64, Ordering, Word, fence};
use super::scale::{Scale, Slope};
use super::seen::Seen;
use super::servo::{Line, Pair, State, Track};

/// The size of a slot in words, such that two slots share no cache line.
const SLOT: usize = 32;
/// The bits of the sequence number that say which slot is current, as the index of its first word. They need no shift,
/// and are zero without a counter, so finding a slot takes one instruction.
const SLOTS: u64 = 0b1110_0000;
/// Added for each line, so that the sequence number grows.
const GENERATION: u64 = 0b1_0000_0000;
/// The first valid sequence number.
pub(crate) const FIRST: u64 = GENERATION | SLOT as u64;
/// Enough words for every index that a sequence number can hold.
const WORDS: usize = (SLOTS as usize) + SLOT;
/// How many slots a sequence number can name. Number 0 isn't used.
const NUMBERS: usize = WORDS / SLOT;

/// The sequence number after `sequence` for a line in the slot of this number.
fn following(sequence: u64, number: usize) -> u64 {
    (sequence & !SLOTS).wrapping_add(GENERATION) | (number * SLOT) as u64
}

/// The words of a slot. Those that a reader needs come first.
#[derive(Clone, Copy)]
struct Slot<'a> {
    words: &'a [Word; WORDS],
    first: usize,
}

impl Slot<'_> {
    #[inline]
    fn word(self, index: usize) -> u64 {
        self.words[self.first + index].load(Ordering::Relaxed)
    }

    #[inline]
    fn line(self) -> Line {
        Line {
            start: Pair { ticks: self.word(0), ns: self.word(1) },
            slope: Slope { factor: self.word(2) },
            window: self.word(3),
        }
    }

    fn state(self) -> State {
        let pair = |index| Pair { ticks: self.word(index), ns: self.word(index + 1) };
        let track = |index| Track {
            rate: Scale { factor: self.word(index), shift: self.word(index + 1) as u32 },
            last: pair(index + 2),
            far: pair(index + 4),
            near: pair(index + 6),
        };
        State {
            line: self.line(),
            track: track(4),
            steady: track(12),
            suspended_ns: self.word(20),
            cpu: self.word(21) as u32,
            width_ns: self.word(22),
        }
    }

    fn store(self, state: &State) {
        let State { line, track, steady, suspended_ns, cpu, width_ns } = *state;
        let of = |track: Track| {
            let Track { rate, last, far, near } = track;
            [rate.factor, rate.shift.into(), last.ticks, last.ns, far.ticks, far.ns, near.ticks, near.ns]
        };
        let line = [line.start.ticks, line.start.ns, line.slope.factor, line.window];
        let values = line.into_iter().chain(of(track)).chain(of(steady)).chain([suspended_ns, cpu.into(), width_ns]);
        for (word, value) in self.words[self.first..].iter().zip(values) {
            word.store(value, Ordering::Relaxed);
        }
    }
}

/// The latch. Its sequence number is zero without a counter. The layout aligns the slots with cache lines.
#[repr(C, align(128))]
pub(crate) struct Latch {
    /// The slots, after unused words.
    words: [Word; WORDS],
    sequence: AtomicU64,
    /// Which slots a writer has taken: one bit each.
    taken: AtomicU64,
}

/// The result of a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reading {
    /// Nanoseconds.
    Time(u64),
    /// The line has ended, another one is in use, or this thread hasn't examined it yet.
    Over,
    /// The line gives a time that isn't above the last one of this thread.
    Odd,
    NoCounter,
}

/// A slot that one writer has taken, to follow the state with this sequence number.
pub(crate) struct Draft {
    sequence: u64,
    number: usize,
}

impl Latch {
    #[cfg(not(loom_latch))]
    pub(crate) const fn new() -> Self {
        Self { words: [const { Word::new(0) }; WORDS], sequence: AtomicU64::new(0), taken: AtomicU64::new(0) }
    }

    #[cfg(loom_latch)]
    pub(crate) fn new() -> Self {
        Self { words: std::array::from_fn(|_| Word::new(0)), sequence: AtomicU64::new(0), taken: AtomicU64::new(0) }
    }

    /// Whether there is a counter to read.
    pub(crate) fn is_started(&self) -> bool {
        self.sequence.load(Ordering::Acquire) != 0
    }

    /// The time by the line that this thread has examined, if that is still the current one.
    ///
    /// The thread's own copy of the sequence number stands in for the first load of a sequence lock, so examining each
    /// line once per thread adds nothing to a read.
    #[inline]
    pub(crate) fn now(&self, seen: &Seen, read_ticks: impl FnOnce() -> u64) -> Reading {
        let sequence = seen.sequence();
        let slot = self.slot(sequence);
        if slot.first == 0 {
            return Reading::NoCounter;
        }
        // In this order the processor loads the words while it still reads the counter, which saves 0.4 ns on a Xeon.
        let ticks = read_ticks();
        let line = slot.line();
        let Some(since) = line.since_start(ticks) else { return Reading::Over };
        // The fence orders the words before the load of the number, which pairs with the store in `publish`, so all
        // words are of one line. If the counter is read even later, the next line is never below this one.
        fence(Ordering::Acquire);
        if self.sequence.load(Ordering::Relaxed) != sequence {
            return Reading::Over;
        }
        let ns = line.ns_after(since);
        if seen.advance(since, ns) { Reading::Time(ns) } else { Reading::Odd }
    }

    /// The current line, a counter reading that belongs to it, and its sequence number; `None` without a counter.
    pub(crate) fn line(&self, read_ticks: impl Fn() -> u64) -> Option<(Line, u64, u64)> {
        // The counter is read first, as in `now`.
        let read = self.consistent(|slot| (read_ticks(), slot.line()));
        read.map(|((ticks, line), sequence)| (line, ticks, sequence))
    }

    /// The whole state and its sequence number; `None` without a counter.
    pub(crate) fn state(&self) -> Option<(State, u64)> {
        self.consistent(|slot| slot.state())
    }

    /// A consistent read of the current slot, and its sequence number; `None` without a counter.
    fn consistent<T>(&self, read: impl Fn(Slot<'_>) -> T) -> Option<(T, u64)> {
        loop {
            let sequence = self.sequence.load(Ordering::Acquire);
            if sequence == 0 {
                return None;
            }
            let value = read(self.slot(sequence));
            // As in `now`.
            fence(Ordering::Acquire);
            if self.sequence.load(Ordering::Relaxed) == sequence {
                return Some((value, sequence));
            }
        }
    }

    /// Takes a free slot for the state after this sequence number; `None` if writers that never returned hold all.
    pub(crate) fn draft(&self, sequence: u64) -> Option<Draft> {
        let current = self.slot(sequence).first / SLOT;
        let is_free = |taken: u64, number: &usize| *number != current && taken >> number & 1 == 0;
        let mut taken = self.taken.load(Ordering::Relaxed);
        loop {
            let number = (1..NUMBERS).find(|number| is_free(taken, number))?;
            // Acquire pairs with the release of the slot's last writer. If `sequence` is no longer current, the slot may
            // be: then `fill` writes nothing.
            match self.taken.compare_exchange(taken, taken | 1 << number, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => return Some(Draft { sequence, number }),
                Err(now) => taken = now,
            }
        }
    }

    /// Fills the draft's slot. Readers don't see it yet.
    pub(crate) fn fill(&self, draft: &Draft, state: &State) {
        if self.sequence.load(Ordering::Acquire) != draft.sequence {
            // Another writer was faster, and the slot may be current. It can't become current later, because this writer
            // holds it.
            return;
        }
        // A reader that sees one of these words also sees a sequence number after the one under which it read the slot.
        fence(Ordering::Release);
        self.slot((draft.number * SLOT) as u64).store(state);
    }

    /// Makes the filled slot current and returns its sequence number; `None` if another writer was faster or the latch was
    /// stopped.
    pub(crate) fn publish(&self, draft: Draft) -> Option<u64> {
        let next = following(draft.sequence, draft.number);
        let exchanged =
            self.sequence.compare_exchange(draft.sequence, next, Ordering::Release, Ordering::Relaxed).is_ok();
        self.give_back(draft);
        exchanged.then_some(next)
    }

    /// Gives the slot back without making it current.
    pub(crate) fn give_back(&self, draft: Draft) {
        self.taken.fetch_and(!(1 << draft.number), Ordering::Release);
    }

    /// Stores the first state. Only one thread may call it, once; slots aren't read while the number is 0.
    pub(crate) fn start(&self, state: &State) {
        debug_assert_eq!(self.sequence.load(Ordering::Relaxed), 0, "the latch was already started");
        self.slot(FIRST).store(state);
        self.sequence.store(FIRST, Ordering::Release);
    }

    /// Takes the counter out of use for good, if this sequence number is still current.
    pub(crate) fn stop(&self, sequence: u64) -> bool {
        self.sequence.compare_exchange(sequence, 0, Ordering::Release, Ordering::Relaxed).is_ok()
    }

    /// Frees the slots of threads that don't exist in a forked child, which has only the thread that forked.
    ///
    /// One case isn't handled: a signal handler forks within the 20 ns in which its own thread fills a slot, and the
    /// child draws lines before the handler returns.
    pub(crate) fn free_slots(&self) {
        self.taken.store(0, Ordering::Relaxed);
    }

    #[inline]
    fn slot(&self, sequence: u64) -> Slot<'_> {
        Slot { words: &self.words, first: (sequence & SLOTS) as usize }
    }
}

#[cfg(all(test, not(loom_latch)))]
#[path = "latch_tests.rs"]
mod tests;
