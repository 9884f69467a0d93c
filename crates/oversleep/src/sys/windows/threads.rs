//! Windows: a thread's processors, and the timer slack that Windows lacks.

use windows_sys::Win32::System::Threading::{
    GetCurrentProcess, GetCurrentThread, GetProcessAffinityMask, SetThreadAffinityMask,
};

use super::denied;
use crate::outcome::{Denied, Why};

const NO_SLACK: Denied =
    Denied { why: Why::Unsupported { what: "per-thread timer slack" }, how: "request a timer resolution instead" };

pub(crate) fn timer_slack_ns() -> Result<u64, Denied> {
    Err(NO_SLACK)
}

pub(crate) fn set_timer_slack_ns(_slack_ns: u64) -> Result<(), Denied> {
    Err(NO_SLACK)
}

/// What would set a slack.
pub(crate) const SET_SLACK: &str = "a timer slack";
/// What would set a slice.
pub(crate) const SET_SLICE: &str = "a time slice";
/// No slice can be set.
pub(crate) const FINEST_SLICE_NS: u64 = 100_000;

const NO_SLICE: Denied = Denied {
    why: Why::Unsupported { what: "time slice that a thread can set" },
    how: "request multimedia or real-time scheduling instead",
};

pub(crate) fn slice_ns() -> Result<u64, Denied> {
    Err(NO_SLICE)
}

/// A sleep finds no slice to replace.
pub(crate) fn shorten_slice_for_sleep(_ns: u64) -> Result<u64, Denied> {
    Err(NO_SLICE)
}

pub(crate) fn set_slice_ns(_ns: u64) -> Result<(), Denied> {
    Err(NO_SLICE)
}

/// No slice was held.
pub(crate) fn restore_slice_ns(_ns: u64) {}

/// A sleep finds no slack to replace.
pub(crate) use timer_slack_ns as sleep_slack_ns;

pub(crate) fn granted_slack_ns(requested_ns: u64) -> u64 {
    requested_ns
}

/// A thread's CPU time has the granularity of the scheduler's tick here.
pub(crate) fn thread_cpu_ns() -> Option<u64> {
    None
}

/// The processors of its group that this process may run on.
pub(crate) fn allowed_cpus() -> Option<Vec<usize>> {
    let (mut process, mut system) = (0_usize, 0_usize);
    // SAFETY: both masks are writable, and the pseudo-handle needs no closing.
    // https://learn.microsoft.com/windows/win32/api/winbase/nf-winbase-getprocessaffinitymask
    let result = unsafe { GetProcessAffinityMask(GetCurrentProcess(), &raw mut process, &raw mut system) };
    // A process in several groups gets zero.
    (result != 0 && process != 0).then(|| (0..usize::BITS as usize).filter(|cpu| process >> cpu & 1 == 1).collect())
}

/// Pins the calling thread to one processor. Only for threads created for this: nothing restores the old mask.
pub(crate) fn pin_this_thread(cpu: usize) -> Result<(), Denied> {
    let mask = u32::try_from(cpu).ok().and_then(|cpu| 1_usize.checked_shl(cpu)).unwrap_or(0);
    // SAFETY: the pseudo-handle needs no closing; a mask without an allowed processor is refused.
    // https://learn.microsoft.com/windows/win32/api/winbase/nf-winbase-setthreadaffinitymask
    let before = unsafe { SetThreadAffinityMask(GetCurrentThread(), mask) };
    if before == 0 {
        Err(denied("SetThreadAffinityMask", "add the processor to the process's affinity"))
    } else {
        Ok(())
    }
}

/// Windows has no `fork`.
pub(crate) fn on_fork(_before: extern "C" fn(), _handler: extern "C" fn()) {}

/// Without `fork` there is no child.
#[cfg(test)]
#[track_caller]
pub(crate) fn forked(_body: impl FnOnce() -> bool) -> Option<bool> {
    oversleep_testing::skip("this system has no fork");
    None
}
