//! Windows: the process's timer resolution, and the priority of a thread.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use windows_sys::Wdk::System::SystemInformation::NtQueryTimerResolution;
use windows_sys::Wdk::System::Threading::{NtQueryInformationProcess, PROCESSINFOCLASS};
use windows_sys::Win32::System::Threading::{
    GetCurrentProcess, GetCurrentThread, GetThreadPriority, PROCESS_POWER_THROTTLING_CURRENT_VERSION,
    PROCESS_POWER_THROTTLING_IGNORE_TIMER_RESOLUTION, PROCESS_POWER_THROTTLING_STATE, ProcessPowerThrottling,
    SetProcessInformation, SetThreadPriority, THREAD_PRIORITY_TIME_CRITICAL,
};

use crate::outcome::{Denied, Outcome, Why};
use crate::scheduling::Scheduling;

use super::denied;

#[link(name = "ntdll", kind = "raw-dylib")]
// SAFETY: as ntdll has exported it since Windows 2000: ULONG, BOOLEAN, PULONG.
unsafe extern "system" {
    // Not documented by the vendor; timeBeginPeriod is built on it.
    fn NtSetTimerResolution(desired: u32, set: u8, current: *mut u32) -> i32;
}

/// What this process asks for. The system remembers one request per process, so they are counted here.
#[derive(Debug)]
struct Requests {
    /// Those outstanding, in units of 100 ns.
    asked: Vec<u32>,
    /// The control mask of power throttling as the first of them found it; `None` where Windows has no such rule.
    throttling_before: Option<u32>,
}

static REQUESTS: Mutex<Requests> = Mutex::new(Requests { asked: Vec::new(), throttling_before: None });

fn requests() -> MutexGuard<'static, Requests> {
    REQUESTS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A request for a timer resolution, taken back on drop.
#[derive(Debug)]
pub(crate) struct Timer {
    asked: u32,
}

/// Asks for this timer period, and that it stays while the process's windows are hidden (Windows 11). The request is
/// held even where the resolution is as fine already, because that may end with another process.
pub(crate) fn hold_timer(period: Duration) -> (Option<Timer>, Outcome<Duration>) {
    let asked = u32::try_from(period.as_nanos() / 100).unwrap_or(u32::MAX).max(1);
    let (mut coarsest, mut finest, mut was) = (0, 0, 0);
    // SAFETY: the three numbers are valid to write to.
    // https://learn.microsoft.com/windows-hardware/drivers/ddi/wdm/nf-wdm-exquerytimerresolution has the same values.
    let status = unsafe { NtQueryTimerResolution(&raw mut coarsest, &raw mut finest, &raw mut was) };
    let mut requests = requests();
    requests.asked.push(asked);
    let result = if status < 0 { Err(status) } else { request_finest(&requests.asked) };
    match result {
        Ok(now) => {
            if requests.asked.len() == 1 {
                requests.throttling_before = ignore_hiding();
            }
            let outcome = if now < was {
                Outcome::Applied { was: units(was), now: units(now) }
            } else {
                Outcome::AlreadyFiner { is: units(was) }
            };
            (Some(Timer { asked }), outcome)
        }
        Err(errno) => {
            requests.asked.pop();
            let why = Why::Failed { call: "NtSetTimerResolution", errno };
            (None, Outcome::Denied(Denied { why, how: "ask for a period between 0.5 and 15.6 ms" }))
        }
    }
}

fn units(units: u32) -> Duration {
    Duration::from_nanos(u64::from(units) * 100)
}

/// Passes on the finest of the requests; what is in effect now, or the status of the failure.
fn request_finest(requests: &[u32]) -> Result<u32, i32> {
    let mut now = 0;
    let (desired, set) = requests.iter().min().map_or((0, 0), |&finest| (finest, 1));
    // SAFETY: `now` is valid to write to; with `set` zero the process's request is taken back.
    let status = unsafe { NtSetTimerResolution(desired, set, &raw mut now) };
    if status < 0 { Err(status) } else { Ok(now) }
}

impl Drop for Timer {
    fn drop(&mut self) {
        let mut requests = requests();
        if let Some(index) = requests.asked.iter().position(|&asked| asked == self.asked) {
            requests.asked.swap_remove(index);
        }
        // Taking back what was granted does not fail; drop has nobody to tell if it did.
        let _ = request_finest(&requests.asked);
        if requests.asked.is_empty()
            && let Some(before) = requests.throttling_before.take()
            && let Some(mut state) = throttling()
        {
            let bit = PROCESS_POWER_THROTTLING_IGNORE_TIMER_RESOLUTION;
            state.ControlMask = state.ControlMask & !bit | before & bit;
            set_throttling(&state);
        }
    }
}

