//! Spans and deadlines in the forms the calls take. Nothing here allocates, formats or fails: it runs inside what is
//! measured.

use oversleep_record::Nanos;

const NANOS_PER_SEC: i64 = 1_000_000_000;

/// A span or point in time as a `timespec`; nothing below zero, which every call refuses.
pub(super) fn timespec(time: Nanos) -> libc::timespec {
    let nanos = time.0.max(0);
    libc::timespec { tv_sec: nanos / NANOS_PER_SEC, tv_nsec: nanos % NANOS_PER_SEC }
}

/// A span in whole microseconds, rounded up; nothing below zero.
pub(super) fn micros(span: Nanos) -> i64 {
    let nanos = span.0.max(0);
    nanos / 1_000 + i64::from(nanos % 1_000 != 0)
}

/// A span as a `timeval`, rounded up; nothing below zero.
pub(super) fn timeval(span: Nanos) -> libc::timeval {
    let micros = micros(span);
    libc::timeval { tv_sec: micros / 1_000_000, tv_usec: micros % 1_000_000 }
}

/// A span in whole milliseconds, rounded up; nothing below zero, which would mean for ever. `None` where it exceeds
/// what the argument can say (24 days).
pub(super) fn millis(span: Nanos) -> Option<libc::c_int> {
    let nanos = span.0.max(0);
    libc::c_int::try_from(nanos / 1_000_000 + i64::from(nanos % 1_000_000 != 0)).ok()
}

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
    fn timespec_splits_exactly_and_never_goes_below_zero() {
        let time = timespec(Nanos(2_000_000_001));
        assert_eq!((time.tv_sec, time.tv_nsec), (2, 1));
        let time = timespec(Nanos(-1));
        assert_eq!((time.tv_sec, time.tv_nsec), (0, 0));
        let time = timespec(Nanos::MAX);
        assert_eq!((time.tv_sec, time.tv_nsec), (9_223_372_036, 854_775_807));
    }

    #[test]
    fn coarser_units_round_up() {
        assert_eq!(micros(Nanos(1)), 1);
        assert_eq!(micros(Nanos(1_000)), 1);
        assert_eq!(micros(Nanos(1_001)), 2);
        assert_eq!(micros(Nanos(-5)), 0);
        let time = timeval(Nanos(1_999_999_001));
        assert_eq!((time.tv_sec, time.tv_usec), (2, 0));
        assert_eq!(millis(Nanos(300_000)), Some(1));
        assert_eq!(millis(Nanos(15_000_000)), Some(15));
        assert_eq!(millis(Nanos(-1)), Some(0));
    }

    #[test]
    fn a_span_too_long_for_the_argument_is_not_cut() {
        let longest = Nanos::from_millis(i64::from(i32::MAX));
        assert_eq!(millis(longest), Some(i32::MAX));
        assert_eq!(millis(longest + Nanos(1)), None);
        assert_eq!(micros(Nanos::MAX), 9_223_372_036_854_776);
    }

    #[test]
    fn a_wall_clock_deadline_saturates() {
        assert_eq!(realtime_deadline(Nanos::MAX), Nanos::MAX);
    }
}
