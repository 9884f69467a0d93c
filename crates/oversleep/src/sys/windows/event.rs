//! Windows: an event that one thread waits for and others set, together with a high-resolution timer.

use std::ptr;

use windows_sys::Win32::Foundation::{CloseHandle, HANDLE};
use windows_sys::Win32::System::Threading::{
    CREATE_WAITABLE_TIMER_HIGH_RESOLUTION, CreateEventW, CreateWaitableTimerExW, INFINITE, SetEvent, SetWaitableTimer,
    TIMER_ALL_ACCESS, WaitForMultipleObjects,
};

use super::clocks::monotonic_ns;

/// An event. A wait that it ends resets it.
#[derive(Debug)]
pub(crate) struct Event {
    /// Null if the system has no more handles; a wait then yields.
    event: HANDLE,
    timer: HANDLE,
}

// SAFETY: both are handles of kernel objects, which any thread may use.
unsafe impl Send for Event {}
// SAFETY: as above; only the waiting thread sets the timer.
unsafe impl Sync for Event {}

impl Event {
    pub(crate) fn new() -> Self {
        // SAFETY: no attributes and no name; the event resets itself and isn't set.
        // https://learn.microsoft.com/windows/win32/api/synchapi/nf-synchapi-createeventw
        let event = unsafe { CreateEventW(ptr::null(), 0, 0, ptr::null()) };
        let timer = [CREATE_WAITABLE_TIMER_HIGH_RESOLUTION, 0].into_iter().find_map(|flags| {
            // SAFETY: no attributes and no name. Before Windows 10 (1803) the flag is refused.
            // https://learn.microsoft.com/windows/win32/api/synchapi/nf-synchapi-createwaitabletimerexw
            let timer = unsafe { CreateWaitableTimerExW(ptr::null(), ptr::null(), flags, TIMER_ALL_ACCESS) };
            (!timer.is_null()).then_some(timer)
        });
        Self { event, timer: timer.unwrap_or(ptr::null_mut()) }
    }

    pub(crate) fn set(&self) {
        // SAFETY: the handle is open for as long as `self` lives; a null one is refused.
        // https://learn.microsoft.com/windows/win32/api/synchapi/nf-synchapi-setevent
        unsafe { SetEvent(self.event) };
    }

    /// Waits once until the event is set, at most until `deadline_ns`. May end early.
    pub(crate) fn wait(&self, deadline_ns: Option<u64>) {
        let handles = [self.event, self.timer];
        let mut count = 1;
        let mut timeout_ms = INFINITE;
        if let Some(deadline_ns) = deadline_ns {
            // Relative times are negative, in units of 100 ns.
            let left = i64::try_from(deadline_ns.saturating_sub(monotonic_ns()).div_ceil(100)).unwrap_or(i64::MAX);
            if left == 0 {
                timeout_ms = 0;
            } else {
                // SAFETY: the handle is open, the time is readable, and there is no routine to call.
                // https://learn.microsoft.com/windows/win32/api/synchapi/nf-synchapi-setwaitabletimer
                let is_set = unsafe { SetWaitableTimer(self.timer, &-left, 0, None, ptr::null(), 0) };
                if is_set != 0 {
                    count = 2;
                } else {
                    timeout_ms = u32::try_from(left / 10_000).unwrap_or(INFINITE - 1).max(1);
                }
            }
        }
        // SAFETY: the handles are open and as many as `count`.
        // https://learn.microsoft.com/windows/win32/api/synchapi/nf-synchapi-waitformultipleobjects
        let result = unsafe { WaitForMultipleObjects(count, handles.as_ptr(), 0, timeout_ms) };
        if result == u32::MAX {
            std::thread::yield_now();
        }
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        for handle in [self.event, self.timer] {
            // SAFETY: the handles are this object's, and nothing uses them after it; a null one is refused.
            // https://learn.microsoft.com/windows/win32/api/handleapi/nf-handleapi-closehandle
            unsafe { CloseHandle(handle) };
        }
    }
}
