//! Short timers.

use std::fs::File;
use std::io::Read;
use std::os::fd::{FromRawFd, OwnedFd};

use oversleep_record::Unavailable;
use oversleep_system::Load;

use crate::hogs;
use crate::linux::os;

const PERIOD_NS: libc::c_long = 100_000;

/// Starts hogs.
pub(super) fn start(count: u32) -> Result<Box<dyn Load>, Unavailable> {
    hogs::start(super::ENTER, count, || {
        let mut timer = periodic_timer()?;
        Ok(move |stopped: &dyn Fn() -> bool| {
            let mut expirations = [0; 8];
            // A failing wait would make this hog spin, so it stops instead.
            while !stopped() && timer.read_exact(&mut expirations).is_ok() {}
        })
    })
}

fn periodic_timer() -> Result<File, Unavailable> {
    // SAFETY: takes numbers only. https://man7.org/linux/man-pages/man2/timerfd_create.2.html
    let raw = unsafe { libc::timerfd_create(libc::CLOCK_MONOTONIC, libc::TFD_CLOEXEC) };
    if raw < 0 {
        return Err(os::failed("timerfd_create"));
    }
    // SAFETY: the descriptor was just made and belongs to nobody else.
    let timer = File::from(unsafe { OwnedFd::from_raw_fd(raw) });
    let period = libc::timespec { tv_sec: 0, tv_nsec: PERIOD_NS };
    let spec = libc::itimerspec { it_interval: period, it_value: period };
    // SAFETY: `spec` is a valid itimerspec; no former value is asked for.
    if unsafe { libc::timerfd_settime(raw, 0, &spec, std::ptr::null_mut()) } != 0 {
        return Err(os::failed("timerfd_settime"));
    }
    Ok(timer)
}
