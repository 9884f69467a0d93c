//! Hand-offs through a descriptor.

use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::Arc;

use oversleep_record::Unavailable;
use oversleep_system::Handoff;

use super::{Call, interrupted, last_error};

pub(super) const CALLS: &[Call] = &[
    ("eventfd", || {
        // SAFETY: takes numbers only. https://man7.org/linux/man-pages/man2/eventfd.2.html
        let fd = unsafe { libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_SEMAPHORE) };
        if fd < 0 {
            return Err(Unavailable::failed("eventfd", last_error()));
        }
        // SAFETY: a descriptor just made, owned by nobody else.
        Ok(Arc::new(EventFd(unsafe { OwnedFd::from_raw_fd(fd) })))
    }),
    ("pipe", || {
        let mut ends = [-1; 2];
        // SAFETY: there is room for the two descriptors. https://man7.org/linux/man-pages/man2/pipe2.2.html
        if unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) } != 0 {
            return Err(Unavailable::failed("pipe2", last_error()));
        }
        // SAFETY: two descriptors just made, owned by nobody else.
        let (read, write) = unsafe { (OwnedFd::from_raw_fd(ends[0]), OwnedFd::from_raw_fd(ends[1])) };
        Ok(Arc::new(Pipe { read, write }))
    }),
];

/// Writes a few bytes, which the kernel takes as a whole.
fn write(fd: &OwnedFd, bytes: &[u8], call: &str) {
    // SAFETY: the bytes are readable. https://man7.org/linux/man-pages/man2/write.2.html
    while unsafe { libc::write(fd.as_raw_fd(), bytes.as_ptr().cast(), bytes.len()) } < 0 && interrupted(call) {}
}

/// Reads that many bytes, which the kernel gives as a whole.
fn read<const N: usize>(fd: &OwnedFd, call: &str) -> [u8; N] {
    let mut bytes = [0; N];
    // SAFETY: there is room for the bytes. https://man7.org/linux/man-pages/man2/read.2.html
    while unsafe { libc::read(fd.as_raw_fd(), bytes.as_mut_ptr().cast(), N) } < 0 && interrupted(call) {}
    bytes
}

struct EventFd(OwnedFd);

impl Handoff for EventFd {
    fn post(&self) {
        write(&self.0, &1_u64.to_ne_bytes(), "write to an eventfd");
    }

    fn wait(&self) {
        let one: [u8; 8] = read(&self.0, "read of an eventfd");
        debug_assert_eq!(u64::from_ne_bytes(one), 1);
    }
}

struct Pipe {
    read: OwnedFd,
    write: OwnedFd,
}

impl Handoff for Pipe {
    fn post(&self) {
        write(&self.write, &[1], "write to a pipe");
    }

    fn wait(&self) {
        let [one] = read(&self.read, "read of a pipe");
        debug_assert_eq!(one, 1);
    }
}

#[cfg(test)]
mod tests {
    use super::super::conformance::check;

    #[test]
    fn eventfd_conforms() {
        check("eventfd");
    }

    #[test]
    fn pipe_conforms() {
        check("pipe");
    }
}
