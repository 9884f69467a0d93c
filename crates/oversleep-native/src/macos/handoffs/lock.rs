//! Hand-offs through memory and what lies beneath it.

use std::sync::Arc;

use super::Kind;
use crate::macos::dispatch::Semaphore;
use crate::macos::os;
use crate::macos::semaphore::MachSemaphore;
use crate::unix::handoffs::{Condition, Park};
use oversleep_system::{Handoff, HandoffInfo};

pub(super) static CONDVAR: Kind = Kind {
    info: HandoffInfo {
        name: "condvar",
        call: "Condvar::notify_one and Condvar::wait",
        doc: "The common way: a mutex, a state and a condition variable, here Rust's over pthread's. The notice is given \
              after the mutex is free.",
        since: "macOS 10.12",
        page: "https://doc.rust-lang.org/std/sync/struct.Condvar.html",
    },
    open: || Ok(Arc::new(Condition::default())),
};

pub(super) static THREAD_PARK: Kind = Kind {
    info: HandoffInfo {
        name: "thread-park",
        call: "Thread::unpark and std::thread::park",
        doc: "Rust's parking, here a dispatch semaphore per thread: wakes a thread by its handle. Channels and executors \
              build on it. A post holds a short lock to find the waiting thread.",
        since: "macOS 10.12",
        page: "https://doc.rust-lang.org/std/thread/fn.park.html",
    },
    open: || Ok(Arc::new(Park::default())),
};

pub(super) static MACH_SEMAPHORE: Kind = Kind {
    info: HandoffInfo {
        name: "mach-semaphore",
        call: "semaphore_signal and semaphore_wait",
        doc: "Mach's semaphore: every signal and every wait is a call into the kernel. Engines and audio code use it; \
              unnamed POSIX semaphores don't exist here.",
        since: "Mac OS X 10.0",
        page: "https://developer.apple.com/library/archive/documentation/Darwin/Conceptual/KernelProgramming/synchronization/synchronization.html",
    },
    open: || Ok(Arc::new(Mach(MachSemaphore::new()?))),
};

struct Mach(MachSemaphore);

impl Handoff for Mach {
    fn post(&self) {
        let error = self.0.signal();
        assert!(error == os::SUCCESS, "{}", os::mach_failed("semaphore_signal", error));
    }

    fn wait(&self) {
        loop {
            match self.0.wait() {
                os::SUCCESS => return,
                // A signal.
                os::ABORTED => {}
                error => panic!("{}", os::mach_failed("semaphore_wait", error)),
            }
        }
    }
}

pub(super) static DISPATCH_SEMAPHORE: Kind = Kind {
    info: HandoffInfo {
        name: "dispatch-semaphore",
        call: "dispatch_semaphore_signal and dispatch_semaphore_wait",
        doc: "Grand Central Dispatch's semaphore: a count in memory, and Mach's semaphore only where somebody waits.",
        since: "Mac OS X 10.6",
        page: "https://developer.apple.com/documentation/dispatch/dispatch_semaphore_signal",
    },
    open: || Ok(Arc::new(Dispatch(Semaphore::new()?))),
};

struct Dispatch(Semaphore);

impl Handoff for Dispatch {
    fn post(&self) {
        self.0.signal();
    }

    fn wait(&self) {
        self.0.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::handoff_conformance::check;

    #[test]
    fn locks_conform() {
        for kind in [&CONDVAR, &THREAD_PARK, &MACH_SEMAPHORE, &DISPATCH_SEMAPHORE] {
            check(kind.open);
        }
    }
}
