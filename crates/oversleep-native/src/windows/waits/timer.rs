//! Waitable timers: objects of the kernel that are signalled at a time.

use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};

use oversleep_record::{Nanos, Unavailable};
use oversleep_system::{TWO_TICKS_TOLERANCE, Target, WaitEnd, WaitInfo, Waiter, waits};
use windows_sys::Win32::Foundation::{ERROR_INVALID_PARAMETER, GetLastError};
use windows_sys::Win32::System::Threading::{
    CREATE_WAITABLE_TIMER_HIGH_RESOLUTION, CreateWaitableTimerExW, SetWaitableTimer, SetWaitableTimerEx,
    TIMER_ALL_ACCESS,
};

use super::args;
use super::entry::{failed, proved_at_once};
use super::event::wait_for;
use crate::native::waits::TolerantCall;
use crate::native::waits::calls;
use crate::windows::os;

calls! { waits::WINDOWS;
    WAITABLE_TIMER = "waitable-timer" => proved_at_once(Waitable { timer: new(0)?, tolerance: None, info: WAITABLE_TIMER }),
    WAITABLE_TIMER_TOLERANT = "waitable-timer-tolerant" => tolerating(TWO_TICKS_TOLERANCE),
    WAITABLE_TIMER_HIGH_RESOLUTION = "waitable-timer-high-resolution" => {
        let info = WAITABLE_TIMER_HIGH_RESOLUTION;
        proved_at_once(Waitable { timer: new(CREATE_WAITABLE_TIMER_HIGH_RESOLUTION)?, tolerance: None, info })
    },
}

/// The call that takes a tolerance.
pub(super) const TOLERATING: &[TolerantCall] = &[(WAITABLE_TIMER_TOLERANT.name, tolerating)];

fn tolerating(tolerance: Nanos) -> Result<Box<dyn Waiter>, Unavailable> {
    let info = WAITABLE_TIMER_TOLERANT;
    // The system may add less than was allowed, never more, so this rounds down.
    let millis = u32::try_from(tolerance.0 / 1_000_000).unwrap_or(u32::MAX);
    proved_at_once(Waitable { timer: new(0)?, tolerance: Some(millis), info })
}

struct Waitable {
    timer: OwnedHandle,
    /// Milliseconds that the system may add.
    tolerance: Option<u32>,
    info: &'static WaitInfo,
}

/// A timer without a name, which lets one wait pass each time it is due.
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
        // This version doesn't know the flag.
        ERROR_INVALID_PARAMETER if flags != 0 => {
            Err(Unavailable::TooOld { needs: WAITABLE_TIMER_HIGH_RESOLUTION.since.to_owned() })
        }
        _ => Err(os::failed("CreateWaitableTimerExW")),
    }
}

impl Waitable {
    fn arm(&self, span: Nanos) -> bool {
        let due = args::from_now(self.info, span);
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
    use oversleep_system::SharedPlatform;

    use super::super::conformance::check;
    use super::*;

    #[test]
    fn waitable_timer_conforms() {
        check(WAITABLE_TIMER);
    }

    #[test]
    fn waitable_timer_tolerant_conforms() {
        check(WAITABLE_TIMER_TOLERANT);
    }

    #[test]
    fn every_tolerance_to_compare_is_taken() {
        let platform: SharedPlatform = std::sync::Arc::new(crate::windows::Native::new());
        let tolerant = platform.wait(WAITABLE_TIMER_TOLERANT.name).expect("described");
        let compared = tolerant.tolerances_to_compare();
        assert_eq!(compared.first(), Some(&Nanos::ZERO));
        for tolerance in compared {
            let mut waiter = tolerant.open_tolerating(&platform, tolerance).expect("since Windows 7");
            let remaining = Nanos::from_micros(1);
            let end = waiter.wait(Target { remaining, deadline: platform.now() + remaining });
            assert_eq!(end, WaitEnd::TimedOut, "{tolerance}");
        }
    }

    #[test]
    fn waitable_timer_high_resolution_conforms() {
        check(WAITABLE_TIMER_HIGH_RESOLUTION);
    }
}
