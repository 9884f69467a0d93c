//! Memory that can't be paged out: the kernel has a number for the call but doesn't implement it.

use std::io::Error;
use std::sync::atomic::{AtomicUsize, Ordering};

use oversleep_record::Unavailable;
use oversleep_record::conditions::Setting;

use crate::native::tunables::{Applied, Entry, NotSend, already, flag, held};
use oversleep_system::{Restore, TunableInfo, describe, tunables};

pub(super) struct LockMemory;

const INFO: &TunableInfo = describe!(tunables::MACOS, "lock-memory");

/// Number of guards that hold the lock, should a system grant it; the last one releases it.
static HOLDERS: AtomicUsize = AtomicUsize::new(0);

/// Locks all memory of the process.
///
/// # Errors
/// The call is not implemented, or the system's words.
fn lock() -> Result<(), Unavailable> {
    // SAFETY: takes flags only.
    if unsafe { libc::mlockall(libc::MCL_CURRENT | libc::MCL_FUTURE) } == 0 {
        return Ok(());
    }
    let error = Error::last_os_error();
    match error.raw_os_error() {
        Some(libc::ENOSYS | libc::ENOTSUP) => Err(Unavailable::NotOnThisPlatform),
        _ => Err(Unavailable::failed(INFO.call, error)),
    }
}

impl Entry for LockMemory {
    type Request = bool;

    const INFO: &'static TunableInfo = INFO;

    fn parse(setting: &Setting) -> Option<bool> {
        flag(setting)
    }

    fn read() -> Result<Setting, Unavailable> {
        Ok(Setting::Flag(HOLDERS.load(Ordering::Relaxed) > 0))
    }

    fn change(requested: bool, setting: &Setting) -> Result<Applied, Unavailable> {
        match (requested, HOLDERS.load(Ordering::Relaxed)) {
            (false, 0) => Ok(already(setting.clone())),
            (false, _) => Err(Unavailable::failed(INFO.call, "another part of this process holds its memory locked")),
            (true, _) => {
                lock()?;
                let was = HOLDERS.fetch_add(1, Ordering::Relaxed) > 0;
                Ok(held(Setting::Flag(was), setting.clone(), Guard { _thread: NotSend::default() }))
            }
        }
    }
}

struct Guard {
    _thread: NotSend,
}

impl Restore for Guard {}

impl Drop for Guard {
    fn drop(&mut self) {
        if HOLDERS.fetch_sub(1, Ordering::Relaxed) == 1 {
            // SAFETY: takes nothing.
            unsafe { libc::munlockall() };
        }
    }
}
