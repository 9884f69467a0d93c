//! Memory that runs out. A run that measures has a reserve, which is released then, and ends with what was measured; any
//! other work, and a run whose reserve is used up, ends with a message and exit code 1, not with an abort and a core dump.
//! Where the kernel promises more memory than there is, or a control group has a limit, it kills the process instead.

use std::alloc::{GlobalAlloc, Layout, System};
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, Ordering};

/// The system's allocator; when memory runs out, the process prints a message and exits.
pub struct Allocator;

// SAFETY: every call goes to the system's allocator with the same arguments; a null pointer is never returned.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promises.
        given(|| unsafe { System.alloc(layout) })
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promises.
        given(|| unsafe { System.alloc_zeroed(layout) })
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        // SAFETY: as the caller promises.
        given(|| unsafe { System.realloc(memory, layout, bytes) })
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[inline]
fn given(ask: impl Fn() -> *mut u8) -> *mut u8 {
    let memory = ask();
    if memory.is_null() { given_from_reserve(ask) } else { memory }
}

#[cold]
fn given_from_reserve(ask: impl Fn() -> *mut u8) -> *mut u8 {
    if release_reserve() {
        say(b"oversleep: memory runs out; ending the run with what was measured\n");
        AT_SHORTAGE.get().into_iter().for_each(|notify| notify());
        let memory = ask();
        if !memory.is_null() {
            return memory;
        }
    }
    end()
}

/// Enough to end a run and to write its result. It is never touched, so it takes address space but no memory.
const RESERVE: Layout = match Layout::from_size_align(4 << 20, 16) {
    Ok(layout) => layout,
    Err(_) => panic!("a multiple of its alignment"),
};
static HELD: AtomicPtr<u8> = AtomicPtr::new(ptr::null_mut());
static AT_SHORTAGE: OnceLock<fn()> = OnceLock::new();

/// Holds a reserve from now on. `notify` is called when it has to be released; it may neither allocate nor lock.
pub fn hold_reserve(notify: fn()) {
    let _ = AT_SHORTAGE.set(notify);
    // SAFETY: the layout has a size. A null pointer means that nothing is held.
    let reserve = unsafe { System.alloc(RESERVE) };
    free(HELD.swap(reserve, Ordering::AcqRel));
}

/// Releases the reserve. Returns whether there was one.
pub fn release_reserve() -> bool {
    free(HELD.swap(ptr::null_mut(), Ordering::AcqRel))
}

fn free(reserve: *mut u8) -> bool {
    if reserve.is_null() {
        return false;
    }
    // SAFETY: it was allocated with that layout, and whoever took it out of `HELD` is the only one to have it.
    unsafe { System.dealloc(reserve, RESERVE) };
    true
}

fn say(message: &[u8]) {
    // SAFETY: the message is valid for its length.
    unsafe { libc::write(libc::STDERR_FILENO, message.as_ptr().cast(), message.len()) };
}

/// Ends the process. Nothing here may need memory or a lock, so nothing else is done: every change belongs to threads or
/// open files of this process, and the system undoes it.
#[cold]
fn end() -> ! {
    const MESSAGE: &[u8] = b"error: out of memory; measure or read less at once, or raise the limit (ulimit -v, the \
        container's memory)\n";
    say(MESSAGE);
    // SAFETY: takes a number.
    unsafe { libc::_exit(1) }
}
