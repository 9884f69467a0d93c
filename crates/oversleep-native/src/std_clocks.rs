//! The clocks that Rust's standard library offers.

use std::sync::OnceLock;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::fn_clock::{FnClock, Read};

/// An `Instant` has no numeric value, so readings count from the first one.
static ORIGIN: OnceLock<Instant> = OnceLock::new();

/// Time since the first read.
fn elapsed() -> Duration {
    let now = Instant::now();
    now.saturating_duration_since(*ORIGIN.get_or_init(|| now))
}

/// Nanoseconds since the first read.
pub(super) fn elapsed_ns() -> u64 {
    elapsed().as_nanos() as u64
}

/// Time since 1970; `None` if the clock is set to an earlier time.
fn since_1970() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

pub(super) const READS: &[Read] = &[
    ("std-instant", |info| FnClock::new(info, elapsed_ns).boxed()),
    ("std-instant-ms", |info| FnClock::new(info, || elapsed().as_millis() as u64).boxed()),
    ("std-systemtime", |info| FnClock::new(info, || since_1970().as_nanos() as u64).boxed()),
    ("std-systemtime-ms", |info| FnClock::new(info, || since_1970().as_millis() as u64).boxed()),
];
