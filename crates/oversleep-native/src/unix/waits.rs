//! Spans and deadlines in the forms the calls of every Unix take, and what is alike in how they end. Nothing here
//! allocates, formats or fails where a wait goes well: it runs inside what is measured.

use std::io::Error;

use oversleep_record::{Nanos, Unavailable};

use oversleep_system::{WaitEnd, WaitInfo};

const NANOS_PER_SEC: i64 = 1_000_000_000;

/// A span or point in time as a `timespec`; nothing below zero, which every call refuses.
pub(crate) fn timespec(time: Nanos) -> libc::timespec {
    let nanos = time.0.max(0);
    libc::timespec { tv_sec: nanos / NANOS_PER_SEC, tv_nsec: nanos % NANOS_PER_SEC }
}

/// A span in whole microseconds, rounded up; nothing below zero.
pub(crate) fn micros(span: Nanos) -> i64 {
    let nanos = span.0.max(0);
    nanos / 1_000 + i64::from(nanos % 1_000 != 0)
}

/// A span as a `timeval`, rounded up; nothing below zero.
pub(crate) fn timeval(span: Nanos) -> libc::timeval {
    let micros = micros(span);
    // Below a million, so it fits.
    libc::timeval { tv_sec: micros / 1_000_000, tv_usec: (micros % 1_000_000) as libc::suseconds_t }
}

/// A span in whole milliseconds, rounded up; nothing below zero, which would mean for ever. `None` where it exceeds
/// what the argument can say (24 days).
pub(crate) fn millis(span: Nanos) -> Option<libc::c_int> {
    let nanos = span.0.max(0);
    libc::c_int::try_from(nanos / 1_000_000 + i64::from(nanos % 1_000_000 != 0)).ok()
}

/// The number of the last failed call of this thread.
pub(crate) fn errno() -> i32 {
    Error::last_os_error().raw_os_error().unwrap_or(0)
}

/// The end of a wait whose span exceeds what its argument can say: it is not begun rather than cut.
#[cold]
pub(crate) fn too_long(info: &'static WaitInfo) -> WaitEnd {
    WaitEnd::Failed(Unavailable::failed(info.call, Error::from_raw_os_error(libc::EOVERFLOW)))
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
}
