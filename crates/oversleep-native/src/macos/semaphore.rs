//! Mach's semaphore, which waits and hand-offs use.

use oversleep_record::Unavailable;

use super::os::{self, KernReturn, Port};

/// `mach_timespec_t`.
#[repr(C)]
#[derive(Clone, Copy)]
struct MachTimespec {
    secs: u32,
    nanos: i32,
}

/// `SYNC_POLICY_FIFO`.
const FIRST_COME: i32 = 0;

// SAFETY: as <mach/task.h> and <mach/semaphore.h> declare them, in libSystem.
// https://developer.apple.com/library/archive/documentation/Darwin/Conceptual/KernelProgramming/synchronization/synchronization.html
unsafe extern "C" {
    fn semaphore_create(task: Port, semaphore: *mut Port, policy: i32, value: i32) -> KernReturn;
    fn semaphore_destroy(task: Port, semaphore: Port) -> KernReturn;
    fn semaphore_signal(semaphore: Port) -> KernReturn;
    fn semaphore_wait(semaphore: Port) -> KernReturn;
    fn semaphore_timedwait(semaphore: Port, span: MachTimespec) -> KernReturn;
}

/// A semaphore of this process that starts at zero and is destroyed on drop.
pub(super) struct MachSemaphore(Port);

impl MachSemaphore {
    /// A new one.
    pub(super) fn new() -> Result<MachSemaphore, Unavailable> {
        let mut port = 0;
        // SAFETY: the name is writable; the task is this process.
        match unsafe { semaphore_create(os::task(), &raw mut port, FIRST_COME, 0) } {
            os::SUCCESS => Ok(MachSemaphore(port)),
            error => Err(os::mach_failed("semaphore_create", error)),
        }
    }

    /// Raises it, and wakes one waiter.
    pub(super) fn signal(&self) -> KernReturn {
        // SAFETY: the name is valid for as long as this lives.
        unsafe { semaphore_signal(self.0) }
    }

    /// Waits for a signal. A POSIX signal aborts the wait.
    pub(super) fn wait(&self) -> KernReturn {
        // SAFETY: as above.
        unsafe { semaphore_wait(self.0) }
    }

    /// Waits for a signal, at most for this long. `nanos` is below a second.
    pub(super) fn timed_wait(&self, secs: u32, nanos: i32) -> KernReturn {
        // SAFETY: as above; the span is passed by value.
        unsafe { semaphore_timedwait(self.0, MachTimespec { secs, nanos }) }
    }
}

impl Drop for MachSemaphore {
    fn drop(&mut self) {
        // SAFETY: created by this process and not used again.
        unsafe { semaphore_destroy(os::task(), self.0) };
    }
}
