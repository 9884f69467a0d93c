//! Spans and deadlines in the forms the calls take. Nothing here allocates, formats or fails: it runs inside what is
//! measured.

use oversleep_record::Nanos;

use crate::platform::macos::os;

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
    // Below a million, so it fits.
    libc::timeval { tv_sec: micros / 1_000_000, tv_usec: (micros % 1_000_000) as libc::suseconds_t }
}

/// A span in whole milliseconds, rounded up; nothing below zero, which would mean for ever. `None` where it exceeds
/// what the argument can say (24 days).
pub(super) fn millis(span: Nanos) -> Option<libc::c_int> {
    let nanos = span.0.max(0);
    libc::c_int::try_from(nanos / 1_000_000 + i64::from(nanos % 1_000_000 != 0)).ok()
}

/// A deadline in units of `mach_absolute_time`, never before it.
pub(super) fn mach_deadline(deadline: Nanos) -> u64 {
    os::timebase().ticks_up(deadline.0.max(0) as u64)
}

/// The same moment on `CLOCK_REALTIME`, for calls that take nothing else. That clock steps by microseconds, so the
/// deadline is at most one too late, and never too early by it. A step of the wall clock during the wait moves its end.
pub(super) fn realtime_deadline(deadline: Nanos) -> Nanos {
    let now = os::now();
    let wall = Nanos(os::clock_ns(libc::CLOCK_REALTIME) as i64);
    wall + (deadline - now) + Nanos(1_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coarser_units_round_up_and_nothing_goes_below_zero() {
        let time = timespec(Nanos(2_000_000_001));
        assert_eq!((time.tv_sec, time.tv_nsec), (2, 1));
        assert_eq!(timespec(Nanos(-1)).tv_nsec, 0);
        assert_eq!([micros(Nanos(1)), micros(Nanos(1_001)), micros(Nanos(-5))], [1, 2, 0]);
        let time = timeval(Nanos(1_999_999_001));
        assert_eq!((time.tv_sec, time.tv_usec), (2, 0));
        assert_eq!([millis(Nanos(300_000)), millis(Nanos(-1))], [Some(1), Some(0)]);
        assert_eq!(millis(Nanos::from_millis(i64::from(i32::MAX)) + Nanos(1)), None);
        assert_eq!(mach_deadline(Nanos(-1)), 0);
    }
}
