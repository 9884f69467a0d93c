//! Giving the CPU away.

use windows_sys::Win32::System::Threading::{Sleep, SwitchToThread};

use super::entry::{Entry, Stateless, proved_at_once};
use oversleep_system::{Family, Granularity, SlackRule, Target, WaitEnd, WaitInfo, ZeroMeans};

pub(super) static SWITCH_TO_THREAD: Entry = Entry {
    info: WaitInfo {
        name: "switch-to-thread",
        call: "SwitchToThread",
        doc: "Back-off of spin locks, and std::thread::yield_now. Looks for another thread on this processor only; with \
              none it returns at once and burns CPU.",
        family: Family::Yield,
        absolute: false,
        granularity: Granularity::MILLISECOND,
        zero: ZeroMeans::NoArgument,
        slack: SlackRule::NoTimer,
        since: "Windows XP",
        page: "https://learn.microsoft.com/windows/win32/api/processthreadsapi/nf-processthreadsapi-switchtothread",
    },
    open: || {
        proved_at_once(Stateless(|_target: Target| {
            // SAFETY: takes nothing. It tells whether another thread ran, and either is well.
            // https://learn.microsoft.com/windows/win32/api/processthreadsapi/nf-processthreadsapi-switchtothread
            unsafe { SwitchToThread() };
            WaitEnd::TimedOut
        }))
    },
};

pub(super) static SLEEP_ZERO: Entry = Entry {
    info: WaitInfo {
        name: "sleep-zero",
        call: "Sleep(0)",
        doc: "The older yield, in game loops and spin locks: to a ready thread on any processor, of any priority since \
              Windows Server 2003. With a free core it takes some µs, whatever the resolution.",
        family: Family::Yield,
        absolute: false,
        granularity: Granularity::MILLISECOND,
        zero: ZeroMeans::NoArgument,
        slack: SlackRule::NoTimer,
        since: "Windows XP",
        page: "https://learn.microsoft.com/windows/win32/api/synchapi/nf-synchapi-sleep",
    },
    open: || {
        proved_at_once(Stateless(|_target: Target| {
            // SAFETY: takes a number only. https://learn.microsoft.com/windows/win32/api/synchapi/nf-synchapi-sleep
            unsafe { Sleep(0) };
            WaitEnd::TimedOut
        }))
    },
};

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
