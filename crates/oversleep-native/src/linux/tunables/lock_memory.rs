//! Memory that can't be paged out.

use std::sync::{Mutex, MutexGuard, PoisonError};

use oversleep_record::Unavailable;
use oversleep_record::conditions::Setting;

use crate::linux::os::{self, Resource, capability};
use crate::native::tunables::{Applied, Entry, NotSend, already, flag, held};
use oversleep_system::{Restore, TunableInfo, describe, tunables};

pub(super) struct LockMemory;

const INFO: &TunableInfo = describe!(tunables::LINUX, "lock-memory");
/// How to allow it, for messages.
pub const ALLOW: &str = "`ulimit -l unlimited`, granted by a line like `USER - memlock unlimited` in \
    /etc/security/limits.d/99-memlock.conf and a new login; or `sudo setcap cap_ipc_lock+ep $(command -v oversleep)`; \
    in a container `--cap-add IPC_LOCK --ulimit memlock=-1`";

/// Number of guards that hold the lock; the last one releases it.
static HOLDERS: Mutex<usize> = Mutex::new(0);

fn holders() -> MutexGuard<'static, usize> {
    HOLDERS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether the process may lock all the memory that it will ever have. A finite limit is a refusal: it would count what
/// is allocated later, and allocations would start to fail.
pub fn permitted() -> Result<(), Unavailable> {
    let unlimited = os::soft_limit(Resource::MemLock)?.is_none();
    if unlimited || os::has_capability(capability::IPC_LOCK) == Some(true) {
        Ok(())
    } else {
        Err(Unavailable::not_permitted("locking all memory, present and future", ALLOW))
    }
}

impl Entry for LockMemory {
    type Request = bool;

    const INFO: &'static TunableInfo = INFO;

    fn parse(setting: &Setting) -> Option<bool> {
        flag(setting)
    }

    fn read() -> Result<Setting, Unavailable> {
        Ok(Setting::Flag(*holders() > 0))
    }

    fn change(requested: bool, setting: &Setting) -> Result<Applied, Unavailable> {
        let mut holders = holders();
        let was = *holders > 0;
        match (requested, was) {
            (false, false) => return Ok(already(setting.clone())),
            (false, true) => {
                return Err(Unavailable::failed(INFO.call, "another part of this process holds its memory locked"));
            }
            (true, true) => {}
            (true, false) => {
                permitted()?;
                // SAFETY: takes flags only.
                if unsafe { libc::mlockall(libc::MCL_CURRENT | libc::MCL_FUTURE) } != 0 {
                    return Err(os::refused(INFO.call, &std::io::Error::last_os_error(), ALLOW));
                }
            }
        }
        *holders += 1;
        Ok(held(Setting::Flag(was), setting.clone(), LockGuard { _thread: NotSend::default() }))
    }
}

struct LockGuard {
    _thread: NotSend,
}

impl Restore for LockGuard {}

impl Drop for LockGuard {
    fn drop(&mut self) {
        let mut holders = holders();
        *holders -= 1;
        if *holders == 0 {
            // SAFETY: takes nothing.
            unsafe { libc::munlockall() };
        }
    }
}

#[cfg(test)]
mod tests {
    use oversleep_record::conditions::Outcome;

    use super::*;
    use crate::native::tunables::Of;
    use oversleep_system::Tunable;

    #[test]
    fn is_held_until_the_last_guard_goes() {
        let (first, guard) = Of(LockMemory).apply(&Setting::Flag(true));
        let Some(guard) = guard else {
            assert!(!first.holds());
            assert_eq!(Of(LockMemory).current(), Ok(Setting::Flag(false)));
            return;
        };
        let (second, other) = Of(LockMemory).apply(&Setting::Flag(true));
        assert_eq!(second, Outcome::AlreadySo { is: Setting::Flag(true) });
        drop(guard);
        assert_eq!(Of(LockMemory).current(), Ok(Setting::Flag(true)));
        assert!(!Of(LockMemory).apply(&Setting::Flag(false)).0.holds());
        drop(other);
        assert_eq!(Of(LockMemory).current(), Ok(Setting::Flag(false)));
        assert!(Of(LockMemory).apply(&Setting::Flag(false)).0.holds());
    }
}
