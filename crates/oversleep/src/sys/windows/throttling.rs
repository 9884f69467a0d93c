//! Windows 11 may ignore the timer resolution of a process whose windows are all hidden. A process can opt out.

use windows_sys::Wdk::System::Threading::{NtQueryInformationProcess, PROCESSINFOCLASS};
use windows_sys::Win32::Foundation::HANDLE;
use windows_sys::Win32::System::Threading::{
    GetCurrentProcess, PROCESS_POWER_THROTTLING_CURRENT_VERSION, PROCESS_POWER_THROTTLING_IGNORE_TIMER_RESOLUTION,
    PROCESS_POWER_THROTTLING_STATE,
};

#[link(name = "ntdll", kind = "raw-dylib")]
// SAFETY: as ntdll exports it: HANDLE, PROCESSINFOCLASS, PVOID, ULONG.
unsafe extern "system" {
    // SetProcessInformation calls this. Windows 7 lacks that function, so a program that imports it doesn't start
    // there.
    fn NtSetInformationProcess(process: HANDLE, class: PROCESSINFOCLASS, information: *const State, size: u32) -> i32;
}

type State = PROCESS_POWER_THROTTLING_STATE;

/// The native class of `ProcessPowerThrottling`.
const POWER_THROTTLING_STATE: PROCESSINFOCLASS = 77;
const STATE_SIZE: u32 = size_of::<State>() as u32;
const BIT: u32 = PROCESS_POWER_THROTTLING_IGNORE_TIMER_RESOLUTION;

/// The two masks of power throttling before the opt-out.
#[derive(Debug)]
pub(super) struct Throttling {
    control: u32,
    state: u32,
}

/// Opts out. Returns the masks to restore, or `None` if this Windows has no such rule.
pub(super) fn opt_out() -> Option<Throttling> {
    let was = get()?;
    // Controlled and off means that the resolution isn't ignored.
    let out = State { ControlMask: was.ControlMask | BIT, StateMask: was.StateMask & !BIT, ..was };
    set(&out).then_some(Throttling { control: was.ControlMask, state: was.StateMask })
}

/// Restores this rule, and leaves the others as they are now.
pub(super) fn restore(was: &Throttling) {
    if let Some(now) = get() {
        // A failure can't be reported, and isn't expected where the opt-out succeeded.
        set(&restored(was, &now));
    }
}

fn restored(was: &Throttling, now: &State) -> State {
    let bit = |was: u32, now: u32| now & !BIT | was & BIT;
    State { ControlMask: bit(was.control, now.ControlMask), StateMask: bit(was.state, now.StateMask), ..*now }
}

fn get() -> Option<State> {
    let mut state = State { Version: PROCESS_POWER_THROTTLING_CURRENT_VERSION, ControlMask: 0, StateMask: 0 };
    // SAFETY: the state is writable for its size. Before Windows 10 (1709) the class is refused.
    // https://learn.microsoft.com/windows/win32/api/winternl/nf-winternl-ntqueryinformationprocess
    // GetProcessInformation gives the same answer, but where it is missing, as in Wine 8, the process ends.
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
    // SAFETY: the state is readable for its size. A version that doesn't know the bit refuses it.
    // https://learn.microsoft.com/windows/win32/api/processthreadsapi/nf-processthreadsapi-setprocessinformation
    unsafe { NtSetInformationProcess(GetCurrentProcess(), POWER_THROTTLING_STATE, state, STATE_SIZE) >= 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_masks_are_restored_and_other_bits_stay() {
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
    fn the_masks_are_restored() {
        let masks = || get().map(|state| (state.ControlMask, state.StateMask));
        let before = masks();
        if let Some(was) = opt_out() {
            restore(&was);
        }
        assert_eq!(masks(), before);
    }
}
