//! Threads that can be unparked, for producers whose consumers idle in a back-off.

use crate::boundary::{self, Place};
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
        // SAFETY: the caller's handle is null or alive.
        let thread = unsafe { thread.as_ref() }.ok_or(Status::NullPointer)?;
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
            // SAFETY: from `oversleep_thread_current`, and not used any more, by the caller's promise.
            drop(unsafe { Box::from_raw(thread) });
        }
        Ok(Status::Ok)
    })
}
