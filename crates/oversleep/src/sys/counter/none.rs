//! An architecture whose counter this crate doesn't know. The clock never reads it.

use crate::clock::Source;

/// The counter of this architecture.
pub(crate) const COUNTER: Option<Source> = None;

/// How often a reading may repeat the last one of its thread before the counter is suspected to have stopped.
pub(crate) const REPEATS_MAX: u32 = 8;

pub(crate) fn ticks() -> u64 {
    0
}

pub(crate) fn ticks_ordered() -> u64 {
    0
}

pub(crate) fn is_invariant() -> bool {
    false
}

pub(crate) fn is_virtual() -> bool {
    false
}
