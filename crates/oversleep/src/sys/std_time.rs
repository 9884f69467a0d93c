//! Clock and sleep of the standard library.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// Nanoseconds on the standard library's monotonic clock, from one second before the first call.
pub(crate) fn monotonic_ns() -> u64 {
    static FIRST: OnceLock<Instant> = OnceLock::new();
    // The second keeps arithmetic on early instants away from zero.
    1_000_000_000 + u64::try_from(FIRST.get_or_init(Instant::now).elapsed().as_nanos()).unwrap_or(u64::MAX)
}

/// Waits once until `deadline_ns`; may return early.
pub(crate) fn wait_once_until(deadline_ns: u64) {
    std::thread::sleep(Duration::from_nanos(deadline_ns.saturating_sub(monotonic_ns())));
}
