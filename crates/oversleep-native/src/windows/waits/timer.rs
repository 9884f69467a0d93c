//! Waitable timers: objects of the kernel that are signalled at a time.

use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};

use oversleep_record::{Nanos, Unavailable};
use windows_sys::Win32::Foundation::{ERROR_INVALID_PARAMETER, GetLastError};
use windows_sys::Win32::System::Threading::{
    CREATE_WAITABLE_TIMER_HIGH_RESOLUTION, CreateWaitableTimerExW, SetWaitableTimer, SetWaitableTimerEx,
    TIMER_ALL_ACCESS,
};

use super::args;
use super::entry::{Entry, failed, proved_at_once};
use super::event::wait_for;
use super::sleep::HUNDRED_NS;
use crate::windows::os;
use oversleep_system::TICK_TOLERANCES;
use oversleep_system::{Family, SharedPlatform, SlackRule, Target, Wait, WaitEnd, WaitInfo, Waiter, ZeroMeans};

pub(super) static WAITABLE_TIMER: Entry = Entry {
    info: WaitInfo {
        name: "waitable-timer",
        call: "SetWaitableTimer and WaitForSingleObject",
        doc: "A timer object in units of 100 ns. It ends at a timer interrupt like Sleep: the fine unit is no fine timer. A \
              time of zero is long over, so it ends at once.",
        family: Family::Timer,
        absolute: false,
        granularity: HUNDRED_NS,
        zero: ZeroMeans::ReturnsAtOnce,
        slack: SlackRule::TimerResolution,
        since: "Windows XP",
        page: "https://learn.microsoft.com/windows/win32/api/synchapi/nf-synchapi-setwaitabletimer",
    },
    open: || proved_at_once(Waitable { timer: new(0)?, tolerance: None, info: &WAITABLE_TIMER.info }),
};

/// What the tolerant timer allows to be added: two default ticks, the least that the vendor says is of use.
/// <https://learn.microsoft.com/windows-hardware/drivers/ddi/wdm/nf-wdm-kesetcoalescabletimer>, remarks.
const TOLERABLE_MS: u32 = 32;

pub(super) static WAITABLE_TIMER_TOLERANT: Entry = Entry {
    info: WaitInfo {
        name: "waitable-timer-tolerant",
        call: "SetWaitableTimerEx(tolerable delay 32 ms) and WaitForSingleObject",
        doc: "The timer of programs that save power: the system may add up to the tolerance, here 32 ms, to let several \
              timers share one interrupt. Less than that, two default ticks, is hardly used. Otherwise as a waitable timer.",
        family: Family::Timer,
        absolute: false,
        granularity: HUNDRED_NS,
        zero: ZeroMeans::ReturnsAtOnce,
        slack: SlackRule::TimerResolution,
        since: "Windows 7",
        page: "https://learn.microsoft.com/windows/win32/api/synchapi/nf-synchapi-setwaitabletimerex",
    },
    open: || tolerating(TOLERABLE_MS),
};

fn tolerating(millis: u32) -> Result<Box<dyn Waiter>, Unavailable> {
    let info = &WAITABLE_TIMER_TOLERANT.info;
    proved_at_once(Waitable { timer: new(0)?, tolerance: Some(millis), info })
}

/// [`WAITABLE_TIMER_TOLERANT`], whose tolerance can be chosen.
pub(super) struct Tolerant;

impl Wait for Tolerant {
    fn info(&self) -> &WaitInfo {
        &WAITABLE_TIMER_TOLERANT.info
    }

    fn open(&self, platform: &SharedPlatform) -> Result<Box<dyn Waiter>, Unavailable> {
        (&WAITABLE_TIMER_TOLERANT).open(platform)
    }

    fn tolerances_to_compare(&self) -> Vec<Nanos> {
        TICK_TOLERANCES.to_vec()
    }

    fn open_tolerating(&self, _platform: &SharedPlatform, tolerance: Nanos) -> Result<Box<dyn Waiter>, Unavailable> {
        // Less may be added than was allowed, never more.
        tolerating(u32::try_from(tolerance.0 / 1_000_000).unwrap_or(u32::MAX))
    }
}

