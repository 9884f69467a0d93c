//! The timer resolution by the documented call, in whole milliseconds.

use oversleep_record::Unavailable;
use oversleep_record::conditions::Setting;
use oversleep_system::{Reached, Restore, TunableInfo, describe, tunables};
use windows_sys::Win32::Media::{TIMERR_NOERROR, timeBeginPeriod, timeEndPeriod};

use crate::native::tunables::{Applied, Entry, held, undo};
use crate::windows::resolution;

pub(super) struct TimeBeginPeriod;

impl Entry for TimeBeginPeriod {
    type Request = u32;

    const INFO: &'static TunableInfo = describe!(tunables::WINDOWS, "time-begin-period");

    /// In milliseconds.
    fn parse(setting: &Setting) -> Option<u32> {
        let &Setting::Nanos(requested) = setting else { return None };
        let ms = (requested.0 % 1_000_000 == 0).then_some(requested.0 / 1_000_000)?;
        u32::try_from(ms).ok().filter(|ms| (1..=1_000).contains(ms))
    }

    fn read() -> Result<Setting, Unavailable> {
        resolution::in_effect()
    }

    fn reached() -> Option<Reached> {
        Some(resolution::reached())
    }

    fn change(ms: u32, _: &Setting) -> Result<Applied, Unavailable> {
        let was = Self::read()?;
        let guard = begin(ms)?;
        Ok(held(was, Self::read()?, guard))
    }
}

fn begin(ms: u32) -> Result<impl Restore, Unavailable> {
    // SAFETY: takes a number. https://learn.microsoft.com/windows/win32/api/timeapi/nf-timeapi-timebeginperiod
    match unsafe { timeBeginPeriod(ms) } {
        TIMERR_NOERROR => Ok(undo(move || {
            // SAFETY: takes the number given before.
            // https://learn.microsoft.com/windows/win32/api/timeapi/nf-timeapi-timeendperiod
            let ended = unsafe { timeEndPeriod(ms) };
            debug_assert_eq!(ended, TIMERR_NOERROR, "it was begun");
        })),
        code => Err(Unavailable::failed("timeBeginPeriod", format!("error {code}"))),
    }
}

#[cfg(test)]
mod tests {
    use oversleep_record::Nanos;
    use oversleep_system::Tunable;

    use super::*;
    use crate::native::tunables::Of;

    #[test]
    fn whole_milliseconds_are_taken() {
        let ms = |ns| TimeBeginPeriod::parse(&Setting::Nanos(Nanos(ns)));
        assert_eq!([ms(1_000_000), ms(15_000_000), ms(1_000_000_000)], [Some(1), Some(15), Some(1_000)]);
        assert_eq!([ms(0), ms(-1_000_000), ms(500_000), ms(1_500_000), ms(1_001_000_000)], [None; 5]);
    }

    #[test]
    fn a_period_out_of_range_is_refused_and_one_within_is_held() {
        assert!(begin(0).is_err_and(|why| why.to_string().contains("timeBeginPeriod")));
        let (outcome, guard) = Of(TimeBeginPeriod).apply(&Setting::Nanos(Nanos::from_millis(2)));
        assert!(outcome.holds() && guard.is_some(), "{outcome:?}");
    }
}
