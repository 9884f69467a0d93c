//! Threads that a C program may cancel: `pthread_cancel` ends a thread at its next cancellation point by unwinding it, which
//! Rust's frames don't allow; the process would be ended. So there is none in this library.

const DISABLE: libc::c_int = if cfg!(target_os = "macos") { 0 } else { 1 };

// SAFETY: as <pthread.h> declares it, in the C library of Linux and in libSystem.
unsafe extern "C" {
    // https://man7.org/linux/man-pages/man3/pthread_setcancelstate.3.html
    fn pthread_setcancelstate(state: libc::c_int, was: *mut libc::c_int) -> libc::c_int;
}

/// While this lives, the calling thread isn't ended by others: a cancellation stays pending.
pub(crate) struct Uncancelled {
    was: libc::c_int,
}

pub(crate) fn uncancelled() -> Uncancelled {
    let mut was = 0;
    // SAFETY: `was` is valid to write to. The call fails for an unknown state only.
    unsafe { pthread_setcancelstate(DISABLE, &raw mut was) };
    Uncancelled { was }
}

impl Drop for Uncancelled {
    fn drop(&mut self) {
        let mut was = 0;
        // SAFETY: as above. The state is one that the call gave.
        unsafe { pthread_setcancelstate(self.was, &raw mut was) };
    }
}
