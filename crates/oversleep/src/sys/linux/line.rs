//! Linux: `CLOCK_MONOTONIC` as a time line that goes on in another time namespace.
//!
//! A time namespace adds a constant to `CLOCK_MONOTONIC` and `CLOCK_MONOTONIC_RAW`. A process enters one as a forked
//! child, or by `setns` ([time_namespaces](https://man7.org/linux/man-pages/man7/time_namespaces.7.html)). If that takes
//! the clock back, deadlines that were computed before lie far in the future. So what the clock lost is added from then
//! on, and subtracted from the deadline of each wait.
//!
//! Otherwise this clock never goes back, so a reading below an earlier one shows the change. How much time passed between
//! the two is learned from `CLOCK_REALTIME`, which namespaces leave alone. Around a fork that shows a change in either
//! direction.

use std::sync::atomic::{AtomicU64, Ordering};

/// What the clock has lost; negative, as a wrapped number, if it has gained.
static LOST_NS: AtomicU64 = AtomicU64::new(0);
/// The latest time that was noted, on the time line, and `CLOCK_REALTIME` at that moment.
static NOTED_NS: AtomicU64 = AtomicU64::new(0);
static NOTED_REAL_NS: AtomicU64 = AtomicU64::new(0);

/// The time is noted once per this time. A shorter step back isn't noticed.
const GRAIN_NS: u64 = 1_000_000;

/// Nanoseconds on the time line.
pub(crate) fn monotonic_ns() -> u64 {
    let ns = kernel_ns().wrapping_add(LOST_NS.load(Ordering::Relaxed));
    // One comparison for both: a time before the noted one wraps.
    if ns.wrapping_sub(NOTED_NS.load(Ordering::Relaxed)) < GRAIN_NS { ns } else { noted_ns(ns) }
}

/// Nanoseconds on `CLOCK_MONOTONIC_RAW`, which nobody adjusts, in the same way.
pub(crate) fn steady_ns() -> u64 {
    clock_ns(libc::CLOCK_MONOTONIC_RAW).wrapping_add(LOST_NS.load(Ordering::Relaxed))
}

/// The time on `CLOCK_MONOTONIC` for a time on the time line.
pub(super) fn of_kernel_ns(ns: u64) -> u64 {
    let lost_ns = LOST_NS.load(Ordering::Relaxed) as i64;
    if lost_ns < 0 { ns.saturating_add(lost_ns.unsigned_abs()) } else { ns.saturating_sub(lost_ns.unsigned_abs()) }
}

fn kernel_ns() -> u64 {
    clock_ns(libc::CLOCK_MONOTONIC)
}

/// Notes the time before a fork, so that the child knows how much its clock changed.
pub(crate) extern "C" fn before_fork() {
    note(monotonic_ns());
}

/// Continues the time line in a forked child.
pub(crate) fn after_fork() {
    let ns = kernel_ns().wrapping_add(LOST_NS.load(Ordering::Relaxed));
    let lost_ns = lost_ns(ns);
    if lost_ns.unsigned_abs() >= GRAIN_NS {
        LOST_NS.fetch_add(lost_ns as u64, Ordering::Relaxed);
    }
}

#[cold]
fn noted_ns(ns: u64) -> u64 {
    let noted_ns = NOTED_NS.load(Ordering::Acquire);
    if ns >= noted_ns {
        note(ns);
        return ns;
    }
    if noted_ns - ns < GRAIN_NS {
        // Another thread noted its time after this one was read.
        return ns;
    }
    let before_ns = LOST_NS.load(Ordering::Relaxed);
    // Another thread may have added it already.
    let ns = kernel_ns().wrapping_add(before_ns);
    if ns >= noted_ns {
        return ns;
    }
    let after_ns = before_ns.wrapping_add(lost_ns(ns).max(0) as u64);
    let added = LOST_NS.compare_exchange(before_ns, after_ns, Ordering::Relaxed, Ordering::Relaxed);
    kernel_ns().wrapping_add(added.map_or_else(|by_another| by_another, |_| after_ns))
}

/// How much less the clock advanced to `ns` since the noted time than the wall clock did.
fn lost_ns(ns: u64) -> i64 {
    let real_ns = clock_ns(libc::CLOCK_REALTIME).saturating_sub(NOTED_REAL_NS.load(Ordering::Relaxed));
    NOTED_NS.load(Ordering::Relaxed).wrapping_add(real_ns).wrapping_sub(ns) as i64
}

fn note(ns: u64) {
    let real_ns = clock_ns(libc::CLOCK_REALTIME);
    if NOTED_NS.fetch_max(ns, Ordering::Release) < ns {
        NOTED_REAL_NS.store(real_ns, Ordering::Relaxed);
    }
}

pub(super) fn clock_ns(id: libc::clockid_t) -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `now` is a valid timespec for the kernel to fill.
    // https://man7.org/linux/man-pages/man2/clock_gettime.2.html
    // The call fails only for an unknown clock: before Linux 2.6.39 CLOCK_BOOTTIME doesn't exist, and the result is 0.
    unsafe { libc::clock_gettime(id, &raw mut now) };
    // Both clocks count up from boot, so neither field is negative.
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}
