//! The clocks that Rust's standard library offers.

use std::sync::OnceLock;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use crate::fn_clock::{FnClock, Read};

/// An instant has no number, so the value counts from the first read.
static ORIGIN: OnceLock<Instant> = OnceLock::new();

/// Nanoseconds since the first read.
pub(super) fn elapsed_ns() -> u64 {
    let now = Instant::now();
    now.saturating_duration_since(*ORIGIN.get_or_init(|| now)).as_nanos() as u64
}

/// Nanoseconds since 1970; 0 where the clock is set before that.
fn unix_ns() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as u64)
}

pub(super) const READS: &[Read] = &[
    ("std-instant", |info| FnClock::new(info, elapsed_ns).boxed()),
    ("std-systemtime", |info| FnClock::new(info, unix_ns).boxed()),
];
