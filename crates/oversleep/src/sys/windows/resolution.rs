//! Windows: the priority of a thread, and the settings that Windows lacks.

use std::time::Duration;

use windows_sys::Win32::System::Threading::{
    GetCurrentThread, GetThreadPriority, SetThreadPriority, THREAD_PRIORITY_TIME_CRITICAL,
};

use crate::outcome::{Denied, Outcome, Why};
use crate::scheduling::Scheduling;

use super::denied;

/// The thread's former priority, restored on drop.
#[derive(Debug)]
pub(crate) struct RealTime {
    was: i32,
}

/// Sets the time-critical priority for the calling thread; `priority` has no meaning here.
pub(crate) fn hold_real_time(_priority: u8) -> (Option<RealTime>, Outcome<Scheduling>) {
    const ERROR: i32 = i32::MAX;
    // SAFETY: the pseudo-handle needs no closing.
    // https://learn.microsoft.com/windows/win32/api/processthreadsapi/nf-processthreadsapi-getthreadpriority
    let priority = || unsafe { GetThreadPriority(GetCurrentThread()) };
    let was = priority();
    if was == ERROR {
        return (None, Outcome::Denied(denied("GetThreadPriority", "allow the thread to query itself")));
    }
    if was >= THREAD_PRIORITY_TIME_CRITICAL {
        return (None, Outcome::AlreadyFiner { is: Scheduling::TimeCritical });
    }
    // SAFETY: as above.
    // https://learn.microsoft.com/windows/win32/api/processthreadsapi/nf-processthreadsapi-setthreadpriority
    if unsafe { SetThreadPriority(GetCurrentThread(), THREAD_PRIORITY_TIME_CRITICAL) } == 0 {
        return (None, Outcome::Denied(denied("SetThreadPriority", "take the process out of the job that limits it")));
    }
    if priority() != THREAD_PRIORITY_TIME_CRITICAL {
        let why = Why::Ignored { call: "SetThreadPriority" };
        return (None, Outcome::Denied(Denied { why, how: "take the process out of the job that limits it" }));
    }
    let before = if was < 0 { Scheduling::Background } else { Scheduling::Ordinary };
    (Some(RealTime { was }), Outcome::Applied { was: before, now: Scheduling::TimeCritical })
}

impl Drop for RealTime {
    fn drop(&mut self) {
        // SAFETY: the guard never leaves its thread, so this is the thread it changed.
        unsafe { SetThreadPriority(GetCurrentThread(), self.was) };
    }
}

/// On Windows only power plans control idle states.
#[derive(Debug)]
pub(crate) enum CpuLatency {}

/// Always denied.
pub(crate) fn hold_cpu_latency(_latency: Duration) -> (Option<CpuLatency>, Outcome<Duration>) {
    let why = Why::Unsupported { what: "limit on wake-up latency that a process can set" };
    (None, Outcome::Denied(Denied { why, how: "choose a power plan with a higher minimum processor state" }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_threads_priority_is_restored() {
        // SAFETY: the pseudo-handle needs no closing.
        // https://learn.microsoft.com/windows/win32/api/processthreadsapi/nf-processthreadsapi-getthreadpriority
        let priority = || unsafe { GetThreadPriority(GetCurrentThread()) };
        let before = priority();
        let (held, outcome) = hold_real_time(10);
        match outcome {
            Outcome::Applied { was, now } => {
                assert_eq!((was, now), (Scheduling::Ordinary, Scheduling::TimeCritical));
                assert_eq!(priority(), THREAD_PRIORITY_TIME_CRITICAL);
                assert_eq!(hold_real_time(10).1, Outcome::AlreadyFiner { is: now });
                assert_eq!(priority(), THREAD_PRIORITY_TIME_CRITICAL);
            }
            outcome => assert!(outcome.denied().is_some_and(|denied| !denied.how.is_empty()), "{outcome:?}"),
        }
        drop(held);
        assert_eq!(priority(), before);
    }
}
