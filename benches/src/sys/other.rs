//! Platforms without bare loops.

use crate::Reason;

pub(super) fn bare_loop(_clock: &str) -> Option<fn(u64) -> i64> {
    None
}

pub(super) fn thread_cpu_ns() -> Option<u64> {
    None
}

pub(super) fn periodic_lateness_ns(_interval_ns: i64, _count: usize) -> Result<Vec<i64>, Reason> {
    Err("no bare periodic loop on this platform".to_owned())
}
