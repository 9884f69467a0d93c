//! Memory that runs out: one message and exit code 1, instead of an abort with a core dump.

use std::alloc::{GlobalAlloc, Layout, System};

/// The system's allocator; where it has nothing left, the process says so and ends.
pub struct Allocator;

// SAFETY: every call goes to the system's allocator with the same arguments; a null pointer is never returned.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promises.
        given(unsafe { System.alloc(layout) })
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promises.
        given(unsafe { System.alloc_zeroed(layout) })
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        // SAFETY: as the caller promises.
        given(unsafe { System.realloc(memory, layout, bytes) })
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[inline]
fn given(memory: *mut u8) -> *mut u8 {
    if memory.is_null() {
        end();
    }
    memory
}

/// Ends the process. Nothing here may need memory or a lock, so nothing else is done: every change belongs to threads or
/// open files of this process, and the system undoes it.
#[cold]
fn end() -> ! {
    const MESSAGE: &[u8] = b"error: out of memory; measure or read less at once, or raise the limit (ulimit -v, the \
        container's memory)\n";
    // SAFETY: the message is valid for its length; `_exit` takes a number.
    unsafe {
        libc::write(libc::STDERR_FILENO, MESSAGE.as_ptr().cast(), MESSAGE.len());
        libc::_exit(1)
    }
}
