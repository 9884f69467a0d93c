//! Linux: one file per kind of call.

mod clocks;
mod resolution;
#[cfg(all(target_os = "linux", feature = "rtkit"))]
mod rtkit;
mod slice;
mod threads;

pub(crate) use clocks::*;
pub(crate) use resolution::*;
#[cfg(all(target_os = "linux", feature = "rtkit"))]
pub(crate) use rtkit::ask_for_real_time;
pub(crate) use slice::*;
pub(crate) use threads::*;

use std::io;

use crate::outcome::{Denied, Why};

fn errno() -> i32 {
    io::Error::last_os_error().raw_os_error().unwrap_or(0)
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
