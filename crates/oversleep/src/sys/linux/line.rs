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

/// The time is noted once per this time. A shorter step back isn't noticed.
const GRAIN_NS: u64 = 1_000_000;
/// How close two readings must be to count as simultaneous, and how often to try.
const PAIR_NS: u64 = 20_000;
const PAIR_TRIES: u32 = 16;

/// The kernel's clocks; tests replace them.
trait Clocks {
    fn monotonic_ns(&self) -> u64;
    /// A clock that namespaces leave alone.
    fn real_ns(&self) -> u64;
}

struct Kernel;

impl Clocks for Kernel {
    fn monotonic_ns(&self) -> u64 {
        clock_ns(libc::CLOCK_MONOTONIC)
    }

    fn real_ns(&self) -> u64 {
        clock_ns(libc::CLOCK_REALTIME)
    }
}

/// A time line, with the state that is needed to continue it.
struct TimeLine<C> {
    clocks: C,
    /// How much the clock has lost; a gain is negative, as a wrapped number.
    lost_ns: AtomicU64,
    /// The latest time that was noted, on the time line.
    noted_ns: AtomicU64,
    /// How far the other clock was ahead at that time. It hardly changes, so that it fits any note.
    ahead_ns: AtomicU64,
}

static LINE: TimeLine<Kernel> = TimeLine::new(Kernel);

/// Nanoseconds on the time line.
pub(crate) fn monotonic_ns() -> u64 {
    LINE.now_ns()
}

/// Nanoseconds on `CLOCK_MONOTONIC_RAW`, which nobody adjusts, in the same way.
pub(crate) fn steady_ns() -> u64 {
    clock_ns(libc::CLOCK_MONOTONIC_RAW).wrapping_add(LINE.lost_ns.load(Ordering::Relaxed))
}

/// The time on `CLOCK_MONOTONIC` for a time on the time line.
pub(super) fn of_kernel_ns(ns: u64) -> u64 {
    LINE.of_kernel_ns(ns)
}

/// Notes the time before a fork, so that the child knows how much its clock changed.
pub(crate) extern "C" fn before_fork() {
    LINE.note();
}

/// Continues the time line in a forked child.
pub(crate) fn after_fork() {
    LINE.after_fork();
}

impl<C: Clocks> TimeLine<C> {
    const fn new(clocks: C) -> Self {
        let [lost_ns, noted_ns, ahead_ns] = [const { AtomicU64::new(0) }; 3];
        Self { clocks, lost_ns, noted_ns, ahead_ns }
    }

    #[inline]
    fn now_ns(&self) -> u64 {
        let ns = self.clocks.monotonic_ns().wrapping_add(self.lost_ns.load(Ordering::Relaxed));
        // One comparison for both: a time before the noted one wraps.
        if ns.wrapping_sub(self.noted_ns.load(Ordering::Relaxed)) < GRAIN_NS { ns } else { self.with_note_ns(ns) }
    }

    fn of_kernel_ns(&self, ns: u64) -> u64 {
        let lost_ns = self.lost_ns.load(Ordering::Relaxed) as i64;
        if lost_ns < 0 { ns.saturating_add(lost_ns.unsigned_abs()) } else { ns.saturating_sub(lost_ns.unsigned_abs()) }
    }

    fn after_fork(&self) {
        let lost_ns = self.newly_lost_ns(self.lost_ns.load(Ordering::Relaxed));
        if lost_ns.unsigned_abs() >= GRAIN_NS {
            self.lost_ns.fetch_add(lost_ns as u64, Ordering::Relaxed);
        }
    }

    #[cold]
    fn with_note_ns(&self, ns: u64) -> u64 {
        let noted_ns = self.noted_ns.load(Ordering::Acquire);
        if ns >= noted_ns {
            self.note();
            return ns;
        }
        if noted_ns - ns < GRAIN_NS {
            // Another thread noted its time after this one was read.
            return ns;
        }
        let before_ns = self.lost_ns.load(Ordering::Relaxed);
        // Another thread may have added it already.
        let ns = self.clocks.monotonic_ns().wrapping_add(before_ns);
        if ns >= noted_ns {
            return ns;
        }
        let after_ns = before_ns.wrapping_add(self.newly_lost_ns(before_ns).max(0) as u64);
        let added = self.lost_ns.compare_exchange(before_ns, after_ns, Ordering::Relaxed, Ordering::Relaxed);
        self.clocks.monotonic_ns().wrapping_add(added.map_or_else(|by_another| by_another, |_| after_ns))
    }

    /// How much less the clock, corrected by `lost_ns`, has advanced than the other clock since the noted time.
    fn newly_lost_ns(&self, lost_ns: u64) -> i64 {
        let (ns, real_ns) = self.pair();
        real_ns.wrapping_sub(self.ahead_ns.load(Ordering::Relaxed)).wrapping_sub(ns.wrapping_add(lost_ns)) as i64
    }

    fn note(&self) {
        let (ns, real_ns) = self.pair();
        let ns = ns.wrapping_add(self.lost_ns.load(Ordering::Relaxed));
        if self.noted_ns.fetch_max(ns, Ordering::Release) < ns {
            self.ahead_ns.store(real_ns.wrapping_sub(ns), Ordering::Relaxed);
        }
    }

    /// Reads the clock and the other one at the same moment. It takes the closest of a few pairs, because losing the
    /// processor between two readings would look like a clock that was moved.
    fn pair(&self) -> (u64, u64) {
        let mut best = (u64::MAX, 0, 0);
        for _ in 0..PAIR_TRIES {
            let before_ns = self.clocks.real_ns();
            let ns = self.clocks.monotonic_ns();
            let width_ns = self.clocks.real_ns().wrapping_sub(before_ns);
            best = best.min((width_ns, ns, before_ns.wrapping_add(width_ns / 2)));
            if best.0 <= PAIR_NS {
                break;
            }
        }
        (best.1, best.2)
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

#[cfg(test)]
#[path = "line_tests.rs"]
mod tests;
