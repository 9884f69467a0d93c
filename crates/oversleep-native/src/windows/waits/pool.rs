//! Timers that call a function in another thread, which then wakes this one.

use std::ffi::c_void;

use oversleep_record::{Nanos, Unavailable};
use oversleep_system::{Target, WaitEnd, WaitInfo, Waiter, waits};
use windows_sys::Win32::Foundation::{HANDLE, INVALID_HANDLE_VALUE};
use windows_sys::Win32::Media::{
    TIME_CALLBACK_FUNCTION, TIME_KILL_SYNCHRONOUS, TIME_ONESHOT, timeKillEvent, timeSetEvent,
};
use windows_sys::Win32::System::Threading::{
    CloseThreadpoolTimer, CreateThreadpoolTimer, CreateTimerQueue, CreateTimerQueueTimer, DeleteTimerQueueEx,
    DeleteTimerQueueTimer, PTP_CALLBACK_INSTANCE, PTP_TIMER, SetEvent, SetThreadpoolTimer, WT_EXECUTEINTIMERTHREAD,
    WT_EXECUTEONLYONCE, WaitForThreadpoolTimerCallbacks,
};

use super::args;
use super::entry::{failed, proved, proved_at_once, too_long};
use super::event::Event;
use crate::native::waits::calls;
use crate::windows::os;

calls! { waits::WINDOWS;
    THREAD_POOL_TIMER = "thread-pool-timer" => proved_at_once(PoolTimer::new()?),
    TIMER_QUEUE_TIMER = "timer-queue-timer" => proved_at_once(QueueTimer::new()?),
    TIME_SET_EVENT = "time-set-event" => proved(Multimedia(Event::new()?)),
}

/// Sets the event that a timer was given. Before the event is closed, its owner makes sure that no call is left.
fn notify(event: HANDLE) {
    // SAFETY: the handle is open. https://learn.microsoft.com/windows/win32/api/synchapi/nf-synchapi-setevent
    unsafe { SetEvent(event) };
}

/// Waits until the callback of an armed timer sets the event.
fn noticed(info: &'static WaitInfo, event: &Event) -> WaitEnd {
    if event.wait() { WaitEnd::TimedOut } else { failed(info) }
}

struct PoolTimer {
    timer: PTP_TIMER,
    event: Event,
}

unsafe extern "system" fn on_pool_timer(_instance: PTP_CALLBACK_INSTANCE, event: *mut c_void, _timer: PTP_TIMER) {
    notify(event);
}

impl PoolTimer {
    fn new() -> Result<PoolTimer, Unavailable> {
        let event = Event::new()?;
        // SAFETY: the callback takes the event's handle, which is closed after the timer. No environment is the pool of
        // the process. https://learn.microsoft.com/windows/win32/api/threadpoolapiset/nf-threadpoolapiset-createthreadpooltimer
        let timer = unsafe { CreateThreadpoolTimer(Some(on_pool_timer), event.handle(), std::ptr::null()) };
        if timer == 0 { Err(os::failed("CreateThreadpoolTimer")) } else { Ok(PoolTimer { timer, event }) }
    }
}

impl Waiter for PoolTimer {
    fn wait(&mut self, target: Target) -> WaitEnd {
        let due = args::file_time(args::from_now(THREAD_POOL_TIMER, target.remaining));
        // SAFETY: the timer is open and the time valid to read; no period and no window.
        // https://learn.microsoft.com/windows/win32/api/threadpoolapiset/nf-threadpoolapiset-setthreadpooltimer
        unsafe { SetThreadpoolTimer(self.timer, &raw const due, 0, 0) };
        noticed(THREAD_POOL_TIMER, &self.event)
    }
}

impl Drop for PoolTimer {
    fn drop(&mut self) {
        // SAFETY: the timer is open. It is disarmed, its calls are cancelled or waited for, then it is closed; the event
        // goes after it. https://learn.microsoft.com/windows/win32/api/threadpoolapiset/nf-threadpoolapiset-closethreadpooltimer
        unsafe {
            SetThreadpoolTimer(self.timer, std::ptr::null(), 0, 0);
            WaitForThreadpoolTimerCallbacks(self.timer, 1);
            CloseThreadpoolTimer(self.timer);
        }
    }
}

/// A queue of this waiter's own, which frees all its timers when it is deleted.
struct QueueTimer {
    queue: HANDLE,
    event: Event,
}

