//! The atomics of the latch. `cargo prove loom` replaces them to explore every interleaving of the threads.

#[cfg(loom_latch)]
pub(crate) use self::modelled::AtomicU64;
#[cfg(loom_latch)]
pub(crate) use loom::sync::atomic::{AtomicU64 as Word, Ordering, fence};
/// A word of a slot, for everything except the numbers that assign slots to writers.
#[cfg(not(loom_latch))]
pub(crate) use std::sync::atomic::AtomicU64 as Word;
#[cfg(not(loom_latch))]
pub(crate) use std::sync::atomic::{AtomicU64, Ordering, fence};

#[cfg(loom_latch)]
mod modelled {
    use super::{Ordering, Word};

    /// An atomic whose loads are exchanges for loom. Loom remembers one access per atomic, so it would not explore the
    /// orders of a load against the exchange of a thread that has loaded the same atomic before.
    pub(crate) struct AtomicU64(Word);

    impl AtomicU64 {
        pub(crate) fn new(value: u64) -> Self {
            Self(Word::new(value))
        }

        pub(crate) fn load(&self, ordering: Ordering) -> u64 {
            self.0.fetch_or(0, ordering)
        }

        pub(crate) fn store(&self, value: u64, ordering: Ordering) {
            self.0.store(value, ordering);
        }

        pub(crate) fn fetch_and(&self, value: u64, ordering: Ordering) -> u64 {
            self.0.fetch_and(value, ordering)
        }

        pub(crate) fn compare_exchange(
            &self,
            current: u64,
            new: u64,
            success: Ordering,
            failure: Ordering,
        ) -> Result<u64, u64> {
            self.0.compare_exchange(current, new, success, failure)
        }
    }
}
