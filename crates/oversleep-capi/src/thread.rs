//! Threads that can be unparked, for producers whose consumers idle in a back-off.

use crate::boundary::{self, Place, handle};
use crate::status::Status;

/// A thread that others can unpark. Any number of threads may use it at a time.
pub struct Thread(std::thread::Thread);

/// Makes a handle of the calling thread. Free it with `oversleep_thread_free`, which does not end the thread; the
/// thread may end before that.
// SAFETY: the prefix is this library's own.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oversleep_thread_current(thread: *mut *mut Thread) -> Status {
    boundary::status(|| {
        // SAFETY: the caller's pointer is null or can be written to.
        let place = unsafe { Place::required(thread)? };
        place.put(std::ptr::null_mut());
        place.put(Box::into_raw(Box::new(Thread(std::thread::current()))));
        Ok(Status::Ok)
    })
}

/// Ends the thread's park in `oversleep_backoff_idle`, or keeps its next one from waiting. Memory written before this
/// call is seen by the thread after its park.
// SAFETY: the prefix is this library's own.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oversleep_thread_unpark(thread: *const Thread) -> Status {
    boundary::status(|| {
        // SAFETY: not null once `check` says so, and then alive by the caller's promise.
        let thread = unsafe { &*handle::check(thread)? };
        thread.0.unpark();
        Ok(Status::Ok)
    })
}

/// Frees a thread's handle. NULL is fine.
// SAFETY: the prefix is this library's own.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oversleep_thread_free(thread: *mut Thread) -> Status {
    boundary::status(|| {
        if !thread.is_null() {
            handle::check(thread)?;
            // SAFETY: from `oversleep_thread_current`, and not used any more, by the caller's promise.
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
