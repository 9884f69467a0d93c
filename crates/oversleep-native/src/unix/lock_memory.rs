//! Memory that can't be paged out: the whole process has one lock, which the last of its guards releases.

use std::io::Error;
use std::sync::{Mutex, MutexGuard, PoisonError};

use oversleep_record::Unavailable;
use oversleep_record::conditions::Setting;

use crate::native::tunables::{Applied, already, held, undo};

/// Number of guards that hold the lock.
static HOLDERS: Mutex<usize> = Mutex::new(0);

fn holders() -> MutexGuard<'static, usize> {
    HOLDERS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether a guard holds the lock.
pub(crate) fn current() -> Setting {
    Setting::Flag(*holders() > 0)
}

/// Locks all memory of this process where `requested`, or finds that it isn't locked. `refused` explains an error of
/// `call`.
pub(crate) fn change(
    requested: bool,
    call: &str,
    permitted: fn() -> Result<(), Unavailable>,
    refused: fn(Error) -> Unavailable,
) -> Result<Applied, Unavailable> {
    let mut holders = holders();
    let was = *holders > 0;
    match (requested, was) {
        (false, false) => return Ok(already(Setting::Flag(false))),
        (false, true) => return Err(Unavailable::failed(call, "another part of this process holds its memory locked")),
        (true, true) => {}
        (true, false) => {
            permitted()?;
            // SAFETY: takes flags only. https://man7.org/linux/man-pages/man2/mlockall.2.html
            if unsafe { libc::mlockall(libc::MCL_CURRENT | libc::MCL_FUTURE) } != 0 {
                return Err(refused(Error::last_os_error()));
            }
        }
    }
    *holders += 1;
    Ok(held(Setting::Flag(was), Setting::Flag(true), undo(release)))
}

fn release() {
    let mut holders = holders();
    *holders -= 1;
    if *holders == 0 {
        // SAFETY: takes nothing. https://man7.org/linux/man-pages/man2/mlockall.2.html
        unsafe { libc::munlockall() };
    }
}
