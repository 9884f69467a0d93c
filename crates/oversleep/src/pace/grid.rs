//! Deadlines on a grid. Pure arithmetic.

use crate::clock::Instant;

/// `start + k × seconds_ns / per_second` in exact integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Grid {
    pub(super) start_ns: u64,
    /// The period is `span_ns / parts` nanoseconds.
    pub(super) span_ns: u64,
    pub(super) parts: u64,
}

impl Grid {
    pub(super) fn deadline(&self, period: u64) -> Instant {
        // The product of two 64-bit numbers leaves room in 128 bits to add two more of them.
        let offset_ns = u128::from(period) * u128::from(self.span_ns) / u128::from(self.parts);
        Instant::from_nanos(u64::try_from(u128::from(self.start_ns) + offset_ns).unwrap_or(u64::MAX))
    }

    /// The latest period that is due at `now`, or `None` before the start.
    pub(super) fn latest(&self, now: Instant) -> Option<u64> {
        let since_ns = now.as_nanos().checked_sub(self.start_ns)?;
        // The largest k with floor(k × span / parts) ≤ since.
        let bound = (u128::from(since_ns) + 1) * u128::from(self.parts);
        Some(u64::try_from((bound - 1) / u128::from(self.span_ns)).unwrap_or(u64::MAX))
    }
}
