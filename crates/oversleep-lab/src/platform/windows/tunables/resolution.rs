//! The timer resolution: how often the timer interrupt comes, by which waits end.

use std::sync::{Mutex, MutexGuard, PoisonError};

use oversleep_record::conditions::{Outcome, Setting};
use oversleep_record::{Nanos, Unavailable};
use windows_sys::Win32::Media::{TIMERR_NOERROR, timeBeginPeriod, timeEndPeriod};

use super::{Applied, NotSend, denied, not_a_setting, wrong_kind};
use crate::platform::interface::{Reached, Restore, Scope, Tunable, TunableInfo};
use crate::platform::windows::os::{self, Newer};
use crate::platform::windows::resolution;

pub(super) struct Resolution;

static INFO: TunableInfo = TunableInfo {
    name: "resolution",
    call: "NtSetTimerResolution",
    doc: "Asks for a period of the timer interrupt, by which timed waits end: 15.625 ms if nobody asks. The shortest that \
          any process asks for holds for the machine and its power draw; since Windows 10 2004 only processes that asked \
          have their waits ended by it. Asking for a longer one than holds changes nothing, and the machine grants what \
          its hardware can: the outcome tells the period that was in effect.",
    scope: Scope::MachineWhileHeld,
    sets_resolution: true,
    since: "Windows XP",
    page: "https://learn.microsoft.com/windows/win32/api/timeapi/nf-timeapi-timebeginperiod",
};

const RIGHT: &str = "a span from 100ns to 1s, such as 1ms; the machine grants the nearest it can";

type NtSetTimerResolution = unsafe extern "system" fn(desired: u32, set: u8, current: *mut u32) -> i32;

// Not documented by the vendor; timeBeginPeriod is built on it.
// SAFETY: as ntdll exports it: ULONG, BOOLEAN, PULONG.
static SET: Newer<NtSetTimerResolution> = unsafe { Newer::new(c"ntdll.dll", c"NtSetTimerResolution", "Windows XP") };

/// The requests of this process that guards hold, in units of 100 ns. The system remembers one per process only.
static REQUESTS: Mutex<Vec<u32>> = Mutex::new(Vec::new());

fn requests() -> MutexGuard<'static, Vec<u32>> {
    REQUESTS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How many requests are held.
#[cfg(test)]
pub(in crate::platform::windows) fn outstanding() -> usize {
    requests().len()
}

/// Replaces this process's request, `held`, by the shortest of `wanted`.
fn replace(held: Option<u32>, wanted: Option<u32>) -> Result<(), Unavailable> {
    if held == wanted {
        return Ok(());
    }
    let Some(set) = SET.get() else { return replace_by_ms(held, wanted) };
    let mut now = 0;
    let (desired, on) = wanted.map_or((held.unwrap_or_default(), 0), |wanted| (wanted, 1));
    // SAFETY: `now` is valid to write to; without `on` the process's request is taken back.
    let status = unsafe { set(desired, on, &raw mut now) };
    if status < 0 { Err(os::failed_status(INFO.call, status)) } else { Ok(()) }
}

/// The documented call, in whole ms, for a system that hides the other.
fn replace_by_ms(held: Option<u32>, wanted: Option<u32>) -> Result<(), Unavailable> {
    if let Some(wanted) = wanted {
        // SAFETY: takes a number. https://learn.microsoft.com/windows/win32/api/timeapi/nf-timeapi-timebeginperiod
        let result = unsafe { timeBeginPeriod(whole_ms(wanted)) };
        if result != TIMERR_NOERROR {
            return Err(Unavailable::failed("timeBeginPeriod", format!("error {result}")));
        }
    }
    if let Some(held) = held {
        // SAFETY: takes the number given before. https://learn.microsoft.com/windows/win32/api/timeapi/nf-timeapi-timeendperiod
        unsafe { timeEndPeriod(whole_ms(held)) };
    }
    Ok(())
}

