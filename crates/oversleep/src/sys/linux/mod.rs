//! Linux: one file per kind of call.

mod clocks;
mod futex;
mod line;
mod resolution;
#[cfg(all(target_os = "linux", feature = "rtkit"))]
mod rtkit;
mod slice;
mod threads;

use std::io;

use crate::outcome::{Denied, Why};

pub(crate) use clocks::*;
pub(crate) use futex::*;
pub(crate) use line::{after_fork, before_fork, monotonic_ns, steady_ns};
pub(crate) use resolution::*;
#[cfg(all(target_os = "linux", feature = "rtkit"))]
pub(crate) use rtkit::ask_for_real_time;
pub(crate) use slice::*;
pub(crate) use threads::*;

fn errno() -> i32 {
    io::Error::last_os_error().raw_os_error().unwrap_or(0)
}

fn set_errno(errno: i32) {
    #[cfg(target_os = "android")]
    use libc::__errno as location;
    #[cfg(not(target_os = "android"))]
    use libc::__errno_location as location;
    // SAFETY: the location is the calling thread's and always valid. https://man7.org/linux/man-pages/man3/errno.3.html
    unsafe { *location() = errno };
}

/// The denial for a call that just failed with `errno`.
fn denied(call: &'static str, how: &'static str) -> Denied {
    let errno = errno();
    let why = match errno {
        libc::EPERM | libc::EACCES | libc::ENOSYS => Why::Forbidden { call, errno },
        _ => Why::Failed { call, errno },
    };
    Denied { why, how }
}
