//! Giving the CPU away.

use oversleep_system::{Target, WaitEnd, WaitInfo, waits};
use windows_sys::Win32::System::Threading::{Sleep, SwitchToThread};

use super::entry::{Stateless, proved_at_once};
use crate::native::waits::calls;

calls! { waits::WINDOWS;
    SWITCH_TO_THREAD = "switch-to-thread" => proved_at_once(Stateless(switch_to_thread)),
    SLEEP_ZERO = "sleep-zero" => proved_at_once(Stateless(sleep_zero)),
}

fn switch_to_thread(_: Target) -> WaitEnd {
    // SAFETY: takes nothing. It tells whether another thread ran, and either is well.
    // https://learn.microsoft.com/windows/win32/api/processthreadsapi/nf-processthreadsapi-switchtothread
    unsafe { SwitchToThread() };
    WaitEnd::TimedOut
}

fn sleep_zero(_: Target) -> WaitEnd {
    // SAFETY: takes a number only. https://learn.microsoft.com/windows/win32/api/synchapi/nf-synchapi-sleep
    unsafe { Sleep(0) };
    WaitEnd::TimedOut
}

#[cfg(test)]
mod tests {
    use super::super::conformance::check;
    use super::*;

    #[test]
    fn switch_to_thread_conforms() {
        check(SWITCH_TO_THREAD);
    }

    #[test]
    fn sleep_zero_conforms() {
        check(SLEEP_ZERO);
    }
}
