//! Short timers.

use oversleep_record::Unavailable;
use oversleep_system::Load;
use windows_sys::Win32::Foundation::{CloseHandle, HANDLE, WAIT_EVENT, WAIT_OBJECT_0, WAIT_TIMEOUT};
use windows_sys::Win32::System::Threading::{
    CREATE_WAITABLE_TIMER_HIGH_RESOLUTION, CreateWaitableTimerExW, SetWaitableTimer, TIMER_ALL_ACCESS,
    WaitForSingleObject,
};

use crate::hogs;
use crate::windows::os;

/// Relative, in units of 100 ns.
static DUE: i64 = -5_000;
/// A hog checks the stop flag at least this often, whatever the timer does.
const LONGEST_WAIT_MS: u32 = 100;

/// Starts hogs.
pub(super) fn start(count: u32) -> Result<Box<dyn Load>, Unavailable> {
    hogs::start(super::ENTER, count, || {
        let timer = Timer::open()?;
        timer.wait()?;
        Ok(move |stopped: &dyn Fn() -> bool| {
            // A failing wait would make this hog spin, so it stops instead.
            while !stopped() && timer.wait().is_ok() {}
        })
    })
}

struct Timer(HANDLE);

impl Timer {
    /// A high-resolution timer if the system has it, otherwise an ordinary one.
    fn open() -> Result<Timer, Unavailable> {
        let made = [CREATE_WAITABLE_TIMER_HIGH_RESOLUTION, 0].into_iter().find_map(|flags| {
            // SAFETY: neither attributes nor a name are given. An older system refuses the flag.
            // https://learn.microsoft.com/windows/win32/api/synchapi/nf-synchapi-createwaitabletimerexw
            let timer = unsafe { CreateWaitableTimerExW(std::ptr::null(), std::ptr::null(), flags, TIMER_ALL_ACCESS) };
            (!timer.is_null()).then_some(Timer(timer))
        });
        made.ok_or_else(|| os::failed("CreateWaitableTimerExW"))
    }

    fn wait(&self) -> Result<(), Unavailable> {
        // SAFETY: the handle is open as long as `self`, the due time is read during the call, and no routine is given.
        // https://learn.microsoft.com/windows/win32/api/synchapi/nf-synchapi-setwaitabletimer
        if unsafe { SetWaitableTimer(self.0, &raw const DUE, 0, None, std::ptr::null(), 0) } == 0 {
            return Err(os::failed("SetWaitableTimer"));
        }
        // SAFETY: as above.
        // https://learn.microsoft.com/windows/win32/api/synchapi/nf-synchapi-waitforsingleobject
        went_on(unsafe { WaitForSingleObject(self.0, LONGEST_WAIT_MS) })
    }
}

/// Whether to continue. A timer that takes too long is armed again: the machine may have been suspended, or a measurement
/// may leave no CPU, but the result says that this load was there.
fn went_on(returned: WAIT_EVENT) -> Result<(), Unavailable> {
    match returned {
        WAIT_OBJECT_0 | WAIT_TIMEOUT => Ok(()),
        _ => Err(os::failed("WaitForSingleObject")),
    }
}

impl Drop for Timer {
    fn drop(&mut self) {
        // SAFETY: opened by `open` and closed once.
        unsafe { CloseHandle(self.0) };
    }
}

#[cfg(test)]
mod tests {
    use windows_sys::Win32::Foundation::WAIT_FAILED;

    use super::*;

    #[test]
    fn a_timer_that_takes_long_does_not_end_the_load() {
        assert!(went_on(WAIT_OBJECT_0).is_ok() && went_on(WAIT_TIMEOUT).is_ok());
        assert!(went_on(WAIT_FAILED).is_err());
    }
}
