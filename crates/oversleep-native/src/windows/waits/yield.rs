//! Giving the CPU away.

use windows_sys::Win32::System::Threading::{Sleep, SwitchToThread};

use super::entry::{Entry, Stateless, proved_at_once};
use oversleep_system::waits::windows::{SLEEP_ZERO, SWITCH_TO_THREAD};
use oversleep_system::{Target, WaitEnd};

pub(super) const ENTRIES: &[Entry] = &[
    Entry::new(&SWITCH_TO_THREAD, || {
        proved_at_once(Stateless(|_target: Target| {
            // SAFETY: takes nothing. It tells whether another thread ran, and either is well.
            // https://learn.microsoft.com/windows/win32/api/processthreadsapi/nf-processthreadsapi-switchtothread
            unsafe { SwitchToThread() };
            WaitEnd::TimedOut
        }))
    }),
    Entry::new(&SLEEP_ZERO, || {
        proved_at_once(Stateless(|_target: Target| {
            // SAFETY: takes a number only. https://learn.microsoft.com/windows/win32/api/synchapi/nf-synchapi-sleep
            unsafe { Sleep(0) };
            WaitEnd::TimedOut
        }))
    }),
];

#[cfg(test)]
mod tests {
    use super::super::conformance::check;
    use super::*;

    #[test]
    fn switch_to_thread_conforms() {
        check(&SWITCH_TO_THREAD);
    }

    #[test]
    fn sleep_zero_conforms() {
        check(&SLEEP_ZERO);
    }
}
