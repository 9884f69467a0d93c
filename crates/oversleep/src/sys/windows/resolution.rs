//! Windows: the priority and the multimedia class of a thread, and the settings that Windows lacks.

use std::time::Duration;

use windows_sys::Win32::System::Threading::{
    GetCurrentThread, GetThreadPriority, SetThreadPriority, THREAD_PRIORITY_TIME_CRITICAL,
};

use super::denied;
use crate::outcome::{Denied, Outcome, Why};
use crate::scheduling::{RealTimeRequest, Scheduling};

/// The call that sets a priority.
pub(crate) const SET_POLICY: &str = "SetThreadPriority";

/// A thread's priority relative to its process's.
pub(crate) type Policy = i32;

/// The time-critical priority; requested priorities and periods have no meaning here.
pub(crate) fn real_time_policy(_was: Policy, _request: RealTimeRequest) -> Policy {
    THREAD_PRIORITY_TIME_CRITICAL
}

/// The calling thread's priority.
pub(crate) fn policy() -> Result<Policy, Denied> {
    const ERROR: i32 = i32::MAX;
    // SAFETY: the pseudo-handle needs no closing.
    // https://learn.microsoft.com/windows/win32/api/processthreadsapi/nf-processthreadsapi-getthreadpriority
    match unsafe { GetThreadPriority(GetCurrentThread()) } {
        ERROR => Err(denied("GetThreadPriority", "allow the thread to query itself")),
        priority => Ok(priority),
    }
}

/// Sets the calling thread's priority.
pub(crate) fn set_policy(priority: Policy) -> Result<(), Denied> {
    // SAFETY: the pseudo-handle needs no closing.
    // https://learn.microsoft.com/windows/win32/api/processthreadsapi/nf-processthreadsapi-setthreadpriority
    match unsafe { SetThreadPriority(GetCurrentThread(), priority) } {
        0 => Err(denied("SetThreadPriority", "take the process out of the job that limits it")),
        _ => Ok(()),
    }
}

/// The name of a priority.
pub(crate) fn scheduling(priority: Policy) -> Scheduling {
    match priority {
        THREAD_PRIORITY_TIME_CRITICAL.. => Scheduling::TimeCritical,
        0.. => Scheduling::Ordinary,
        _ => Scheduling::Background,
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
    use crate::resolution::{Resolution, Value, What};

    #[test]
    fn the_threads_priority_is_restored() {
        let before = policy();
        let held = Resolution::new().real_time(10).hold();
        match held.outcome(What::RealTime).expect("it was requested") {
            Outcome::Applied { was, now } => {
                let now_expected = Value::Scheduling(Scheduling::TimeCritical);
                assert_eq!((*was, *now), (Value::Scheduling(Scheduling::Ordinary), now_expected));
                let again = Resolution::new().real_time(10).hold();
                assert_eq!(again.outcome(What::RealTime), Some(&Outcome::AlreadyFiner { is: now_expected }));
                assert_eq!(policy(), Ok(THREAD_PRIORITY_TIME_CRITICAL));
            }
            outcome => assert!(outcome.denied().is_some_and(|denied| !denied.how.is_empty()), "{outcome:?}"),
        }
        drop(held);
        assert_eq!(policy(), before);
    }
}
