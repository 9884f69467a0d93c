//! The state of the counter's clock where every thread can read it without waiting.
//!
//! A latch: two slots, and a sequence number that says which one is current. A writer fills the other slot and then
//! moves the number, so readers always find a valid line, even while a writer is suspended half way, in a forked child,
//! or in a signal handler that interrupted the writer. Only atomics are used; a torn read is found by the number.
//! A writer that never comes back keeps the others from writing, but from nothing else: a forked child takes its claim
//! back, and the latch can be stopped without one.

use std::sync::atomic::{AtomicU64, Ordering, fence};

use super::scale::{Scale, Slope};
use super::servo::{Line, Pair, State};

/// What a slot takes, in words: two slots share no cache line.
const SLOT: usize = 16;
/// The sequence number's bits that say which slot is current, as the index of its first word: 16 or 32, in turn. As they
/// are in place, and zero without a counter, finding a slot takes the reader one instruction.
const SLOTS: u64 = 0b11_0000;
/// What is added for each line, besides.
const GENERATION: u64 = 0b100_0000;
/// A writer is at work on the slot that isn't current.
const CLAIMED: u64 = 1;
/// The first sequence number that means something.
const FIRST: u64 = GENERATION | SLOT as u64;

/// The sequence number after this one, which is always the larger: the other slot, one generation later.
pub(super) fn following(sequence: u64) -> u64 {
    ((sequence & !CLAIMED) ^ SLOTS).wrapping_add(GENERATION)
}

/// A slot's words. The words a reader needs come first.
#[derive(Clone, Copy)]
struct Slot<'a> {
    words: &'a [AtomicU64; WORDS],
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
        State {
            line: self.line(),
            rate: Scale { factor: self.word(4), shift: self.word(5) as u32 },
            last: pair(6),
            far: pair(8),
            near: pair(10),
            jumps: self.word(12),
            suspended_ns: self.word(13),
        }
    }

    fn store(self, state: &State) {
        let State { line, rate, last, far, near, jumps, suspended_ns } = *state;
        let words: [u64; SLOT] = [
            line.start.ticks,
            line.start.ns,
            line.slope.factor,
            line.window,
            rate.factor,
            u64::from(rate.shift),
            last.ticks,
            last.ns,
            far.ticks,
            far.ns,
            near.ticks,
            near.ns,
            jumps,
            suspended_ns,
            0,
            0,
        ];
        for (word, value) in self.words[self.first..].iter().zip(words) {
            word.store(value, Ordering::Relaxed);
        }
    }
}

/// So many that no index a sequence number can give is outside.
const WORDS: usize = 4 * SLOT;

/// Its sequence number is zero where there is no counter to read. In this layout the slots begin where cache lines do.
#[repr(C, align(128))]
pub(crate) struct Latch {
    /// The two slots, amid words that nobody uses.
    words: [AtomicU64; WORDS],
    sequence: AtomicU64,
}

/// What a reader gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reading {
    /// Nanoseconds.
    Time(u64),
    /// The line is over, or another one came into use meanwhile.
    Over,
    NoCounter,
}

/// A writer's claim on the slot that isn't current.
pub(crate) struct Claim {
    sequence: u64,
}

impl Claim {
    /// The sequence number in effect while the claim holds.
    pub(crate) fn sequence(&self) -> u64 {
        self.sequence | CLAIMED
    }
}

impl Latch {
    pub(crate) const fn new() -> Self {
        Self { words: [const { AtomicU64::new(0) }; WORDS], sequence: AtomicU64::new(0) }
    }

    /// Whether there is a counter to read.
    pub(crate) fn is_started(&self) -> bool {
        self.sequence.load(Ordering::Acquire) != 0
    }

