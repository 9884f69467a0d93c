//! Hand-offs to a thread by its handle.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Thread;

use super::{Kind, take};
use crate::platform::{Handoff, HandoffInfo};

pub(super) static THREAD_PARK: Kind = Kind {
    info: HandoffInfo {
        name: "thread-park",
        call: "Thread::unpark and std::thread::park",
        doc: "Rust's parking, like Java's LockSupport: wakes a thread by its handle. One futex per thread; channels and \
              executors build on it. A post holds a short lock to find the waiting thread.",
        since: "Linux 2.6",
        page: "https://doc.rust-lang.org/std/thread/fn.park.html",
    },
    open: || {
        let (count, waiter_id, waiter) = (AtomicU32::new(0), AtomicU64::new(0), Mutex::new(None));
        Ok(Arc::new(Park { count, waiter_id, waiter }))
    },
};

/// A number of this thread's that no other thread has or will have; never 0.
fn thread_number() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    thread_local! {
        static NUMBER: u64 = NEXT.fetch_add(1, Ordering::Relaxed);
    }
    NUMBER.with(|number| *number)
}

/// The waiting thread enters its handle on its first wait, then looks at the count; a post raises the count, then looks
/// for the handle. Both take the same lock in between (the waiter when it is new), so one of them sees the other: a
/// post that found no handle was counted before the waiter looked.
struct Park {
    count: AtomicU32,
    /// [`thread_number`] of the thread in `waiter`, so that a thread enters itself once and not at every wait.
    waiter_id: AtomicU64,
    waiter: Mutex<Option<Thread>>,
}

impl Handoff for Park {
    fn post(&self) {
        self.count.fetch_add(1, Ordering::Release);
        // Unparked with the lock free, or the woken thread might meet it.
        let waiter = self.waiter.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(thread) = waiter {
            thread.unpark();
        }
    }

    fn wait(&self) {
        let number = thread_number();
        if self.waiter_id.load(Ordering::Relaxed) != number {
            *self.waiter.lock().unwrap_or_else(PoisonError::into_inner) = Some(std::thread::current());
            self.waiter_id.store(number, Ordering::Relaxed);
        }
        while !take(&self.count) {
            // A notice for this or for anything else of the thread's; the count decides.
            std::thread::park();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::conformance::check;
    use super::*;

    #[test]
    fn thread_park_conforms() {
        check(&THREAD_PARK);
    }
}
