//! Whether Windows may ignore this process's timer resolution.

use std::io;

use oversleep_record::Unavailable;
use oversleep_record::conditions::Setting;
use oversleep_system::{TunableInfo, describe, tunables};
use windows_sys::Win32::Foundation::{ERROR_INVALID_PARAMETER, GetLastError, HANDLE, WIN32_ERROR};
use windows_sys::Win32::System::Threading::{
    GetCurrentProcess, PROCESS_INFORMATION_CLASS, PROCESS_POWER_THROTTLING_CURRENT_VERSION,
    PROCESS_POWER_THROTTLING_IGNORE_TIMER_RESOLUTION, PROCESS_POWER_THROTTLING_STATE, ProcessPowerThrottling,
};

use crate::native::tunables::{Applied, Entry, already, changed, flag, undo};
use crate::windows::os::{self, Newer};

pub(super) struct PowerThrottling;

const BIT: u32 = PROCESS_POWER_THROTTLING_IGNORE_TIMER_RESOLUTION;
const STATE_SIZE: u32 = size_of::<PROCESS_POWER_THROTTLING_STATE>() as u32;

type State = PROCESS_POWER_THROTTLING_STATE;
type Get = unsafe extern "system" fn(HANDLE, PROCESS_INFORMATION_CLASS, *mut State, u32) -> i32;
type Set = unsafe extern "system" fn(HANDLE, PROCESS_INFORMATION_CLASS, *const State, u32) -> i32;

// SAFETY: the type of the call, with the pointer it takes for this class.
// https://learn.microsoft.com/windows/win32/api/processthreadsapi/nf-processthreadsapi-getprocessinformation
static GET: Newer<Get> = unsafe { Newer::new(c"kernel32.dll", c"GetProcessInformation", "Windows 11") };
// SAFETY: as above.
// https://learn.microsoft.com/windows/win32/api/processthreadsapi/nf-processthreadsapi-setprocessinformation
static SET: Newer<Set> = unsafe { Newer::new(c"kernel32.dll", c"SetProcessInformation", "Windows 11") };

fn this_process() -> HANDLE {
    // SAFETY: takes nothing; a pseudo-handle that needs no closing.
    // https://learn.microsoft.com/windows/win32/api/processthreadsapi/nf-processthreadsapi-getcurrentprocess
    unsafe { GetCurrentProcess() }
}

fn get() -> Result<State, Unavailable> {
    let get = GET.required()?;
    let mut state = State { Version: PROCESS_POWER_THROTTLING_CURRENT_VERSION, ControlMask: 0, StateMask: 0 };
    // SAFETY: the state is valid to write to, for its size.
    // https://learn.microsoft.com/windows/win32/api/processthreadsapi/nf-processthreadsapi-getprocessinformation
    match unsafe { get(this_process(), ProcessPowerThrottling, &raw mut state, STATE_SIZE) } {
        0 => Err(os::failed("GetProcessInformation(ProcessPowerThrottling)")),
        _ => Ok(state),
    }
}

fn set(state: State) -> Result<(), Unavailable> {
    let set = SET.required()?;
    // SAFETY: the state is valid for its size. A version that doesn't know the bit refuses it.
    // https://learn.microsoft.com/windows/win32/api/processthreadsapi/nf-processthreadsapi-setprocessinformation
    if unsafe { set(this_process(), ProcessPowerThrottling, &raw const state, STATE_SIZE) } != 0 {
        return Ok(());
    }
    // SAFETY: takes nothing. https://learn.microsoft.com/windows/win32/api/errhandlingapi/nf-errhandlingapi-getlasterror
    Err(refused(unsafe { GetLastError() }))
}

/// Windows 10 has the call, and since 1709 the class, but it refuses the bit as an invalid parameter.
fn refused(error: WIN32_ERROR) -> Unavailable {
    match error {
        ERROR_INVALID_PARAMETER => Unavailable::TooOld { needs: PowerThrottling::INFO.since.to_owned() },
        error => Unavailable::failed(
            "SetProcessInformation(ProcessPowerThrottling)",
            io::Error::from_raw_os_error(error.cast_signed()),
        ),
    }
}

/// Whether Windows may ignore the resolution: it may, unless the process opted out.
fn is_on(state: State) -> bool {
    state.ControlMask & BIT == 0 || state.StateMask & BIT != 0
}

/// `state` with the decision left to Windows, or taken from it.
fn with(state: State, on: bool) -> State {
    let control = if on { state.ControlMask & !BIT } else { state.ControlMask | BIT };
    State { ControlMask: control, StateMask: state.StateMask & !BIT, ..state }
}

impl Entry for PowerThrottling {
    type Request = bool;

    const INFO: &'static TunableInfo = describe!(tunables::WINDOWS, "power-throttling");

    fn parse(setting: &Setting) -> Option<bool> {
        flag(setting)
    }

    fn read() -> Result<Setting, Unavailable> {
        get().map(|state| Setting::Flag(is_on(state)))
    }

    fn compared() -> Vec<Setting> {
        vec![Setting::Flag(true), Setting::Flag(false)]
    }

    fn change(on: bool, setting: &Setting) -> Result<Applied, Unavailable> {
        let was = get()?;
        if is_on(was) == on {
            return Ok(already(setting.clone()));
        }
        set(with(was, on))?;
        Ok(changed(Setting::Flag(!on), setting.clone(), undo(move || restore(was))))
    }
}

/// What was set can be set back, and other bits stay as they are now. A failure has nobody to report to.
fn restore(was: State) {
    let Ok(now) = get() else { return };
    let bit = |was: u32, now: u32| now & !BIT | was & BIT;
    let (control, state) = (bit(was.ControlMask, now.ControlMask), bit(was.StateMask, now.StateMask));
    let _ = set(State { ControlMask: control, StateMask: state, ..now });
}

#[cfg(test)]
mod tests {
    use oversleep_record::conditions::Outcome;
    use oversleep_system::Tunable;

    use super::*;
    use crate::native::tunables::Of;

    #[test]
    fn the_bit_is_read_and_written_and_others_stay() {
        let found = State { Version: 1, ControlMask: 1, StateMask: 1 };
        assert!(is_on(found));
        let off = with(found, false);
        assert_eq!((off.ControlMask, off.StateMask, is_on(off)), (1 | BIT, 1, false));
        let on = with(off, true);
        assert_eq!((on.ControlMask, on.StateMask, is_on(on)), (1, 1, true));
        assert!(is_on(State { Version: 1, ControlMask: BIT, StateMask: BIT }));
    }

    #[test]
    fn an_older_system_refuses_the_bit_and_is_called_too_old() {
        assert_eq!(refused(ERROR_INVALID_PARAMETER), Unavailable::TooOld { needs: "Windows 11".to_owned() });
        assert!(refused(5).to_string().contains("os error 5"), "access denied is another matter");
    }

    #[test]
    fn every_outcome_leaves_the_process_as_found() {
        let before = Of(PowerThrottling).current();
        let (outcome, guard) = Of(PowerThrottling).apply(&Setting::Flag(false));
        assert_eq!(guard.is_some(), matches!(outcome, Outcome::Applied { .. }), "{outcome:?}");
        drop(guard);
        assert_eq!(Of(PowerThrottling).current(), before);
    }
}
