//! The futex system call, which no C library wraps; waits and hand-offs use it.

use std::sync::atomic::AtomicU32;

use super::reason::errno;

/// How long [`wait`] may take.
#[derive(Clone, Copy)]
pub(in crate::linux) enum Until<'a> {
    /// Until woken.
    Woken,
    /// At most that long, on `CLOCK_MONOTONIC`.
    Span(&'a libc::timespec),
    /// Until that time at the latest, on `CLOCK_MONOTONIC`.
    Deadline(&'a libc::timespec),
}

/// Sleeps while `word` is `expected`. Returns `Ok` when it is woken, possibly spuriously, and otherwise the error
/// number: `EAGAIN` if the word had another value, `ETIMEDOUT`, `EINTR`.
pub(in crate::linux) fn wait(word: &AtomicU32, expected: u32, until: Until<'_>) -> Result<(), i32> {
    // The plain operation takes a span, the bitset one a deadline; both wake on any bit.
    let (operation, time) = match until {
        Until::Woken => (libc::FUTEX_WAIT, std::ptr::null()),
        Until::Span(span) => (libc::FUTEX_WAIT, std::ptr::from_ref(span)),
        Until::Deadline(deadline) => (libc::FUTEX_WAIT_BITSET, std::ptr::from_ref(deadline)),
    };
    // SAFETY: the word is a live, aligned u32 for the whole call, the time is null or a live timespec (on 64-bit
    // machines the kernel's layout), and the call touches nothing else.
    // https://man7.org/linux/man-pages/man2/futex.2.html
    let returned = unsafe {
        libc::syscall(
            libc::SYS_futex,
            word.as_ptr(),
            operation | libc::FUTEX_PRIVATE_FLAG,
            expected,
            time,
            std::ptr::null::<u32>(),
            libc::FUTEX_BITSET_MATCH_ANY,
        )
    };
    if returned == 0 { Ok(()) } else { Err(errno()) }
}

/// Wakes one sleeper on `word`. Safe in a signal handler, apart from the error number, which it may overwrite.
pub(in crate::linux) fn wake_one(word: &AtomicU32) {
    // SAFETY: the word is live and aligned; waking reads only its address. A wake of a private futex can't fail.
    // https://man7.org/linux/man-pages/man2/futex.2.html
    unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG, 1) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_word_does_not_sleep() {
        assert_eq!(wait(&AtomicU32::new(1), 0, Until::Woken), Err(libc::EAGAIN));
    }

    #[test]
    fn a_past_deadline_times_out() {
        let past = libc::timespec { tv_sec: 0, tv_nsec: 1 };
        assert_eq!(wait(&AtomicU32::new(0), 0, Until::Deadline(&past)), Err(libc::ETIMEDOUT));
        assert_eq!(wait(&AtomicU32::new(0), 0, Until::Span(&past)), Err(libc::ETIMEDOUT));
    }
}
