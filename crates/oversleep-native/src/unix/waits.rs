//! Spans and deadlines in the forms the calls of every Unix take, rounded as the description of each says, and what is
//! alike in how they end. Nothing here allocates, formats or fails where a wait goes well: it runs inside what is
//! measured.

use std::io::Error;

use oversleep_record::{Nanos, Unavailable};
use oversleep_system::{WaitEnd, WaitInfo};

use crate::native::given;

const NANOS_PER_SEC: i64 = 1_000_000_000;

/// A span or point in time as a `timespec`, as it is; nothing below zero, which every call refuses.
pub(crate) fn exact_timespec(time: Nanos) -> libc::timespec {
    let nanos = time.0.max(0);
    libc::timespec { tv_sec: nanos / NANOS_PER_SEC, tv_nsec: nanos % NANOS_PER_SEC }
}

/// What the call of `info` is given for that span or point in time, as a `timespec`.
#[inline]
pub(crate) fn timespec(info: &WaitInfo, requested: Nanos) -> libc::timespec {
    let argument = exact_timespec(given::rounded(info, requested));
    given::note(info, Nanos(argument.tv_sec * NANOS_PER_SEC + argument.tv_nsec));
    argument
}

/// The span in whole microseconds.
#[inline]
pub(crate) fn micros(info: &WaitInfo, requested: Nanos) -> i64 {
    let argument = given::rounded(info, requested).0 / 1_000;
    given::note(info, Nanos::from_micros(argument));
    argument
}

/// The span as a `timeval`.
#[inline]
pub(crate) fn timeval(info: &WaitInfo, requested: Nanos) -> libc::timeval {
    let micros = micros(info, requested);
    // Below a million, so it fits.
    libc::timeval { tv_sec: micros / 1_000_000, tv_usec: (micros % 1_000_000) as libc::suseconds_t }
}

/// The span in whole milliseconds; `None` if it exceeds the argument's range (24 days).
#[inline]
pub(crate) fn millis(info: &WaitInfo, requested: Nanos) -> Option<libc::c_int> {
    let argument = libc::c_int::try_from(given::rounded(info, requested).0 / 1_000_000).ok()?;
    given::note(info, Nanos::from_millis(i64::from(argument)));
    Some(argument)
}

/// The number of the last failed call of this thread.
pub(crate) fn errno() -> i32 {
    Error::last_os_error().raw_os_error().unwrap_or(0)
}

/// The end of a wait whose span exceeds its argument's range: the wait is refused, because a shorter one would be early.
#[cold]
pub(crate) fn too_long(info: &'static WaitInfo) -> WaitEnd {
    WaitEnd::Failed(Unavailable::failed(info.call, Error::from_raw_os_error(libc::EOVERFLOW)))
}

#[cfg(test)]
mod tests {
    use oversleep_system::Granularity;

    use super::*;

    const fn counting_in(granularity: Granularity) -> WaitInfo {
        WaitInfo { granularity, ..WaitInfo::BLANK }
    }

    const NS: WaitInfo = counting_in(Granularity::NANOSECOND);
    const US: WaitInfo = counting_in(Granularity::MICROSECOND);
    const MS: WaitInfo = counting_in(Granularity::MILLISECOND);

    #[test]
    fn timespec_splits_exactly_and_never_goes_below_zero() {
        for (nanos, secs, rest) in
            [(2_000_000_001, 2, 1), (-1, 0, 0), (Nanos::MAX.0, 9_223_372_036, 854_775_807), (-i64::MAX, 0, 0)]
        {
            let time = timespec(&NS, Nanos(nanos));
            assert_eq!((time.tv_sec, time.tv_nsec), (secs, rest));
        }
    }

    #[test]
    fn coarser_units_hold_what_was_rounded() {
        assert_eq!([1, 1_000, 1_001, -5].map(|nanos| micros(&US, Nanos(nanos))), [1, 1, 2, 0]);
        let time = timeval(&US, Nanos(1_999_999_001));
        assert_eq!((time.tv_sec, time.tv_usec), (2, 0));
        assert_eq!([300_000, 15_000_000, -1].map(|nanos| millis(&MS, Nanos(nanos))), [Some(1), Some(15), Some(0)]);
    }

    #[test]
    fn a_span_too_long_for_the_argument_is_not_cut() {
        let longest = Nanos::from_millis(i64::from(i32::MAX));
        assert_eq!(millis(&MS, longest), Some(i32::MAX));
        assert_eq!(millis(&MS, longest + Nanos(1)), None);
        assert_eq!(micros(&US, Nanos::MAX), Nanos::MAX.0 / 1_000);
    }
}
