//! Memory that can't be paged out.

use oversleep_record::Unavailable;
use oversleep_record::conditions::Setting;
use oversleep_system::{TunableInfo, describe, tunables};

use crate::linux::os::{self, Resource, capability};
use crate::native::tunables::{Applied, Entry, flag};
use crate::unix::lock_memory;

pub(super) struct LockMemory;

/// How to allow it, for messages.
pub const ALLOW: &str = "`ulimit -l unlimited`, granted by a line like `USER - memlock unlimited` in \
    /etc/security/limits.d/99-memlock.conf and a new login; or `sudo setcap cap_ipc_lock+ep $(command -v oversleep)`; \
    in a container `--cap-add IPC_LOCK --ulimit memlock=-1`";

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

    const INFO: &'static TunableInfo = describe!(tunables::LINUX, "lock-memory");

    fn parse(setting: &Setting) -> Option<bool> {
        flag(setting)
    }

    fn read() -> Result<Setting, Unavailable> {
        Ok(lock_memory::current())
    }

    fn change(requested: bool, _: &Setting) -> Result<Applied, Unavailable> {
        let call = Self::INFO.call;
        lock_memory::change(requested, call, permitted, |error| os::refused(Self::INFO.call, &error, ALLOW))
    }
}

#[cfg(test)]
mod tests {
    use oversleep_record::conditions::Outcome;
    use oversleep_system::Tunable;

    use super::*;
    use crate::native::tunables::Of;

    #[test]
    fn is_held_until_the_last_guard_goes() {
        let (first, guard) = Of(LockMemory).apply(&Setting::Flag(true));
        let Some(guard) = guard else {
            assert!(!first.holds());
            assert_eq!(Of(LockMemory).current(), Ok(Setting::Flag(false)));
            return oversleep_testing::skip(format!("{first:?}"));
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
