//! Thread cancellation by C programs. `pthread_cancel` unwinds a thread at its next cancellation point, and unwinding
//! through Rust's frames would abort the process. So this library has no cancellation points.

const DISABLE: libc::c_int = if cfg!(target_os = "macos") { 0 } else { 1 };

// SAFETY: as <pthread.h> declares it, in the C library of Linux and in libSystem.
unsafe extern "C" {
    // https://man7.org/linux/man-pages/man3/pthread_setcancelstate.3.html
    fn pthread_setcancelstate(state: libc::c_int, was: *mut libc::c_int) -> libc::c_int;
}

/// While this lives, a cancellation of the calling thread stays pending.
pub(crate) struct Uncancelled {
    was: libc::c_int,
}

pub(crate) fn uncancelled() -> Uncancelled {
    let mut was = 0;
    // SAFETY: `was` is writable. The call fails only for an unknown state.
    unsafe { pthread_setcancelstate(DISABLE, &raw mut was) };
    Uncancelled { was }
}

impl Drop for Uncancelled {
    fn drop(&mut self) {
        let mut was = 0;
        // SAFETY: as above. The state came from this call.
        unsafe { pthread_setcancelstate(self.was, &raw mut was) };
    }
}
