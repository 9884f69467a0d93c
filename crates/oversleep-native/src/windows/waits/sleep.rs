//! Calls that do nothing but wait.

use oversleep_record::Nanos;
use windows_sys::Win32::System::Threading::{Sleep, SleepEx};

use super::args;
use super::ending;
use super::entry::{Entry, Stateless, proved_at_once, thread_sleep, too_long};
use crate::windows::os::{self, Newer};
use oversleep_system::{Family, Granularity, SlackRule, Target, WaitEnd, WaitInfo, ZeroMeans};

/// The unit of the kernel's own times.
pub(super) const HUNDRED_NS: Granularity = Granularity { step: Nanos(100), rounds_up: true };

pub(super) static SLEEP: Entry = Entry {
    info: WaitInfo {
        name: "sleep",
        call: "Sleep",
        doc: "What most programs call. Ends at the first timer interrupt after its ms have passed, so a millisecond \
              takes up to 15.6 ms more unless the process asked for a finer resolution. Windows 7 may end it early.",
        family: Family::Sleep,
        absolute: false,
        granularity: Granularity::MILLISECOND,
        zero: ZeroMeans::Yields,
        slack: SlackRule::TimerResolution,
        since: "Windows XP",
        page: "https://learn.microsoft.com/windows/win32/api/synchapi/nf-synchapi-sleep",
    },
    open: || proved_at_once(Stateless(sleep)),
};

fn sleep(target: Target) -> WaitEnd {
    let Some(millis) = args::millis(target.remaining) else { return too_long(&SLEEP.info) };
    // SAFETY: takes a number only. https://learn.microsoft.com/windows/win32/api/synchapi/nf-synchapi-sleep
    unsafe { Sleep(millis) };
    WaitEnd::TimedOut
}

pub(super) static SLEEP_EX: Entry = Entry {
    info: WaitInfo {
        name: "sleep-ex",
        call: "SleepEx(alertable)",
        doc: "Sleep of programs with completion routines: asynchronous calls queued to the thread run during it and end \
              it before its time. Otherwise as Sleep.",
        family: Family::Sleep,
        absolute: false,
        granularity: Granularity::MILLISECOND,
        zero: ZeroMeans::Yields,
        slack: SlackRule::TimerResolution,
        since: "Windows XP",
        page: "https://learn.microsoft.com/windows/win32/api/synchapi/nf-synchapi-sleepex",
    },
    open: || {
        let by_call = ending::this_thread()?;
        proved_at_once(Stateless(move |target| {
            // Lives as long as the waiter.
            let _ = &by_call;
            sleep_ex(target)
        }))
    },
};

fn sleep_ex(target: Target) -> WaitEnd {
    let Some(millis) = args::millis(target.remaining) else { return too_long(&SLEEP_EX.info) };
    // SAFETY: takes numbers only. https://learn.microsoft.com/windows/win32/api/synchapi/nf-synchapi-sleepex
    match unsafe { SleepEx(millis, 1) } {
        0 => WaitEnd::TimedOut,
        _ => WaitEnd::Interrupted,
    }
}

pub(super) static NT_DELAY_EXECUTION: Entry = Entry {
    info: WaitInfo {
        name: "nt-delay-execution",
        call: "NtDelayExecution",
        doc: "What Sleep ends in, in units of 100 ns; the kernel's own name of it is documented, this one is not. The finer \
              unit buys nothing by itself: it ends at a timer interrupt as well. Programs use it with a resolution of 0.5 ms.",
        family: Family::Sleep,
        absolute: false,
        granularity: HUNDRED_NS,
        zero: ZeroMeans::Yields,
        slack: SlackRule::TimerResolution,
        since: "Windows XP",
        page: "https://learn.microsoft.com/windows-hardware/drivers/ddi/wdm/nf-wdm-kedelayexecutionthread",
    },
    open: || {
        let delay = NT_DELAY.required()?;
        proved_at_once(Stateless(move |target| nt_delay_execution(delay, target)))
    },
};

type NtDelayExecution = unsafe extern "system" fn(alertable: u8, interval: *const i64) -> i32;

// SAFETY: as ntdll exports it: BOOLEAN, PLARGE_INTEGER.
static NT_DELAY: Newer<NtDelayExecution> = unsafe { Newer::new(c"ntdll.dll", c"NtDelayExecution", "Windows XP") };

fn nt_delay_execution(delay: NtDelayExecution, target: Target) -> WaitEnd {
    const STATUS_SUCCESS: i32 = 0;
    let interval = args::from_now(target.remaining);
    // SAFETY: the interval is valid to read.
    match unsafe { delay(0, &raw const interval) } {
        STATUS_SUCCESS => WaitEnd::TimedOut,
        status if status < 0 => WaitEnd::Failed(os::failed_status(NT_DELAY_EXECUTION.info.call, status)),
        // A yield with nobody to yield to, and what ends it early, are told by statuses above zero.
        _ if target.remaining <= Nanos::ZERO => WaitEnd::TimedOut,
        _ => WaitEnd::Interrupted,
    }
}

pub(super) static THREAD_SLEEP: Entry = Entry {
    info: WaitInfo {
        name: "thread-sleep",
        call: "std::thread::sleep",
        doc: "What Rust programs call. A high-resolution waitable timer where there is one (Windows 10 1803), in units of \
              100 ns, of which the standard library drops the rest, and whatever the resolution; Sleep before, and for a span \
              of zero.",
        family: Family::Sleep,
        absolute: false,
        granularity: Granularity { step: HUNDRED_NS.step, rounds_up: false },
        zero: ZeroMeans::Yields,
        slack: SlackRule::None,
        since: "Windows XP",
        page: "https://doc.rust-lang.org/std/thread/fn.sleep.html",
    },
    open: || proved_at_once(Stateless(thread_sleep)),
};

#[cfg(test)]
mod tests {
    use super::super::conformance::check;
    use super::*;

    #[test]
    fn sleep_conforms() {
        check(&SLEEP);
    }

    #[test]
    fn sleep_ex_conforms() {
        check(&SLEEP_EX);
    }

    #[test]
    fn nt_delay_execution_conforms() {
        check(&NT_DELAY_EXECUTION);
    }

    #[test]
    fn thread_sleep_conforms() {
        check(&THREAD_SLEEP);
    }
}
