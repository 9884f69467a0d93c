//! The multimedia class scheduler: priority for threads of players and games.

use std::cell::Cell;
use std::ffi::CStr;

use oversleep_record::Unavailable;
use oversleep_record::conditions::Setting;
use oversleep_system::{TunableInfo, describe, tunables};

use crate::native::tunables::{Applied, Entry, already, changed, flag, undo};
use crate::windows::os::{self, Newer};

pub(super) struct Mmcss;

const TASK: &CStr = c"Pro Audio";

type Join = unsafe extern "system" fn(task: *const u8, index: *mut u32) -> isize;
type Leave = unsafe extern "system" fn(handle: isize) -> i32;

// SAFETY: the type of the call. https://learn.microsoft.com/windows/win32/api/avrt/nf-avrt-avsetmmthreadcharacteristicsa
static JOIN: Newer<Join> = unsafe { Newer::new(c"avrt.dll", c"AvSetMmThreadCharacteristicsA", "Windows Vista") };
// SAFETY: the type of the call. https://learn.microsoft.com/windows/win32/api/avrt/nf-avrt-avrevertmmthreadcharacteristics
static LEAVE: Newer<Leave> = unsafe { Newer::new(c"avrt.dll", c"AvRevertMmThreadCharacteristics", "Windows Vista") };

thread_local! {
    /// Whether oversleep put this thread into the task; Windows has no call to query it.
    static JOINED: Cell<bool> = const { Cell::new(false) };
}

impl Entry for Mmcss {
    type Request = bool;

    const INFO: &'static TunableInfo = describe!(tunables::WINDOWS, "mmcss");

    fn parse(setting: &Setting) -> Option<bool> {
        flag(setting)
    }

    fn read() -> Result<Setting, Unavailable> {
        Ok(Setting::Flag(JOINED.get()))
    }

    fn compared() -> Vec<Setting> {
        vec![Setting::Flag(false), Setting::Flag(true)]
    }

    fn change(requested: bool, setting: &Setting) -> Result<Applied, Unavailable> {
        if requested == JOINED.get() {
            return Ok(already(setting.clone()));
        }
        if !requested {
            return Err(Unavailable::failed(
                Self::INFO.call,
                "another part of this measurement holds the thread in the task",
            ));
        }
        let (join, leave) = (JOIN.required()?, LEAVE.required()?);
        let mut index = 0;
        // SAFETY: the name ends with a zero byte and the index, zero for a new one, is valid to write to.
        // https://learn.microsoft.com/windows/win32/api/avrt/nf-avrt-avsetmmthreadcharacteristicsa
        let handle = unsafe { join(TASK.as_ptr().cast(), &raw mut index) };
        if handle == 0 {
            return Err(os::failed(Self::INFO.call));
        }
        JOINED.set(true);
        let member = undo(move || {
            // SAFETY: the handle is this thread's, given back once. What was granted can be left.
            // https://learn.microsoft.com/windows/win32/api/avrt/nf-avrt-avrevertmmthreadcharacteristics
            unsafe { leave(handle) };
            JOINED.set(false);
        });
        Ok(changed(Setting::Flag(false), setting.clone(), member))
    }
}

#[cfg(test)]
mod tests {
    use oversleep_record::conditions::Outcome;
    use oversleep_system::Tunable;

    use super::*;
    use crate::native::tunables::Of;

    #[test]
    fn the_thread_is_in_the_task_until_the_guard_goes() {
        let (outcome, guard) = Of(Mmcss).apply(&Setting::Flag(true));
        assert_eq!(Of(Mmcss).current(), Ok(Setting::Flag(outcome.holds())));
        if outcome.holds() {
            assert_eq!(Of(Mmcss).apply(&Setting::Flag(true)).0, Outcome::AlreadySo { is: Setting::Flag(true) });
            assert!(!Of(Mmcss).apply(&Setting::Flag(false)).0.holds());
        }
        drop(guard);
        assert_eq!(Of(Mmcss).current(), Ok(Setting::Flag(false)));
    }
}
