//! Waiting for a message in the thread's queue.

use std::marker::PhantomData;

use oversleep_record::Unavailable;
use oversleep_system::{Target, WaitEnd, WaitInfo, Waiter, waits};
use windows_sys::Win32::UI::WindowsAndMessaging::{
    GetMessageW, KillTimer, MSG, PM_NOREMOVE, PM_REMOVE, PeekMessageW, SetTimer, WM_TIMER,
};

use super::args;
use super::entry::{failed, proved_at_once, too_long};
use crate::native::waits::calls;
use crate::windows::os;

calls! { waits::WINDOWS;
    SET_TIMER = "set-timer" => {
    take_stale(PM_NOREMOVE);
    proved_at_once(ThreadTimer(PhantomData))
},
}

/// A queue belongs to its thread.
struct ThreadTimer(PhantomData<*const ()>);

/// An armed timer of this thread, which is disarmed on drop.
struct Armed(usize);

impl Armed {
    fn new(millis: u32) -> Result<Armed, Unavailable> {
        // SAFETY: without a window the number is ignored and the message goes to this thread's queue.
        // https://learn.microsoft.com/windows/win32/api/winuser/nf-winuser-settimer
        match unsafe { SetTimer(std::ptr::null_mut(), 0, millis, None) } {
            0 => Err(os::failed("SetTimer")),
            timer => Ok(Armed(timer)),
        }
    }
}

impl Drop for Armed {
    fn drop(&mut self) {
        // SAFETY: takes a number. https://learn.microsoft.com/windows/win32/api/winuser/nf-winuser-killtimer
        unsafe { KillTimer(std::ptr::null_mut(), self.0) };
    }
}

/// Looks for timer messages, which creates the thread's queue if it has none. With `PM_REMOVE` it takes the messages that
/// KillTimer leaves of earlier timers, so that none of them ends the next wait.
fn take_stale(remove: u32) {
    let mut message = MSG::default();
    // SAFETY: the message is valid to write to. https://learn.microsoft.com/windows/win32/api/winuser/nf-winuser-peekmessagew
    let mut peek = || unsafe { PeekMessageW(&raw mut message, std::ptr::null_mut(), WM_TIMER, WM_TIMER, remove) };
    while peek() != 0 && remove == PM_REMOVE {}
}

impl Waiter for ThreadTimer {
    fn wait(&mut self, target: Target) -> WaitEnd {
        // SetTimer takes a longer span for a mistake and uses the shortest.
        const LONGEST_MS: u32 = 0x7fff_ffff;
        let info = SET_TIMER;
        let Some(millis) = args::millis(info, target.remaining).filter(|&millis| millis <= LONGEST_MS) else {
            return too_long(info);
        };
        take_stale(PM_REMOVE);
        let timer = match Armed::new(millis) {
            Ok(timer) => timer,
            Err(reason) => return WaitEnd::Failed(reason),
        };
        let mut message = MSG::default();
        loop {
            // SAFETY: the message is valid to write to. https://learn.microsoft.com/windows/win32/api/winuser/nf-winuser-getmessagew
            match unsafe { GetMessageW(&raw mut message, std::ptr::null_mut(), WM_TIMER, WM_TIMER) } {
                -1 => return failed(info),
                // The message to quit passes every filter.
                0 => return WaitEnd::Interrupted,
                _ if message.wParam == timer.0 => return WaitEnd::TimedOut,
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::conformance::check;
    use super::*;

    #[test]
    fn set_timer_conforms() {
        check(SET_TIMER);
    }
}
