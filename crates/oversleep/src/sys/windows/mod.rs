//! Windows 10 (1803) and later: one file per kind of call.

mod clocks;
mod event;
mod multimedia;
mod resolution;
mod threads;
mod throttling;
mod timer;
mod waits;

use std::io;

use windows_sys::Win32::Foundation::{ERROR_ACCESS_DENIED, ERROR_PRIVILEGE_NOT_HELD};

use crate::outcome::{Denied, Why};

pub(crate) use clocks::*;
pub(crate) use event::*;
pub(crate) use multimedia::*;
pub(crate) use resolution::*;
pub(crate) use threads::*;
pub(crate) use timer::*;
pub(crate) use waits::*;

/// The denial for a call that just failed.
fn denied(call: &'static str, how: &'static str) -> Denied {
    let errno = io::Error::last_os_error().raw_os_error().unwrap_or(0);
    let why = match errno as u32 {
        ERROR_ACCESS_DENIED | ERROR_PRIVILEGE_NOT_HELD => Why::Forbidden { call, errno },
        _ => Why::Failed { call, errno },
    };
    Denied { why, how }
}
