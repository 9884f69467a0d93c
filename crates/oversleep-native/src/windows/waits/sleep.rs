//! Calls that do nothing but wait.

use oversleep_record::Nanos;
use oversleep_system::{Target, WaitEnd, WaitInfo, waits};
use windows_sys::Win32::System::Threading::{Sleep, SleepEx};

use super::args;
use super::ending;
use super::entry::{Stateless, proved_at_once, thread_sleep, too_long};
use crate::native::waits::calls;
use crate::windows::os::{self, Newer};

calls! { waits::WINDOWS;
    SLEEP = "sleep" => proved_at_once(Stateless(sleep)),
    SLEEP_EX = "sleep-ex" => {
        let by_call = ending::this_thread()?;
        proved_at_once(Stateless(move |target| {
            // The closure owns it, so it lives as long as the waiter.
            let _ = &by_call;
            sleep_ex(target)
        }))
    },
    NT_DELAY_EXECUTION = "nt-delay-execution" => {
        let delay = NT_DELAY.required()?;
        proved_at_once(Stateless(move |target| nt_delay_execution(delay, target)))
    },
    THREAD_SLEEP = "thread-sleep" => proved_at_once(Stateless(thread_sleep)),
}

fn sleep(target: Target) -> WaitEnd {
    let Some(millis) = args::millis(SLEEP, target.remaining) else { return too_long(SLEEP) };
    // SAFETY: takes a number only. https://learn.microsoft.com/windows/win32/api/synchapi/nf-synchapi-sleep
    unsafe { Sleep(millis) };
    WaitEnd::TimedOut
}

fn sleep_ex(target: Target) -> WaitEnd {
    let Some(millis) = args::millis(SLEEP_EX, target.remaining) else { return too_long(SLEEP_EX) };
    // SAFETY: takes numbers only. https://learn.microsoft.com/windows/win32/api/synchapi/nf-synchapi-sleepex
    match unsafe { SleepEx(millis, 1) } {
        0 => WaitEnd::TimedOut,
        _ => WaitEnd::Interrupted,
    }
}

type NtDelayExecution = unsafe extern "system" fn(alertable: u8, interval: *const i64) -> i32;

// SAFETY: as ntdll exports it: BOOLEAN, PLARGE_INTEGER.
static NT_DELAY: Newer<NtDelayExecution> = unsafe { Newer::new(c"ntdll.dll", c"NtDelayExecution", "Windows XP") };

fn nt_delay_execution(delay: NtDelayExecution, target: Target) -> WaitEnd {
    const STATUS_SUCCESS: i32 = 0;
    let interval = args::from_now(NT_DELAY_EXECUTION, target.remaining);
    // SAFETY: the interval is valid to read.
    match unsafe { delay(0, &raw const interval) } {
        STATUS_SUCCESS => WaitEnd::TimedOut,
        status if status < 0 => WaitEnd::Failed(os::failed_status(NT_DELAY_EXECUTION.call, status)),
        // Statuses above zero tell a yield that found no other thread, and what ended the wait early.
        _ if target.remaining <= Nanos::ZERO => WaitEnd::TimedOut,
        _ => WaitEnd::Interrupted,
    }
}

#[cfg(test)]
mod tests {
    use super::super::conformance::check;
    use super::*;

    #[test]
    fn sleep_conforms() {
        check(SLEEP);
    }

    #[test]
    fn sleep_ex_conforms() {
        check(SLEEP_EX);
    }

    #[test]
    fn nt_delay_execution_conforms() {
        check(NT_DELAY_EXECUTION);
    }

    #[test]
    fn thread_sleep_conforms() {
        check(THREAD_SLEEP);
    }
}
