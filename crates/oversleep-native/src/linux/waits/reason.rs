//! Translates what a call returned into the end of the wait, or into an actionable reason.

use std::ffi::CStr;
use std::io::Error;

use oversleep_record::Unavailable;
use oversleep_system::{WaitEnd, WaitInfo};

pub(super) use crate::unix::waits::{errno, too_long};

/// The end of a wait whose call failed with `errno`; `timed_out` is the number that means success.
pub(super) fn ended(info: &'static WaitInfo, errno: i32, timed_out: i32) -> WaitEnd {
    if errno == timed_out {
        WaitEnd::TimedOut
    } else if errno == libc::EINTR {
        WaitEnd::Interrupted
    } else {
        WaitEnd::Failed(refused(info, info.call, errno))
    }
}

/// The end of a wait whose call returns 0 when its time is up and −1 otherwise.
pub(super) fn ended_by_zero(info: &'static WaitInfo, returned: i32) -> WaitEnd {
    if returned == 0 { WaitEnd::TimedOut } else { ended(info, errno(), 0) }
}

/// Why `call`, made for the wait `info`, failed with `errno`.
#[cold]
pub(super) fn refused(info: &WaitInfo, call: &str, errno: i32) -> Unavailable {
    match errno {
        libc::ENOSYS if older_than(info.since) == Some(false) => {
            Unavailable::missing(format!("{call} (a seccomp filter hides it, or this kernel was built without it)"))
        }
        libc::ENOSYS => Unavailable::TooOld { needs: info.since.to_owned() },
        libc::EPERM | libc::EACCES => {
            Unavailable::not_permitted(call, format!("a seccomp or security profile that allows {call}"))
        }
        _ => Unavailable::failed(call, Error::from_raw_os_error(errno)),
    }
}

/// Whether the running kernel is older than `since` ("Linux 5.11"); `None` if either can't be read.
fn older_than(since: &str) -> Option<bool> {
    // SAFETY: an all-zero utsname is valid (arrays of characters).
    let mut name: libc::utsname = unsafe { std::mem::zeroed() };
    // SAFETY: `name` is valid and writable. https://man7.org/linux/man-pages/man2/uname.2.html
    if unsafe { libc::uname(&mut name) } != 0 {
        return None;
    }
    // SAFETY: the kernel terminates the text, and `name` outlives the borrow.
    let release = unsafe { CStr::from_ptr(name.release.as_ptr()) }.to_str().ok()?;
    Some(version(release)? < version(since.strip_prefix("Linux ")?)?)
}

/// The two leading numbers of "6.18.44-rc1".
fn version(text: &str) -> Option<(u32, u32)> {
    let mut numbers = text.split(|c: char| !c.is_ascii_digit());
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use oversleep_system::{describe, waits};

    use super::*;

    const EPOLL_PWAIT2: &WaitInfo = describe!(waits::LINUX, "epoll-pwait2");

    #[test]
    fn versions_compare_as_numbers() {
        assert_eq!(version("6.18.44-fc"), Some((6, 18)));
        assert_eq!(version("5.4"), Some((5, 4)));
        assert!(version("5.4") < version("5.11"));
        assert_eq!(version("six"), None);
        assert_eq!(older_than("Linux 2.6"), Some(false));
        assert_eq!(older_than("Linux 9999.0"), Some(true));
        assert_eq!(older_than("Windows 10"), None);
    }

    #[test]
    fn errors_become_reasons() {
        let info = EPOLL_PWAIT2;
        assert!(matches!(refused(info, "epoll_pwait2", libc::EPERM), Unavailable::NotPermitted { .. }));
        assert!(matches!(refused(info, "epoll_create1", libc::EMFILE), Unavailable::Failed { .. }));
        let future = WaitInfo { since: "Linux 9999.0", ..info.clone() };
        assert_eq!(
            refused(&future, "epoll_pwait2", libc::ENOSYS),
            Unavailable::TooOld { needs: "Linux 9999.0".to_owned() }
        );
        let old = WaitInfo { since: "Linux 2.6", ..info.clone() };
        assert!(matches!(refused(&old, "epoll_pwait2", libc::ENOSYS), Unavailable::Missing { .. }));
    }

    #[test]
    fn numbers_become_ends() {
        let info = EPOLL_PWAIT2;
        assert_eq!(ended(info, libc::ETIMEDOUT, libc::ETIMEDOUT), WaitEnd::TimedOut);
        assert_eq!(ended(info, libc::EINTR, libc::ETIMEDOUT), WaitEnd::Interrupted);
        assert!(matches!(ended(info, libc::EINVAL, libc::ETIMEDOUT), WaitEnd::Failed(_)));
        assert!(matches!(too_long(info), WaitEnd::Failed(_)));
    }
}
