//! A minimal io_uring: it submits one entry at a time and takes completions one by one.
//!
//! It uses no crate, because it needs one of some sixty operations and a dependency would be many times this file.
//! Layouts and numbers are those of `linux/io_uring.h`.

use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};

use super::reason::errno;

/// Arms a timer whose completion ends the wait.
pub(super) const OP_TIMEOUT: u8 = 11;
/// Stops the timer submitted with the number given as its address.
pub(super) const OP_TIMEOUT_REMOVE: u8 = 12;

/// Submissions the ring has room for; it has twice as many completions.
const ENTRIES: u32 = 4;
const FEATURE_SINGLE_MMAP: u32 = 1;
const ENTER_GETEVENTS: u32 = 1;
const OFFSET_RINGS: libc::off_t = 0;
const OFFSET_SUBMISSIONS: libc::off_t = 0x1000_0000;

/// `struct io_sqring_offsets` and `struct io_cqring_offsets`, which have the same size. Field names are those of the
/// former, with the latter's where they differ.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Offsets {
    head: u32,
    tail: u32,
    ring_mask: u32,
    ring_entries: u32,
    /// Completions: overflow.
    flags: u32,
    /// Completions: the entries.
    dropped: u32,
    /// Completions: flags.
    array: u32,
    reserved: [u32; 3],
}

/// `struct io_uring_params`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Params {
    sq_entries: u32,
    cq_entries: u32,
    flags: u32,
    sq_thread_cpu: u32,
    sq_thread_idle: u32,
    features: u32,
    wq_fd: u32,
    reserved: [u32; 3],
    sq_off: Offsets,
    cq_off: Offsets,
}

/// `struct io_uring_sqe`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub(super) struct Submission {
    pub(super) opcode: u8,
    pub(super) flags: u8,
    pub(super) priority: u16,
    pub(super) fd: i32,
    pub(super) offset: u64,
    pub(super) address: u64,
    pub(super) length: u32,
    pub(super) operation_flags: u32,
    /// Comes back with the completion.
    pub(super) user_data: u64,
    pub(super) rest: [u64; 3],
}

/// `struct io_uring_cqe`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Completion {
    /// The submission's.
    pub(super) user_data: u64,
    /// Its result; errors are negative.
    pub(super) result: i32,
    _flags: u32,
}

/// Memory shared with the kernel.
struct Mapping {
    start: NonNull<u8>,
    length: usize,
}

impl Mapping {
    fn new(fd: &OwnedFd, length: usize, offset: libc::off_t) -> Result<Mapping, i32> {
        // SAFETY: maps anew, at a place of the kernel's choice. https://man7.org/linux/man-pages/man2/io_uring_setup.2.html
        let start = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                length,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED | libc::MAP_POPULATE,
                fd.as_raw_fd(),
                offset,
            )
        };
        if start == libc::MAP_FAILED {
            return Err(errno());
        }
        NonNull::new(start.cast()).map(|start| Mapping { start, length }).ok_or(libc::EFAULT)
    }

    /// The place `offset` bytes in, which must leave room for `count` of `T`.
    fn at<T>(&self, offset: u32, count: u32) -> Result<*mut T, i32> {
        let offset = offset as usize;
        if offset + count as usize * size_of::<T>() > self.length || !offset.is_multiple_of(align_of::<T>()) {
            return Err(libc::EFAULT);
        }
        // SAFETY: inside the mapping, by the check above.
        Ok(unsafe { self.start.as_ptr().add(offset) }.cast())
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: unmaps what `new` mapped, once; the ring that points into it is dropped with it.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.length) };
    }
}

/// An io_uring of one thread.
pub(super) struct Ring {
    submissions: *mut Submission,
    submission_tail: *mut u32,
    submission_mask: u32,
    submission_array: *mut u32,
    completions: *mut Completion,
    completion_head: *mut u32,
    completion_tail: *mut u32,
    completion_mask: u32,
    /// Pushed, and not yet taken by the kernel.
    pending: u32,
    fd: OwnedFd,
    _rings: Mapping,
    _entries: Mapping,
}

impl Ring {
    /// A new ring, or the call that failed and its error number.
    pub(super) fn new() -> Result<Ring, (&'static str, i32)> {
        let mut params = Params::default();
        // SAFETY: the parameters are valid and writable, in the kernel's layout.
        // https://man7.org/linux/man-pages/man2/io_uring_setup.2.html
        let fd = unsafe { libc::syscall(libc::SYS_io_uring_setup, ENTRIES, &raw mut params) };
        if fd < 0 {
            return Err(("io_uring_setup", errno()));
        }
        // SAFETY: a descriptor just made (so it fits), owned by nobody else.
        let fd = unsafe { OwnedFd::from_raw_fd(fd as i32) };
        Ring::map(fd, &params).map_err(|errno| ("mmap of an io_uring", errno))
    }

