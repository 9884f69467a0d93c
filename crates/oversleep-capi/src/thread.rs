//! Threads that producers can unpark while they idle in a back-off.

use crate::boundary::{self, Place, handle};
use crate::status::Status;

/// A thread that others can unpark. Any number of threads may use the handle at the same time.
pub struct Thread(std::thread::Thread);

/// Creates a handle of the calling thread. Free it with `oversleep_thread_free`, which does not end the thread; the
/// thread may also end first.
// SAFETY: no other library uses this prefix.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oversleep_thread_current(thread: *mut *mut Thread) -> Status {
    boundary::status(|| {
        // SAFETY: the caller's pointer is null or writable.
        let place = unsafe { Place::required(thread)? };
        place.put(std::ptr::null_mut());
        place.put(Box::into_raw(Box::new(Thread(std::thread::current()))));
        Ok(Status::Ok)
    })
}

/// Ends the thread's park in `oversleep_backoff_idle`, or makes its next one return at once. After its park the thread
/// sees all memory written before this call.
// SAFETY: no other library uses this prefix.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oversleep_thread_unpark(thread: *const Thread) -> Status {
    boundary::status(|| {
        // SAFETY: `check` refuses null, and otherwise the caller guarantees that it is alive.
        let thread = unsafe { &*handle::check(thread)? };
        thread.0.unpark();
        Ok(Status::Ok)
    })
}

/// Frees a thread's handle. NULL is allowed.
// SAFETY: no other library uses this prefix.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oversleep_thread_free(thread: *mut Thread) -> Status {
    boundary::status(|| {
        if !thread.is_null() {
            handle::check(thread)?;
            // SAFETY: from `oversleep_thread_current`; the caller guarantees that nobody uses it any more.
            drop(unsafe { Box::from_raw(thread) });
        }
        Ok(Status::Ok)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pointer_to_no_thread_is_refused() {
        let mut thread = std::ptr::null_mut();
        // SAFETY: the handle is alive until it is freed; the others are refused before they are used.
        unsafe {
            assert_eq!(oversleep_thread_current(&raw mut thread), Status::Ok);
            let misaligned = thread.wrapping_byte_add(1);
            assert_eq!(oversleep_thread_unpark(misaligned), Status::InvalidArgument);
            assert_eq!(oversleep_thread_free(misaligned), Status::InvalidArgument);
            assert_eq!(oversleep_thread_unpark(std::ptr::null()), Status::NullPointer);
            assert_eq!(oversleep_thread_free(std::ptr::null_mut()), Status::Ok);
            assert_eq!(oversleep_thread_free(thread), Status::Ok);
        }
    }
}
