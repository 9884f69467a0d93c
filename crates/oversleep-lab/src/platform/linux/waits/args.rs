//! Spans and deadlines in the forms the calls take. Nothing here allocates, formats or fails: it runs inside what is
//! measured.

use oversleep_record::Nanos;

pub(super) use crate::platform::unix::waits::{micros, millis, timespec, timeval};

const NANOS_PER_SEC: i64 = 1_000_000_000;

/// Reads a clock that every Linux has.
fn read(clock: libc::clockid_t) -> Nanos {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `now` is a valid, writable timespec, and a failure (impossible for these clocks) leaves it alone.
    // https://man7.org/linux/man-pages/man2/clock_gettime.2.html
    unsafe { libc::clock_gettime(clock, &mut now) };
    Nanos(now.tv_sec.saturating_mul(NANOS_PER_SEC).saturating_add(now.tv_nsec))
}

/// The clock deadlines are counted on.
pub(super) fn monotonic_now() -> Nanos {
    read(libc::CLOCK_MONOTONIC)
}

/// The same moment on `CLOCK_REALTIME`, for calls that take nothing else.
///
/// The offset of the clocks is read between two reads of the monotonic one; the tightest of up to three brackets
/// counts. Measured from the earlier end, it is never too small, so the wait is never early by it, and too large by
/// no more than the bracket, some tens of nanoseconds. A step of the wall clock during the wait moves its end.
pub(super) fn realtime_deadline(deadline: Nanos) -> Nanos {
    const TIGHT_ENOUGH: Nanos = Nanos(1_000);
    let mut tightest = Nanos::MAX;
    let mut offset = Nanos::ZERO;
    for _ in 0..3 {
        let before = read(libc::CLOCK_MONOTONIC);
        let wall = read(libc::CLOCK_REALTIME);
        let bracket = read(libc::CLOCK_MONOTONIC) - before;
        if bracket < tightest {
            tightest = bracket;
            offset = wall - before;
        }
        if bracket <= TIGHT_ENOUGH {
            break;
        }
    }
    deadline + offset
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wall_clock_deadline_saturates() {
        assert_eq!(realtime_deadline(Nanos::MAX), Nanos::MAX);
    }
}
