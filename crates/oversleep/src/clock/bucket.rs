//! A leaky bucket that detects small events which occur too often. One word, shared by all threads.

use std::sync::atomic::{AtomicU64, Ordering};

/// The number of events that the bucket holds. One more overflows it.
pub(crate) const CAPACITY: u64 = 4;
/// One event leaks out per this time.
pub(crate) const LEAK_MS: u64 = 10_000;
/// The low bits hold the level, the others the time of the last leak, in milliseconds.
const LEVEL_BITS: u32 = 8;

/// The bucket.
#[derive(Debug)]
pub(crate) struct Bucket(AtomicU64);

impl Bucket {
    pub(crate) const fn new() -> Self {
        Self(AtomicU64::new(0))
    }

    /// Adds an event at `now_ns`. True if the bucket overflows.
    pub(crate) fn add(&self, now_ns: u64) -> bool {
        let now_ms = now_ns / 1_000_000;
        let filled = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |word| Some(filled(word, now_ms)));
        let before = filled.unwrap_or_default();
        self::filled(before, now_ms) & level_mask() > CAPACITY
    }
}

const fn level_mask() -> u64 {
    (1 << LEVEL_BITS) - 1
}

/// The word after one more event.
fn filled(word: u64, now_ms: u64) -> u64 {
    let (level, since_ms) = (word & level_mask(), word >> LEVEL_BITS);
    let leaked = now_ms.saturating_sub(since_ms) / LEAK_MS;
    let left = level.saturating_sub(leaked);
    // A leak that is under way continues; an empty bucket begins to leak with this event.
    let since_ms = if left == 0 { now_ms } else { since_ms + leaked * LEAK_MS };
    (left + 1).min(level_mask()) | since_ms << LEVEL_BITS
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: u64 = 1_000_000_000;

    #[test]
    fn a_burst_overflows() {
        let bucket = Bucket::new();
        let overflows: Vec<_> = (0..6).map(|n| bucket.add(100 * S + n)).collect();
        assert_eq!(overflows, [false, false, false, false, true, true]);
    }

    #[test]
    fn rare_events_leak_out() {
        let bucket = Bucket::new();
        assert!((0..1_000).all(|n| !bucket.add(n * 10 * S)));
        // Events that are slightly more frequent than the leak fill the bucket eventually.
        let bucket = Bucket::new();
        assert_eq!((0..1_000).position(|n| bucket.add(n * 8 * S)), Some(16));
    }

    #[test]
    fn a_clock_that_stands_still_does_not_leak() {
        let bucket = Bucket::new();
        assert_eq!((0..9).position(|_| bucket.add(0)), Some(4));
    }
}