/// Never shorter than can be asked for, and else never longer than what is wanted.
fn whole_ms(hundred_ns: u32) -> u32 {
    (hundred_ns / 10_000).max(1)
}

impl Tunable for Resolution {
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
        // From the default to the shortest. 0.507 ms is beside it because exactly 0.5 ms can take a tick more.
        [15_625_000, 10_000_000, 5_000_000, 2_000_000, 1_000_000, 507_000, 500_000]
            .map(|ns| Setting::Nanos(Nanos(ns)))
            .to_vec()
    }

    fn apply(&self, setting: &Setting) -> Applied {
        let Some(asked) = understood(setting) else { return wrong_kind(INFO.name, setting, RIGHT) };
        let was = match os::timer_periods() {
            Ok(periods) => periods.now,
            Err(why) => return denied(why),
        };
        let mut held = requests();
        let before = held.iter().min().copied();
        held.push(asked);
        if let Err(why) = replace(before, held.iter().min().copied()) {
            held.pop();
            return denied(why);
        }
        drop(held);
        let guard = Held { asked, _thread: NotSend::default() };
        let outcome = match os::timer_periods() {
            Ok(periods) if periods.now != was => {
                Outcome::Applied { was: Some(Setting::Nanos(was)), now: Setting::Nanos(periods.now) }
            }
            // Somebody else asked for as short a one, or the machine has none shorter.
            Ok(_) => Outcome::AlreadySo { is: Setting::Nanos(was) },
            Err(why) => return denied(why),
        };
        // Also where it was so already: whoever asked for it may let go, and since 2004 each process must ask itself.
        (outcome, Some(Box::new(guard)))
    }
}

/// In units of 100 ns, rounded down, so that what is asked for is never longer than what is wanted.
fn understood(setting: &Setting) -> Option<u32> {
    let &Setting::Nanos(asked) = setting else { return None };
    u32::try_from(asked.0 / 100).ok().filter(|units| (1..=10_000_000).contains(units))
}

struct Held {
    asked: u32,
    _thread: NotSend,
}

impl Restore for Held {}

impl Drop for Held {
    fn drop(&mut self) {
        let mut held = requests();
        let before = held.iter().min().copied();
        if let Some(index) = held.iter().position(|&asked| asked == self.asked) {
            held.swap_remove(index);
        }
        // Taking back what was granted does not fail, and there is nobody to tell.
        let _ = replace(before, held.iter().min().copied());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_in_the_systems_unit_and_never_longer_than_wanted() {
        let units = |ns| understood(&Setting::Nanos(Nanos(ns)));
        assert_eq!([units(500_000), units(507_000), units(1_000_050)], [Some(5_000), Some(5_070), Some(10_000)]);
        assert_eq!([units(0), units(99), units(-1), units(i64::MAX)], [None; 4]);
        assert_eq!([whole_ms(5_000), whole_ms(10_000), whole_ms(19_999), whole_ms(156_250)], [1, 1, 1, 15]);
    }

    #[test]
    fn is_held_until_dropped_also_while_unwinding() {
        let asked = Setting::Nanos(Nanos::from_millis(3));
        let mine = || requests().iter().filter(|&&units| units == 30_000).count();
        let (outcome, guard) = Resolution.apply(&asked);
        assert!(outcome.holds() && guard.is_some(), "{outcome:?}");
        let (_, second) = Resolution.apply(&asked);
        assert_eq!(mine(), 2);
        drop(second);
        assert_eq!(mine(), 1);
        let unwound = std::panic::catch_unwind(std::panic::AssertUnwindSafe(move || {
            let _guard = guard;
            std::panic::resume_unwind(Box::new("unwinds"));
        }));
        assert!(unwound.is_err());
        assert_eq!(mine(), 0);
    }

    #[test]
    fn what_is_out_of_range_is_refused_and_not_held() {
        for ns in [0, -1, 2_000_000_000] {
            let (outcome, guard) = Resolution.apply(&Setting::Nanos(Nanos(ns)));
            assert!(!outcome.holds() && guard.is_none(), "{ns}");
        }
    }
}
