//! Files that live in memory.

use std::ffi::CStr;
use std::io;
use std::os::fd::{FromRawFd, OwnedFd};

/// A new file that no folder has, closed when another program is executed.
///
/// # Errors
/// The system gives no such memory.
pub fn memory_file(name: &CStr) -> io::Result<OwnedFd> {
    // As a system call: glibc has a function only since 2.27. https://man7.org/linux/man-pages/man2/memfd_create.2.html
    // SAFETY: the name is valid, and the descriptor is owned by nobody else.
    unsafe {
        match libc::syscall(libc::SYS_memfd_create, name.as_ptr(), libc::MFD_CLOEXEC) {
            -1 => Err(io::Error::last_os_error()),
            file => Ok(OwnedFd::from_raw_fd(file as i32)),
        }
    }
}