    fn map(fd: OwnedFd, params: &Params) -> Result<Ring, i32> {
        // Two mappings instead of three: since 5.4, the release that brought the timeout operation.
        if params.features & FEATURE_SINGLE_MMAP == 0 {
            return Err(libc::ENOSYS);
        }
        let (sq, cq) = (&params.sq_off, &params.cq_off);
        let completions = cq.dropped;
        let submission_end = sq.array as usize + params.sq_entries as usize * size_of::<u32>();
        let completion_end = completions as usize + params.cq_entries as usize * size_of::<Completion>();
        let rings = Mapping::new(&fd, submission_end.max(completion_end), OFFSET_RINGS)?;
        let entries = Mapping::new(&fd, params.sq_entries as usize * size_of::<Submission>(), OFFSET_SUBMISSIONS)?;
        // SAFETY: `at` checked the places; the kernel wrote the masks before it answered, and never changes them.
        let (submission_mask, completion_mask) =
            unsafe { (*rings.at::<u32>(sq.ring_mask, 1)?, *rings.at::<u32>(cq.ring_mask, 1)?) };
        if submission_mask >= params.sq_entries || completion_mask >= params.cq_entries {
            return Err(libc::EFAULT);
        }
        Ok(Ring {
            submissions: entries.at(0, params.sq_entries)?,
            submission_tail: rings.at(sq.tail, 1)?,
            submission_mask,
            submission_array: rings.at(sq.array, params.sq_entries)?,
            completions: rings.at(completions, params.cq_entries)?,
            completion_head: rings.at(cq.head, 1)?,
            completion_tail: rings.at(cq.tail, 1)?,
            completion_mask,
            pending: 0,
            fd,
            _rings: rings,
            _entries: entries,
        })
    }

    /// Queues one submission for the next [`Ring::enter`]; false if there is no room.
    pub(super) fn push(&mut self, submission: Submission) -> bool {
        if self.pending > self.submission_mask {
            return false;
        }
        // SAFETY: the tail is a live, aligned u32 of the shared mapping, written by this thread alone; the mask keeps
        // the index inside both arrays; the kernel looks at the entry only after the release of the tail.
        unsafe {
            let tail = AtomicU32::from_ptr(self.submission_tail);
            let next = tail.load(Ordering::Relaxed);
            let index = next & self.submission_mask;
            self.submissions.add(index as usize).write(submission);
            self.submission_array.add(index as usize).write(index);
            tail.store(next.wrapping_add(1), Ordering::Release);
        }
        self.pending += 1;
        true
    }

    /// Submits the queued entries and sleeps until there are `complete` completions. A signal ends the sleep: as a
    /// success if anything was submitted, otherwise as `EINTR`.
    pub(super) fn enter(&mut self, complete: u32) -> Result<(), i32> {
        // SAFETY: the descriptor is a ring's; no signal mask is passed. What the entries point to, the caller keeps.
        // https://man7.org/linux/man-pages/man2/io_uring_enter.2.html
        let taken = unsafe {
            libc::syscall(
                libc::SYS_io_uring_enter,
                self.fd.as_raw_fd(),
                self.pending,
                complete,
                ENTER_GETEVENTS,
                std::ptr::null::<libc::sigset_t>(),
                0,
            )
        };
        let taken = u32::try_from(taken).map_err(|_| errno())?;
        self.pending = self.pending.saturating_sub(taken);
        Ok(())
    }

    /// Takes the oldest completion, if there is one.
    pub(super) fn take(&mut self) -> Option<Completion> {
        // SAFETY: head and tail are live, aligned u32 of the shared mapping, the head written by this thread alone; the
        // acquired tail makes the entry before it visible; the mask keeps the index inside the array; the kernel
        // reuses the entry only after the release of the head.
        unsafe {
            let head = AtomicU32::from_ptr(self.completion_head);
            let next = head.load(Ordering::Relaxed);
            if next == AtomicU32::from_ptr(self.completion_tail).load(Ordering::Acquire) {
                return None;
            }
            let completion = self.completions.add((next & self.completion_mask) as usize).read();
            head.store(next.wrapping_add(1), Ordering::Release);
            Some(completion)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layouts_are_the_kernels() {
        assert_eq!(size_of::<Offsets>(), 40);
        assert_eq!(size_of::<Params>(), 120);
        assert_eq!(size_of::<Submission>(), 64);
        assert_eq!(size_of::<Completion>(), 16);
        assert_eq!(std::mem::offset_of!(Submission, user_data), 32);
    }
}
