//! Memory that can't be paged out: the kernel has a number for the call but doesn't implement it.

use oversleep_record::Unavailable;
use oversleep_record::conditions::Setting;
use oversleep_system::{TunableInfo, describe, tunables};

use crate::native::tunables::{Applied, Entry, flag};
use crate::unix::lock_memory;

pub(super) struct LockMemory;

impl Entry for LockMemory {
    type Request = bool;

    const INFO: &'static TunableInfo = describe!(tunables::MACOS, "lock-memory");

    fn parse(setting: &Setting) -> Option<bool> {
        flag(setting)
    }

    fn read() -> Result<Setting, Unavailable> {
        Ok(lock_memory::current())
    }

    fn change(requested: bool, _: &Setting) -> Result<Applied, Unavailable> {
        lock_memory::change(
            requested,
            Self::INFO.call,
            || Ok(()),
            |error| match error.raw_os_error() {
                Some(libc::ENOSYS | libc::ENOTSUP) => Unavailable::NotOnThisPlatform,
                _ => Unavailable::failed(Self::INFO.call, error),
            },
        )
    }
}