/// Opts out of losing the resolution while hidden; the former control mask, or `None` where Windows has no such rule.
fn ignore_hiding() -> Option<u32> {
    let was = throttling()?;
    let bit = PROCESS_POWER_THROTTLING_IGNORE_TIMER_RESOLUTION;
    let state = PROCESS_POWER_THROTTLING_STATE {
        ControlMask: was.ControlMask | bit,
        // Controlled, and off: the resolution is not ignored.
        StateMask: was.StateMask & !bit,
        ..was
    };
    set_throttling(&state).then_some(was.ControlMask)
}

/// What `ProcessPowerThrottling` is called one layer below.
const POWER_THROTTLING_STATE: PROCESSINFOCLASS = 77;
const STATE_SIZE: u32 = size_of::<PROCESS_POWER_THROTTLING_STATE>() as u32;

fn throttling() -> Option<PROCESS_POWER_THROTTLING_STATE> {
    let mut state = PROCESS_POWER_THROTTLING_STATE {
        Version: PROCESS_POWER_THROTTLING_CURRENT_VERSION,
        ControlMask: 0,
        StateMask: 0,
    };
    // SAFETY: the state is valid to write to, for its size. The class is refused before Windows 10 (1709).
    // https://learn.microsoft.com/windows/win32/api/winternl/nf-winternl-ntqueryinformationprocess
    // GetProcessInformation has the same answer, but its absence, as in Wine 8, ends the process.
    let status = unsafe {
        NtQueryInformationProcess(
            GetCurrentProcess(),
            POWER_THROTTLING_STATE,
            (&raw mut state).cast(),
            STATE_SIZE,
            std::ptr::null_mut(),
        )
    };
    (status >= 0).then_some(state)
}

fn set_throttling(state: &PROCESS_POWER_THROTTLING_STATE) -> bool {
    // SAFETY: the state is valid for its size.
    // https://learn.microsoft.com/windows/win32/api/processthreadsapi/nf-processthreadsapi-setprocessinformation
    unsafe {
        SetProcessInformation(GetCurrentProcess(), ProcessPowerThrottling, std::ptr::from_ref(state).cast(), STATE_SIZE)
            != 0
    }
}

/// The thread's priority before, put back on drop.
#[derive(Debug)]
pub(crate) struct RealTime {
    was: i32,
}

/// The time-critical priority for the calling thread; `priority` has no finer meaning here.
pub(crate) fn hold_real_time(_priority: u8) -> (Option<RealTime>, Outcome<Scheduling>) {
    const ERROR: i32 = i32::MAX;
    // SAFETY: the pseudo-handle needs no closing.
    // https://learn.microsoft.com/windows/win32/api/processthreadsapi/nf-processthreadsapi-getthreadpriority
    let was = unsafe { GetThreadPriority(GetCurrentThread()) };
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
    let before = if was < 0 { Scheduling::Background } else { Scheduling::Ordinary };
    (Some(RealTime { was }), Outcome::Applied { was: before, now: Scheduling::TimeCritical })
}

impl Drop for RealTime {
    fn drop(&mut self) {
        // SAFETY: the guard never leaves its thread, so this is the thread it changed.
        unsafe { SetThreadPriority(GetCurrentThread(), self.was) };
    }
}

/// Windows leaves idle states to its power plans.
#[derive(Debug)]
pub(crate) enum CpuLatency {}

/// There is no such setting for a process.
pub(crate) fn hold_cpu_latency(_latency: Duration) -> (Option<CpuLatency>, Outcome<Duration>) {
    let why = Why::Unsupported { what: "limit on wake-up latency that a process can set" };
    (None, Outcome::Denied(Denied { why, how: "choose a power plan with a higher minimum processor state" }))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Periods that no other test asks for.
    const PERIODS: [Duration; 2] = [Duration::from_micros(7_770), Duration::from_micros(8_880)];

    fn outstanding(period: Duration) -> usize {
        requests().asked.iter().filter(|&&asked| u128::from(asked) == period.as_nanos() / 100).count()
    }

    #[test]
    fn requests_are_counted_and_taken_back_in_any_order() {
        let [one, other] = PERIODS;
        let (first, outcome) = hold_timer(one);
        if first.is_none() {
            assert!(outcome.denied().is_some_and(|denied| !denied.how.is_empty()) && outstanding(one) == 0);
            return;
        }
        let ((second, _), (third, _)) = (hold_timer(other), hold_timer(one));
        assert_eq!((outstanding(one), outstanding(other)), (2, 1));
        drop(first);
        assert_eq!((outstanding(one), outstanding(other)), (1, 1));
        drop((second, third));
        assert_eq!((outstanding(one), outstanding(other)), (0, 0));
    }

    #[test]
    fn what_is_in_effect_is_what_was_asked_or_finer() {
        let period = Duration::from_millis(4);
        match hold_timer(period).1 {
            Outcome::Applied { was, now } => assert!(now < was),
            Outcome::AlreadyFiner { is } => assert!(is > Duration::ZERO),
            Outcome::Denied(denied) => assert!(!denied.how.is_empty()),
        }
    }

    #[test]
    fn the_threads_priority_comes_back() {
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
