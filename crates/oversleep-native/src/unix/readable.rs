//! Waiting for a descriptor at most so long.

use std::io;
use std::os::fd::AsRawFd;
use std::time::Duration;

/// Whether it can be read, or has ended, within this time. A library that moves the clocks of this process (faketime) stands
/// before the C library's function, so the call is made without that, and the kernel counts the span.
///
/// # Errors
/// A signal came, or the system refuses the call.
#[cfg(target_os = "linux")]
pub fn is_readable_within(one: &impl AsRawFd, limit: Duration) -> io::Result<bool> {
    let mut one = libc::pollfd { fd: one.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    let mut left = libc::timespec {
        tv_sec: limit.as_secs().try_into().unwrap_or(libc::time_t::MAX),
        tv_nsec: limit.subsec_nanos() as libc::c_long,
    };
    let no_mask = std::ptr::null::<libc::sigset_t>();
    // SAFETY: both structs are valid, and the kernel writes to nothing else.
    // https://man7.org/linux/man-pages/man2/ppoll.2.html
    let ready = unsafe { libc::syscall(libc::SYS_ppoll, &raw mut one, 1, &raw mut left, no_mask, 0) };
    if ready < 0 { Err(io::Error::last_os_error()) } else { Ok(ready > 0) }
}

/// Whether it can be read, or has ended, within this time.
///
/// # Errors
/// A signal came, or the system refuses the call.
#[cfg(not(target_os = "linux"))]
pub fn is_readable_within(one: &impl AsRawFd, limit: Duration) -> io::Result<bool> {
    let mut one = libc::pollfd { fd: one.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    let millis = limit.as_millis().try_into().unwrap_or(libc::c_int::MAX);
    // SAFETY: the struct is valid. https://man7.org/linux/man-pages/man2/poll.2.html
    let ready = unsafe { libc::poll(&raw mut one, 1, millis) };
    if ready < 0 { Err(io::Error::last_os_error()) } else { Ok(ready > 0) }
}
