//! Spans in the forms the calls take. Nothing here allocates, formats or fails: it runs inside what is measured.

use oversleep_record::Nanos;
use windows_sys::Win32::Foundation::FILETIME;
use windows_sys::Win32::System::Threading::INFINITE;

/// `span / step`, rounded up; nothing below zero.
fn steps(span: Nanos, step: i64) -> i64 {
    let nanos = span.0.max(0);
    nanos / step + i64::from(nanos % step != 0)
}

/// A span in whole milliseconds, rounded up; nothing below zero. `None` where it exceeds what the argument can say
/// (49 days), whose greatest value means for ever.
pub(super) fn millis(span: Nanos) -> Option<u32> {
    u32::try_from(steps(span, 1_000_000)).ok().filter(|&millis| millis != INFINITE)
}

/// As [`millis`], for an argument with a sign (24 days), in which less than zero means for ever.
pub(super) fn signed_millis(span: Nanos) -> Option<i32> {
    i32::try_from(steps(span, 1_000_000)).ok()
}

/// A span in whole microseconds, rounded up, as seconds and the rest; nothing below zero. `None` where it exceeds what
/// the argument can say (68 years).
pub(super) fn micros(span: Nanos) -> Option<(i32, i32)> {
    let micros = steps(span, 1_000);
    Some((i32::try_from(micros / 1_000_000).ok()?, (micros % 1_000_000) as i32))
}

/// A span from now as the timers of the kernel take it: below zero, in units of 100 ns, rounded up. Zero would be a
/// point in time, the year 1601, which is over as well.
pub(super) fn from_now(span: Nanos) -> i64 {
    -steps(span, 100)
}

/// The same as a `FILETIME`.
pub(super) fn file_time(from_now: i64) -> FILETIME {
    FILETIME { dwLowDateTime: from_now as u32, dwHighDateTime: (from_now >> 32) as u32 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coarser_units_round_up_and_nothing_goes_below_zero() {
        assert_eq!(millis(Nanos(300_000)), Some(1));
        assert_eq!(millis(Nanos(15_000_000)), Some(15));
        assert_eq!(millis(Nanos(15_000_001)), Some(16));
        assert_eq!(millis(Nanos(-1)), Some(0));
        assert_eq!(signed_millis(-Nanos::MAX), Some(0));
        assert_eq!(micros(Nanos(1_999_999_001)), Some((2, 0)));
        assert_eq!(micros(Nanos(300_000)), Some((0, 300)));
        assert_eq!(from_now(Nanos(1)), -1);
        assert_eq!(from_now(Nanos(1_000_000)), -10_000);
        assert_eq!(from_now(Nanos(-1)), 0);
    }

    #[test]
    fn a_span_too_long_for_the_argument_is_not_cut_and_never_becomes_for_ever() {
        let longest = Nanos::from_millis(i64::from(u32::MAX - 1));
        assert_eq!(millis(longest), Some(u32::MAX - 1));
        assert_eq!(millis(longest + Nanos(1)), None);
        assert_eq!(millis(Nanos::MAX), None);
        assert_eq!(signed_millis(Nanos::from_millis(i64::from(i32::MAX)) + Nanos(1)), None);
        assert_eq!(micros(Nanos::MAX), None);
    }

    #[test]
    fn a_file_time_holds_both_halves() {
        let time = file_time(-10_000_000_000);
        let joined = i64::from(time.dwHighDateTime as i32) << 32 | i64::from(time.dwLowDateTime);
        assert_eq!(joined, -10_000_000_000);
    }
}
