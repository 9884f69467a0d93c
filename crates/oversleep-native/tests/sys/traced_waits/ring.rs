//! What a traced child submits to its io_uring: its submissions are mapped here, too.

use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use crate::tracer::Stopped;

const OP_TIMEOUT: u8 = 11;
const OFFSET_SUBMISSIONS: libc::off_t = 0x1000_0000;
const SUBMISSION_SIZE: usize = 64;
/// Submissions that the child's ring has room for.
const ENTRIES: usize = 4;

/// The address in the child of the span of its newest timeout, as it enters the ring.
pub fn timeout_address(stopped: &Stopped) -> Option<u64> {
    let ring = descriptor(stopped)?;
    let length = ENTRIES * SUBMISSION_SIZE;
    // SAFETY: maps anew, at a place of the kernel's choice. https://man7.org/linux/man-pages/man2/io_uring_setup.2.html
    let start = unsafe {
        libc::mmap(
            std::ptr::null_mut(),
            length,
            libc::PROT_READ,
            libc::MAP_SHARED,
            ring.as_raw_fd(),
            OFFSET_SUBMISSIONS,
        )
    };
    if start == libc::MAP_FAILED {
        return None;
    }
    // SAFETY: mapped for that length; the child, which writes it, is stopped.
    let bytes = unsafe { std::slice::from_raw_parts(start.cast::<u8>(), length) }.to_vec();
    // SAFETY: unmaps what was mapped above, once.
    unsafe { libc::munmap(start, length) };
    let word = |entry: &[u8], at: usize| u64::from_ne_bytes(entry[at..at + 8].try_into().expect("eight bytes"));
    // `user_data` counts the timers; removals have the greatest number.
    let timeouts = bytes.chunks_exact(SUBMISSION_SIZE).filter(|entry| entry[0] == OP_TIMEOUT);
    timeouts.max_by_key(|entry| word(entry, 32)).map(|entry| word(entry, 16))
}

/// The child's descriptor that its call is made on, as one of this process.
fn descriptor(stopped: &Stopped) -> Option<OwnedFd> {
    // SAFETY: takes numbers only. https://man7.org/linux/man-pages/man2/pidfd_open.2.html
    let child = unsafe { libc::syscall(libc::SYS_pidfd_open, stopped.child, 0) };
    if child < 0 {
        return None;
    }
    // SAFETY: a descriptor just made (so it fits), owned by nobody else.
    let child = unsafe { OwnedFd::from_raw_fd(child as i32) };
    // SAFETY: takes numbers only. https://man7.org/linux/man-pages/man2/pidfd_getfd.2.html
    let ring = unsafe { libc::syscall(libc::SYS_pidfd_getfd, child.as_raw_fd(), stopped.arguments[0] as i32, 0) };
    // SAFETY: as above.
    (ring >= 0).then(|| unsafe { OwnedFd::from_raw_fd(ring as i32) })
}
