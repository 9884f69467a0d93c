//! The token of a [`Parker`](super::Parker): at most one, left by any thread, taken by the one that parks.
//!
//! The word has three values. Parking subtracts one, so a token is taken, and an empty word becomes a parked one.
//! Unparking stores the token whatever the value was, and wakes the thread only if it was parked. It is the protocol of
//! the standard library's parker on futexes. `tests/loom.rs` checks every interleaving.

use std::sync::atomic::Ordering::{Acquire, Release};

use super::Word;

const EMPTY: u32 = 0;
const TOKEN: u32 = 1;
const PARKED: u32 = u32::MAX;

#[derive(Debug)]
pub(crate) struct Token {
    word: Word,
}

impl Token {
    pub(crate) fn new() -> Self {
        Self { word: Word::new(EMPTY) }
    }

    /// Takes the token; waits for one if there is none.
    pub(crate) fn take(&self) {
        if self.word.value.fetch_sub(1, Acquire) == TOKEN {
            return;
        }
        loop {
            self.word.wait(PARKED, None);
            if self.word.value.compare_exchange(TOKEN, EMPTY, Acquire, Acquire).is_ok() {
                return;
            }
        }
    }

    /// Takes the token if there is one when `wait` returns. `wait` is called only if there is none yet, with the word
    /// and its value while it is empty.
    pub(crate) fn take_after(&self, wait: impl FnOnce(&Word, u32)) -> bool {
        if self.word.value.fetch_sub(1, Acquire) == TOKEN {
            return true;
        }
        wait(&self.word, PARKED);
        self.word.value.swap(EMPTY, Acquire) == TOKEN
    }

    /// Leaves a token, and wakes the thread that waits for it.
    pub(crate) fn leave(&self) {
        if self.word.value.swap(TOKEN, Release) == PARKED {
            self.word.wake_one();
        }
    }
}
