//! Windows: the process's timer resolution, and the priority of a thread.

use std::sync::Mutex;
use std::time::Duration;

use windows_sys::Wdk::System::SystemInformation::NtQueryTimerResolution;
use windows_sys::Win32::System::Threading::{
    GetCurrentProcess, GetCurrentThread, GetProcessInformation, GetThreadPriority,
    PROCESS_POWER_THROTTLING_CURRENT_VERSION, PROCESS_POWER_THROTTLING_IGNORE_TIMER_RESOLUTION,
    PROCESS_POWER_THROTTLING_STATE, ProcessPowerThrottling, SetProcessInformation, SetThreadPriority,
    THREAD_PRIORITY_TIME_CRITICAL,
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

/// The requests of this process that are outstanding, in units of 100 ns. The system remembers only one per process.
static REQUESTS: Mutex<Vec<u32>> = Mutex::new(Vec::new());

/// A request for a timer resolution, taken back on drop.
#[derive(Debug)]
pub(crate) struct Timer {
    asked: u32,
    throttling: Option<u32>,
}

/// Asks for this timer period, and that it stays while the process's windows are hidden (Windows 11). The request is
/// held even where the resolution is as fine already, because that may end with another process.
pub(crate) fn hold_timer(period: Duration) -> (Option<Timer>, Outcome<Duration>) {
    let asked = u32::try_from(period.as_nanos() / 100).unwrap_or(u32::MAX).max(1);
    let (mut coarsest, mut finest, mut was) = (0, 0, 0);
    // SAFETY: the three numbers are valid to write to.
    // https://learn.microsoft.com/windows-hardware/drivers/ddi/wdm/nf-wdm-exquerytimerresolution has the same values.
    let status = unsafe { NtQueryTimerResolution(&raw mut coarsest, &raw mut finest, &raw mut was) };
    let mut requests = REQUESTS.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    requests.push(asked);
    let result = if status < 0 { Err(status) } else { request_finest(&requests) };
    match result {
        Ok(now) => {
            let outcome = if now < was {
                Outcome::Applied { was: units(was), now: units(now) }
            } else {
                Outcome::AlreadyFiner { is: units(was) }
            };
            (Some(Timer { asked, throttling: ignore_hiding() }), outcome)
        }
        Err(errno) => {
            requests.pop();
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
        let mut requests = REQUESTS.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(index) = requests.iter().position(|&asked| asked == self.asked) {
            requests.swap_remove(index);
        }
        // Taking back what was granted does not fail; drop has nobody to tell if it did.
        let _ = request_finest(&requests);
        if let Some(mut state) = throttling().filter(|_| self.throttling.is_some()) {
            let bit = PROCESS_POWER_THROTTLING_IGNORE_TIMER_RESOLUTION;
            state.ControlMask = state.ControlMask & !bit | self.throttling.unwrap_or(0) & bit;
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

const STATE_SIZE: u32 = size_of::<PROCESS_POWER_THROTTLING_STATE>() as u32;

fn throttling() -> Option<PROCESS_POWER_THROTTLING_STATE> {
    let mut state = PROCESS_POWER_THROTTLING_STATE {
        Version: PROCESS_POWER_THROTTLING_CURRENT_VERSION,
        ControlMask: 0,
        StateMask: 0,
    };
    // SAFETY: the state is valid to write to, for its size. The call is refused before Windows 11, and changes nothing.
    // https://learn.microsoft.com/windows/win32/api/processthreadsapi/nf-processthreadsapi-getprocessinformation
    let result = unsafe {
        GetProcessInformation(GetCurrentProcess(), ProcessPowerThrottling, (&raw mut state).cast(), STATE_SIZE)
    };
    (result != 0).then_some(state)
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