    /// The time by the current line. Whether the line was still in use is looked at last: outside its window that makes no
    /// difference, because the slow way looks again.
    #[inline]
    pub(crate) fn now(&self, read_ticks: impl Fn() -> u64) -> Reading {
        let sequence = self.sequence.load(Ordering::Acquire);
        let slot = self.slot(sequence);
        if slot.first == 0 {
            return Reading::NoCounter;
        }
        // In this order the words are read while the processor is still at work on the counter: 0.4 ns less on a Xeon.
        let ticks = read_ticks();
        let Some(ns) = slot.line().ns_within_window(ticks) else { return Reading::Over };
        // The words are read before the number is read again, which pairs with the store in `publish`: none is of another
        // line. The processor may read the counter after that, when the next line is in use already: that is nowhere below
        // this one within its window.
        fence(Ordering::Acquire);
        if self.sequence.load(Ordering::Relaxed) == sequence { Reading::Time(ns) } else { Reading::Over }
    }

    /// The current line and a counter reading that belongs to it, or `None` without a counter.
    pub(crate) fn line(&self, read_ticks: impl Fn() -> u64) -> Option<(Line, u64)> {
        // The counter first, as in `now`.
        let read = self.settled(|slot| (read_ticks(), slot.line()));
        read.map(|((ticks, line), _)| (line, ticks))
    }

    /// The whole state and the sequence number it belongs to.
    pub(crate) fn state(&self) -> Option<(State, u64)> {
        self.settled(|slot| slot.state())
    }

    /// What `read` makes of the current slot while it stays that, and its sequence number; `None` without a counter.
    fn settled<T>(&self, read: impl Fn(Slot<'_>) -> T) -> Option<(T, u64)> {
        loop {
            let sequence = self.sequence.load(Ordering::Acquire);
            if sequence == 0 {
                return None;
            }
            let seen = read(self.slot(sequence));
            // As in `now`.
            fence(Ordering::Acquire);
            if self.sequence.load(Ordering::Relaxed) == sequence {
                return Some((seen, sequence));
            }
        }
    }

    /// Claims the right to publish what follows the state with this sequence number; one thread at most gets it.
    pub(crate) fn claim(&self, sequence: u64) -> Option<Claim> {
        if sequence & CLAIMED != 0 || sequence == 0 {
            return None;
        }
        let claimed =
            self.sequence.compare_exchange(sequence, sequence | CLAIMED, Ordering::Acquire, Ordering::Relaxed);
        claimed.ok().map(|_| Claim { sequence })
    }

    /// Fills the slot that isn't current; readers don't see it yet.
    pub(crate) fn fill(&self, claim: &Claim, state: &State) {
        if self.sequence.load(Ordering::Relaxed) != claim.sequence() {
            // It was taken back, or the latch was stopped: the slot belongs to somebody else by now.
            return;
        }
        // Readers that see one of these words also see the claim's number, and so never accept a mixture.
        fence(Ordering::Release);
        self.slot(following(claim.sequence)).store(state);
    }

    /// Makes the filled slot the current one, unless the claim doesn't hold any more.
    pub(crate) fn publish(&self, claim: Claim) {
        let next = following(claim.sequence);
        let _ = self.sequence.compare_exchange(claim.sequence(), next, Ordering::Release, Ordering::Relaxed);
    }

    /// The first state. For one thread, once: nobody reads a slot while the number is 0.
    pub(crate) fn start(&self, state: &State) {
        debug_assert_eq!(self.sequence.load(Ordering::Relaxed), 0, "it was started before");
        self.slot(FIRST).store(state);
        self.sequence.store(FIRST, Ordering::Release);
    }

    /// Takes the counter out of use for good, if this sequence number is still in effect. That takes no claim: whoever
    /// has one publishes nothing any more.
    pub(crate) fn stop(&self, sequence: u64) -> bool {
        self.sequence.compare_exchange(sequence, 0, Ordering::Release, Ordering::Relaxed).is_ok()
    }

    /// Takes back the claim of a thread that doesn't exist in this process, for a forked child: a fork copies the memory
    /// and the calling thread alone. A signal handler that forks within the 20 ns in which its own thread fills a slot,
    /// and whose child draws lines before the handler returns, isn't provided for.
    pub(crate) fn take_back_claim(&self) {
        self.sequence.fetch_and(!CLAIMED, Ordering::Relaxed);
    }

    #[inline]
    fn slot(&self, sequence: u64) -> Slot<'_> {
        Slot { words: &self.words, first: (sequence & SLOTS) as usize }
    }
}

#[cfg(test)]
#[path = "latch_tests.rs"]
mod tests;
