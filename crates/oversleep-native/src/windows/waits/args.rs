//! Spans in the forms the calls take, rounded as the description of each says. Nothing here allocates, formats or fails:
//! it runs inside what is measured.

use oversleep_record::Nanos;
use oversleep_system::WaitInfo;
use windows_sys::Win32::Foundation::FILETIME;
use windows_sys::Win32::System::Threading::INFINITE;

use crate::native::given;

const NANOS_PER_MILLI: i64 = 1_000_000;

/// The argument that the call of `info` gets for that span, in whole milliseconds. `None` if it exceeds the argument's
/// range (49 days), whose greatest value means forever.
#[inline]
pub(super) fn millis(info: &WaitInfo, span: Nanos) -> Option<u32> {
    let argument = u32::try_from(given::rounded(info, span).0 / NANOS_PER_MILLI).ok()?;
    given::note(info, Nanos::from_millis(i64::from(argument)));
    Some(argument).filter(|&millis| millis != INFINITE)
}

/// As [`millis`], for a signed argument (24 days), where negative values mean forever.
#[inline]
pub(super) fn signed_millis(info: &WaitInfo, span: Nanos) -> Option<i32> {
    millis(info, span).and_then(|millis| i32::try_from(millis).ok())
}

/// The span in whole microseconds, as seconds and the rest. `None` if it exceeds the argument's range (68 years).
#[inline]
pub(super) fn micros(info: &WaitInfo, span: Nanos) -> Option<(i32, i32)> {
    let micros = given::rounded(info, span).0 / 1_000;
    given::note(info, Nanos::from_micros(micros));
    Some((i32::try_from(micros / 1_000_000).ok()?, (micros % 1_000_000) as i32))
}

/// The span in the form of kernel timers: negative, in units of 100 ns. Zero would be a point in time, the year 1601,
/// which has passed as well.
#[inline]
pub(super) fn from_now(info: &WaitInfo, span: Nanos) -> i64 {
    let units = given::rounded(info, span).0 / 100;
    given::note(info, Nanos(units * 100));
    -units
}

/// The result of [`from_now`] as a `FILETIME`.
pub(super) fn file_time(from_now: i64) -> FILETIME {
    FILETIME { dwLowDateTime: from_now as u32, dwHighDateTime: (from_now >> 32) as u32 }
}

#[cfg(test)]
mod tests {
    use oversleep_system::Granularity;

    use super::*;

    const fn counting_in(granularity: Granularity) -> WaitInfo {
        WaitInfo { granularity, ..WaitInfo::BLANK }
    }

    const UNITS: WaitInfo = counting_in(Granularity::HUNDRED_NS);
    const US: WaitInfo = counting_in(Granularity::MICROSECOND);
    const MS: WaitInfo = counting_in(Granularity::MILLISECOND);

    #[test]
    fn coarser_units_hold_what_was_rounded_and_nothing_goes_below_zero() {
        assert_eq!(millis(&MS, Nanos(300_000)), Some(1));
        assert_eq!(millis(&MS, Nanos(15_000_000)), Some(15));
        assert_eq!(millis(&MS, Nanos(15_000_001)), Some(16));
        assert_eq!(millis(&MS, Nanos(-1)), Some(0));
        assert_eq!(signed_millis(&MS, -Nanos::MAX), Some(0));
        assert_eq!(micros(&US, Nanos(1_999_999_001)), Some((2, 0)));
        assert_eq!(micros(&US, Nanos(300_000)), Some((0, 300)));
        assert_eq!(from_now(&UNITS, Nanos(1)), -1);
        assert_eq!(from_now(&UNITS, Nanos(1_000_000)), -10_000);
        assert_eq!(from_now(&UNITS, Nanos(-1)), 0);
    }

    #[test]
    fn a_span_too_long_for_the_argument_is_not_cut_and_never_becomes_for_ever() {
        let longest = Nanos::from_millis(i64::from(u32::MAX - 1));
        assert_eq!(millis(&MS, longest), Some(u32::MAX - 1));
        assert_eq!(millis(&MS, longest + Nanos(1)), None);
        assert_eq!(millis(&MS, Nanos::MAX), None);
        assert_eq!(signed_millis(&MS, Nanos::from_millis(i64::from(i32::MAX)) + Nanos(1)), None);
        assert_eq!(micros(&US, Nanos::MAX), None);
    }

    #[test]
    fn a_file_time_holds_both_halves() {
        let time = file_time(-10_000_000_000);
        let joined = i64::from(time.dwHighDateTime as i32) << 32 | i64::from(time.dwLowDateTime);
        assert_eq!(joined, -10_000_000_000);
    }
}
