//! Windows 11 may drop the timer resolution of a process whose windows are all hidden; a process can opt out.

use windows_sys::Wdk::System::Threading::{NtQueryInformationProcess, PROCESSINFOCLASS};
use windows_sys::Win32::Foundation::HANDLE;
use windows_sys::Win32::System::Threading::{
    GetCurrentProcess, PROCESS_POWER_THROTTLING_CURRENT_VERSION, PROCESS_POWER_THROTTLING_IGNORE_TIMER_RESOLUTION,
    PROCESS_POWER_THROTTLING_STATE,
};

#[link(name = "ntdll", kind = "raw-dylib")]
// SAFETY: as ntdll exports it: HANDLE, PROCESSINFOCLASS, PVOID, ULONG.
unsafe extern "system" {
    // What SetProcessInformation calls, which Windows 7 lacks: a program that imports that one does not start there.
    fn NtSetInformationProcess(process: HANDLE, class: PROCESSINFOCLASS, information: *const State, size: u32) -> i32;
}

type State = PROCESS_POWER_THROTTLING_STATE;

/// What `ProcessPowerThrottling` is called one layer below.
const POWER_THROTTLING_STATE: PROCESSINFOCLASS = 77;
const STATE_SIZE: u32 = size_of::<State>() as u32;
const BIT: u32 = PROCESS_POWER_THROTTLING_IGNORE_TIMER_RESOLUTION;

/// The two masks of power throttling as they were found.
#[derive(Debug)]
pub(super) struct Throttling {
    control: u32,
    state: u32,
}

/// Opts out; what is to be put back, or `None` where Windows has no such rule.
pub(super) fn opt_out() -> Option<Throttling> {
    let was = get()?;
    // Controlled, and off: the resolution is not ignored.
    let out = State { ControlMask: was.ControlMask | BIT, StateMask: was.StateMask & !BIT, ..was };
    set(&out).then_some(Throttling { control: was.ControlMask, state: was.StateMask })
}

/// Puts this rule back as it was found; others stay as they are by now.
pub(super) fn put_back(was: &Throttling) {
    if let Some(now) = get() {
        // What could be set can be set back, and there is nobody to tell otherwise.
        set(&restored(was, &now));
    }
}

fn restored(was: &Throttling, now: &State) -> State {
    let bit = |was: u32, now: u32| now & !BIT | was & BIT;
    State { ControlMask: bit(was.control, now.ControlMask), StateMask: bit(was.state, now.StateMask), ..*now }
}

fn get() -> Option<State> {
    let mut state = State { Version: PROCESS_POWER_THROTTLING_CURRENT_VERSION, ControlMask: 0, StateMask: 0 };
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

fn set(state: &State) -> bool {
    // SAFETY: the state is valid for its size. A version that doesn't know the bit refuses it.
    // https://learn.microsoft.com/windows/win32/api/processthreadsapi/nf-processthreadsapi-setprocessinformation
    unsafe { NtSetInformationProcess(GetCurrentProcess(), POWER_THROTTLING_STATE, state, STATE_SIZE) >= 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_masks_go_back_and_other_bits_stay() {
        let state = |control, state| State { Version: 1, ControlMask: control, StateMask: state };
        let masks = |was, now| {
            let state = restored(&was, &now);
            (state.ControlMask, state.StateMask)
        };
        assert_eq!(masks(Throttling { control: 0, state: 0 }, state(BIT | 1, 1)), (1, 1));
        assert_eq!(masks(Throttling { control: BIT, state: BIT }, state(BIT | 1, 0)), (BIT | 1, BIT));
        assert_eq!(masks(Throttling { control: BIT | 1, state: 1 }, state(BIT, 0)), (BIT, 0));
    }

    #[test]
    fn what_is_found_is_put_back() {
        let masks = || get().map(|state| (state.ControlMask, state.StateMask));
        let before = masks();
        if let Some(was) = opt_out() {
            put_back(&was);
        }
        assert_eq!(masks(), before);
    }
}
