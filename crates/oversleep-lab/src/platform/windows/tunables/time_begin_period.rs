//! The timer resolution by the documented call, in whole milliseconds.

use oversleep_record::conditions::{Outcome, Setting};
use oversleep_record::{Nanos, Unavailable};
use windows_sys::Win32::Media::{TIMERR_NOERROR, timeBeginPeriod, timeEndPeriod};

use super::{Applied, NotSend, denied, not_a_setting, wrong_kind};
use crate::platform::interface::{Reached, Restore, Scope, Tunable, TunableInfo};
use crate::platform::windows::{os, resolution};

pub(super) struct TimeBeginPeriod;

static INFO: TunableInfo = TunableInfo {
    name: "time-begin-period",
    call: "timeBeginPeriod, timeEndPeriod",
    doc: "Asks for a period of the timer interrupt as most programs do. The multimedia library counts these requests of a \
          process and passes the shortest on, by the call that the tunable resolution makes. The system keeps one request \
          per process, the last that was made, so hold one of the two at a time.",
    scope: Scope::MachineWhileHeld,
    sets_resolution: false,
    since: "Windows 95",
    page: "https://learn.microsoft.com/windows/win32/api/timeapi/nf-timeapi-timebeginperiod",
};

const RIGHT: &str = "whole milliseconds from 1ms to 1s";

impl Tunable for TimeBeginPeriod {
    fn info(&self) -> &TunableInfo {
        &INFO
    }

    fn current(&self) -> Result<Setting, Unavailable> {
        os::timer_periods().map(|periods| Setting::Nanos(periods.now))
    }

    fn validate(&self, setting: &Setting) -> Result<(), String> {
        understood(setting).map(drop).ok_or_else(|| not_a_setting(INFO.name, setting, RIGHT))
    }

    fn reached(&self) -> Reached {
        resolution::reached()
    }

    fn settings_to_compare(&self) -> Vec<Setting> {
        [15, 10, 5, 2, 1].map(|ms| Setting::Nanos(Nanos::from_millis(ms))).to_vec()
    }

    fn apply(&self, setting: &Setting) -> Applied {
        let Some(ms) = understood(setting) else { return wrong_kind(INFO.name, setting, RIGHT) };
        let period = || os::timer_periods().map(|periods| periods.now);
        let was = match period() {
            Ok(was) => was,
            Err(why) => return denied(why),
        };
        let guard = match begin(ms) {
            Ok(guard) => guard,
            Err(why) => return denied(why),
        };
        match period() {
            Ok(now) if now != was => {
                let outcome = Outcome::Applied { was: Some(Setting::Nanos(was)), now: Setting::Nanos(now) };
                (outcome, Some(Box::new(guard)))
            }
            // The request is held all the same: whoever asked for as short a one may let go.
            Ok(is) => (Outcome::AlreadySo { is: Setting::Nanos(is) }, Some(Box::new(guard))),
            Err(why) => denied(why),
        }
    }
}

fn understood(setting: &Setting) -> Option<u32> {
    let &Setting::Nanos(asked) = setting else { return None };
    let ms = (asked.0 % 1_000_000 == 0).then_some(asked.0 / 1_000_000)?;
    u32::try_from(ms).ok().filter(|ms| (1..=1_000).contains(ms))
}

fn begin(ms: u32) -> Result<Begun, Unavailable> {
    // SAFETY: takes a number. https://learn.microsoft.com/windows/win32/api/timeapi/nf-timeapi-timebeginperiod
    match unsafe { timeBeginPeriod(ms) } {
        TIMERR_NOERROR => Ok(Begun { ms, _thread: NotSend::default() }),
        code => Err(Unavailable::failed("timeBeginPeriod", format!("error {code}"))),
    }
}

struct Begun {
    ms: u32,
    _thread: NotSend,
}

impl Restore for Begun {}

impl Drop for Begun {
    fn drop(&mut self) {
        // SAFETY: takes the number given before. https://learn.microsoft.com/windows/win32/api/timeapi/nf-timeapi-timeendperiod
        let ended = unsafe { timeEndPeriod(self.ms) };
        debug_assert_eq!(ended, TIMERR_NOERROR, "it was begun");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_milliseconds_are_taken() {
        let ms = |ns| understood(&Setting::Nanos(Nanos(ns)));
        assert_eq!([ms(1_000_000), ms(15_000_000), ms(1_000_000_000)], [Some(1), Some(15), Some(1_000)]);
        assert_eq!([ms(0), ms(-1_000_000), ms(500_000), ms(1_500_000), ms(1_001_000_000)], [None; 5]);
    }

    #[test]
    fn a_period_out_of_range_is_refused_and_one_within_is_held() {
        assert!(begin(0).is_err_and(|why| why.to_string().contains("timeBeginPeriod")));
        let (outcome, guard) = TimeBeginPeriod.apply(&Setting::Nanos(Nanos::from_millis(2)));
        assert!(outcome.holds() && guard.is_some(), "{outcome:?}");
    }
}