pub(super) static WAITABLE_TIMER_HIGH_RESOLUTION: Entry = Entry {
    info: WaitInfo {
        name: "waitable-timer-high-resolution",
        call: "CreateWaitableTimerExW(CREATE_WAITABLE_TIMER_HIGH_RESOLUTION), SetWaitableTimer and WaitForSingleObject",
        doc: "The timer that needs no request: it ends on a grid of about 0.5 ms whatever the resolution, and changes it for \
              nobody. Rust's, Go's and Python's sleeps use it in their newer versions.",
        family: Family::Timer,
        absolute: false,
        granularity: HUNDRED_NS,
        zero: ZeroMeans::ReturnsAtOnce,
        slack: SlackRule::None,
        since: "Windows 10 1803",
        page: "https://learn.microsoft.com/windows/win32/api/synchapi/nf-synchapi-createwaitabletimerexw",
    },
    open: || {
        let info = &WAITABLE_TIMER_HIGH_RESOLUTION.info;
        proved_at_once(Waitable { timer: new(CREATE_WAITABLE_TIMER_HIGH_RESOLUTION)?, tolerance: None, info })
    },
};

struct Waitable {
    timer: OwnedHandle,
    /// ms that may be added.
    tolerance: Option<u32>,
    info: &'static WaitInfo,
}

/// A timer without a name that lets one wait pass each time it is due.
fn new(flags: u32) -> Result<OwnedHandle, Unavailable> {
    // SAFETY: no attributes and no name are allowed.
    // https://learn.microsoft.com/windows/win32/api/synchapi/nf-synchapi-createwaitabletimerexw
    let handle = unsafe { CreateWaitableTimerExW(std::ptr::null(), std::ptr::null(), flags, TIMER_ALL_ACCESS) };
    if !handle.is_null() {
        // SAFETY: a handle just made, owned by nobody else, closed by CloseHandle.
        return Ok(unsafe { OwnedHandle::from_raw_handle(handle) });
    }
    // SAFETY: takes nothing. https://learn.microsoft.com/windows/win32/api/errhandlingapi/nf-errhandlingapi-getlasterror
    match unsafe { GetLastError() } {
        // A flag that this version doesn't know.
        ERROR_INVALID_PARAMETER if flags != 0 => {
            Err(Unavailable::TooOld { needs: WAITABLE_TIMER_HIGH_RESOLUTION.info.since.to_owned() })
        }
        _ => Err(os::failed("CreateWaitableTimerExW")),
    }
}

impl Waitable {
    fn arm(&self, span: Nanos) -> bool {
        let due = args::from_now(span);
        let (timer, none) = (self.timer.as_raw_handle(), std::ptr::null());
        // SAFETY: the timer is open, the time is valid to read; no period, routine, argument and reason to wake for.
        // https://learn.microsoft.com/windows/win32/api/synchapi/nf-synchapi-setwaitabletimer
        // https://learn.microsoft.com/windows/win32/api/synchapi/nf-synchapi-setwaitabletimerex
        let armed = unsafe {
            match self.tolerance {
                None => SetWaitableTimer(timer, &raw const due, 0, None, none, 0),
                Some(millis) => SetWaitableTimerEx(timer, &raw const due, 0, None, none, none.cast(), millis),
            }
        };
        armed != 0
    }
}

impl Waiter for Waitable {
    fn wait(&mut self, target: Target) -> WaitEnd {
        if self.arm(target.remaining) && wait_for(self.timer.as_raw_handle()) {
            WaitEnd::TimedOut
        } else {
            failed(self.info)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::conformance::check;
    use super::*;

    #[test]
    fn waitable_timer_conforms() {
        check(&WAITABLE_TIMER);
    }

    #[test]
    fn waitable_timer_tolerant_conforms() {
        check(&WAITABLE_TIMER_TOLERANT);
    }

    #[test]
    fn every_tolerance_to_compare_is_taken() {
        let platform: SharedPlatform = std::sync::Arc::new(crate::windows::Native::new());
        let compared = Tolerant.tolerances_to_compare();
        assert_eq!(compared.first(), Some(&Nanos::ZERO));
        for tolerance in compared {
            let mut waiter = Tolerant.open_tolerating(&platform, tolerance).expect("since Windows 7");
            let remaining = Nanos::from_micros(1);
            let end = waiter.wait(Target { remaining, deadline: platform.now() + remaining });
            assert_eq!(end, WaitEnd::TimedOut, "{tolerance}");
        }
    }

    #[test]
    fn waitable_timer_high_resolution_conforms() {
        check(&WAITABLE_TIMER_HIGH_RESOLUTION);
    }
}
