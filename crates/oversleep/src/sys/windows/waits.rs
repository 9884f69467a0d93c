//! Windows: waits by a high-resolution timer that each waiting thread keeps. Making one for each wait costs two more
//! system calls.

use std::ptr;
use std::time::Duration;

use windows_sys::Win32::Foundation::{CloseHandle, HANDLE, WAIT_OBJECT_0};
use windows_sys::Win32::System::Threading::{
    CREATE_WAITABLE_TIMER_HIGH_RESOLUTION, CreateWaitableTimerExW, INFINITE, SetWaitableTimer, TIMER_ALL_ACCESS,
    WaitForSingleObject,
};

use super::monotonic_ns;

/// A timer of the calling thread, closed when the thread ends.
struct WaitableTimer(HANDLE);

impl WaitableTimer {
    /// Null before Windows 10 (1803).
    fn new() -> WaitableTimer {
        // SAFETY: no attributes and no name are allowed.
        // https://learn.microsoft.com/windows/win32/api/synchapi/nf-synchapi-createwaitabletimerexw
        WaitableTimer(unsafe {
            CreateWaitableTimerExW(ptr::null(), ptr::null(), CREATE_WAITABLE_TIMER_HIGH_RESOLUTION, TIMER_ALL_ACCESS)
        })
    }

    /// Waits for this long, on a grid of about half a millisecond on Windows 11, and never shorter by the system's
    /// interrupt time. False if there is no such timer.
    fn wait(&self, ns: u64) -> bool {
        // Negative means relative, in units of 100 ns, rounded up. Absolute times are on the wall clock.
        let due = -i64::try_from(ns.div_ceil(100)).unwrap_or(i64::MAX);
        // SAFETY: the timer is ours, the time is readable, and there is no completion routine.
        // https://learn.microsoft.com/windows/win32/api/synchapi/nf-synchapi-setwaitabletimer
        // https://learn.microsoft.com/windows/win32/api/synchapi/nf-synchapi-waitforsingleobject
        unsafe {
            !self.0.is_null()
                && SetWaitableTimer(self.0, &raw const due, 0, None, ptr::null(), 0) != 0
                && WaitForSingleObject(self.0, INFINITE) == WAIT_OBJECT_0
        }
    }
}

impl Drop for WaitableTimer {
    fn drop(&mut self) {
        if !self.0.is_null() {
            // SAFETY: the handle is ours and isn't used afterwards.
            // https://learn.microsoft.com/windows/win32/api/handleapi/nf-handleapi-closehandle
            unsafe { CloseHandle(self.0) };
        }
    }
}

thread_local! {
    /// Made when the thread first waits.
    static TIMER: WaitableTimer = WaitableTimer::new();
}

/// Waits once until `deadline_ns` on the performance counter, which is compared again after the wait. May end early,
/// because the timer follows another clock.
pub(crate) fn wait_once_until(deadline_ns: u64) {
    let ns = deadline_ns.saturating_sub(monotonic_ns());
    let has_waited = TIMER.try_with(|timer| timer.wait(ns)).unwrap_or(false);
    if !has_waited {
        std::thread::sleep(Duration::from_nanos(ns));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_ends_at_its_deadline_and_the_timer_is_kept() {
        for us in [1, 300, 2_000] {
            let deadline_ns = monotonic_ns() + us * 1_000;
            while monotonic_ns() < deadline_ns {
                wait_once_until(deadline_ns);
            }
        }
        let timer = || TIMER.with(|timer| timer.0.addr());
        assert_eq!(timer(), timer());
    }
}