unsafe extern "system" fn on_queue_timer(event: *mut c_void, _fired: bool) {
    notify(event);
}

impl QueueTimer {
    fn new() -> Result<QueueTimer, Unavailable> {
        let event = Event::new()?;
        // SAFETY: takes nothing.
        // https://learn.microsoft.com/windows/win32/api/threadpoollegacyapiset/nf-threadpoollegacyapiset-createtimerqueue
        let queue = unsafe { CreateTimerQueue() };
        if queue.is_null() { Err(os::failed("CreateTimerQueue")) } else { Ok(QueueTimer { queue, event }) }
    }
}

impl Waiter for QueueTimer {
    fn wait(&mut self, target: Target) -> WaitEnd {
        let info = TIMER_QUEUE_TIMER;
        let Some(millis) = args::millis(info, target.remaining) else { return too_long(info) };
        let mut timer = std::ptr::null_mut();
        let flags = WT_EXECUTEINTIMERTHREAD | WT_EXECUTEONLYONCE;
        // SAFETY: the queue is open, the place for the timer valid to write to; the callback takes the event's handle,
        // which is closed after the queue.
        // https://learn.microsoft.com/windows/win32/api/threadpoollegacyapiset/nf-threadpoollegacyapiset-createtimerqueuetimer
        let made = unsafe {
            CreateTimerQueueTimer(
                &raw mut timer,
                self.queue,
                Some(on_queue_timer),
                self.event.handle(),
                millis,
                0,
                flags,
            )
        };
        if made == 0 {
            return failed(info);
        }
        let end = noticed(info, &self.event);
        // SAFETY: a timer of this queue, not used again. What is still returning from the call is not waited for.
        // https://learn.microsoft.com/windows/win32/api/threadpoollegacyapiset/nf-threadpoollegacyapiset-deletetimerqueuetimer
        unsafe { DeleteTimerQueueTimer(self.queue, timer, std::ptr::null_mut()) };
        end
    }
}

impl Drop for QueueTimer {
    fn drop(&mut self) {
        // SAFETY: the queue is open and not used again; with this value the call waits until all calls have returned.
        // https://learn.microsoft.com/windows/win32/api/threadpoollegacyapiset/nf-threadpoollegacyapiset-deletetimerqueueex
        unsafe { DeleteTimerQueueEx(self.queue, INVALID_HANDLE_VALUE) };
    }
}

struct Multimedia(Event);

unsafe extern "system" fn on_multimedia_timer(_timer: u32, _message: u32, event: usize, _one: usize, _two: usize) {
    notify(std::ptr::with_exposed_provenance_mut(event));
}

impl Waiter for Multimedia {
    fn wait(&mut self, target: Target) -> WaitEnd {
        let info = TIME_SET_EVENT;
        // The call refuses zero and more than some 16 minutes.
        if target.remaining <= Nanos::ZERO {
            return WaitEnd::TimedOut;
        }
        let Some(millis) = args::millis(info, target.remaining) else { return too_long(info) };
        let flags = TIME_ONESHOT | TIME_CALLBACK_FUNCTION | TIME_KILL_SYNCHRONOUS;
        let event = self.0.handle().expose_provenance();
        // SAFETY: the callback takes the event's handle; the timer is killed, and a call that runs waited for, before
        // it is closed. https://learn.microsoft.com/previous-versions/dd757634(v=vs.85)
        let timer = unsafe { timeSetEvent(millis, 1, Some(on_multimedia_timer), event, flags) };
        if timer == 0 {
            return WaitEnd::Failed(Unavailable::failed(info.call, "it takes 1 ms to 1000 s"));
        }
        let end = noticed(info, &self.0);
        // SAFETY: takes a number. A timer that has ended is refused, which is well.
        // https://learn.microsoft.com/previous-versions/dd757630(v=vs.85)
        unsafe { timeKillEvent(timer) };
        end
    }
}

#[cfg(test)]
mod tests {
    use super::super::conformance::check;
    use super::*;

    #[test]
    fn thread_pool_timer_conforms() {
        check(THREAD_POOL_TIMER);
    }

    #[test]
    fn timer_queue_timer_conforms() {
        check(TIMER_QUEUE_TIMER);
    }

    #[test]
    fn time_set_event_conforms() {
        check(TIME_SET_EVENT);
    }
}
