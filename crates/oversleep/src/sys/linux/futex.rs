//! Linux: waiting for a word of memory to change, with an absolute deadline.

use std::ptr;
use std::sync::atomic::AtomicU32;

use super::clocks::{timespec, wait_otherwise};
use super::errno;
use super::line::of_kernel_ns;

/// How long a wait lasts if a sandbox forbids the call; the caller then checks its word and waits again.
const WITHOUT_FUTEX_NS: u64 = 50_000;

/// `FUTEX_BITSET_MATCH_ANY`, which the bindings lack on Android.
const ANY_BIT: u32 = u32::MAX;

/// A word that threads wait for.
#[derive(Debug)]
pub(crate) struct Word {
    pub(crate) value: AtomicU32,
}

impl Word {
    pub(crate) const fn new(value: u32) -> Self {
        Self { value: AtomicU32::new(value) }
    }

    /// Waits once while the word is `expected`, at most until `deadline_ns` on the time line. May end early.
    pub(crate) fn wait(&self, expected: u32, deadline_ns: Option<u64>) {
        let deadline = deadline_ns.map(of_kernel_ns).map(timespec);
        let deadline = deadline.as_ref().map_or(ptr::null(), ptr::from_ref);
        let none = ptr::null::<u32>();
        // SAFETY: the word and the deadline live through the call, and the deadline may be null. Without
        // FUTEX_CLOCK_REALTIME it is absolute on CLOCK_MONOTONIC. https://man7.org/linux/man-pages/man2/futex.2.html
        let result = unsafe {
            libc::syscall(
                libc::SYS_futex,
                self.value.as_ptr(),
                libc::FUTEX_WAIT_BITSET | libc::FUTEX_PRIVATE_FLAG,
                expected,
                deadline,
                none,
                ANY_BIT,
            )
        };
        if result != 0 && ![libc::EAGAIN, libc::EINTR, libc::ETIMEDOUT].contains(&errno()) {
            wait_otherwise(WITHOUT_FUTEX_NS);
        }
    }

    /// Wakes one thread that waits for this word.
    pub(crate) fn wake_one(&self) {
        self.wake(1);
    }

    /// Wakes every thread that waits for this word.
    pub(crate) fn wake_all(&self) {
        self.wake(i32::MAX);
    }

    fn wake(&self, threads: i32) {
        // SAFETY: the call only uses the address. https://man7.org/linux/man-pages/man2/futex.2.html
        unsafe {
            libc::syscall(libc::SYS_futex, self.value.as_ptr(), libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG, threads)
        };
    }
}
