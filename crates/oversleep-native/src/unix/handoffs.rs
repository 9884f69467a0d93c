//! Hand-offs of Rust's standard library, for Linux and macOS. On Windows the library's rest on calls without a public
//! interface, so Windows has others.

use std::io::{Error, ErrorKind};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread::Thread;

use oversleep_system::Handoff;

use crate::native::handoffs::take;

/// Rust's mutex and condition variable, with a count.
#[derive(Default)]
pub(crate) struct Condition {
    count: Mutex<u64>,
    posted: Condvar,
}

impl Handoff for Condition {
    fn post(&self) {
        *self.count.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        self.posted.notify_one();
    }

    fn wait(&self) {
        let count = self.count.lock().unwrap_or_else(PoisonError::into_inner);
        let mut count = self.posted.wait_while(count, |count| *count == 0).unwrap_or_else(PoisonError::into_inner);
        *count -= 1;
    }
}

/// This thread's number: unique, never reused and never 0.
fn thread_number() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    thread_local! {
        static NUMBER: u64 = NEXT.fetch_add(1, Ordering::Relaxed);
    }
    NUMBER.with(|number| *number)
}

/// Rust's parking. The waiting thread enters its handle on its first wait and then looks at the count. A post raises the
/// count and then looks for the handle. Both take the same lock in between (the waiter when it is new), so one of them
/// sees the other: a post that found no handle was counted before the waiter looked.
#[derive(Default)]
pub(crate) struct Park {
    count: AtomicU32,
    /// [`thread_number`] of the thread in `waiter`, so that a thread enters itself once and not at every wait.
    waiter_id: AtomicU64,
    waiter: Mutex<Option<Thread>>,
}

impl Handoff for Park {
    fn post(&self) {
        self.count.fetch_add(1, Ordering::Release);
        // The lock is free by now, or the woken thread would wait for it.
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
            // The notice may be for something else in this thread; the count decides.
            std::thread::park();
        }
    }
}

/// Whether a signal ended this thread's last call. Any other error means a bug here or a descriptor closed by someone
/// else, and aborts the program: otherwise the other thread would sleep forever.
pub(crate) fn interrupted(call: &str) -> bool {
    let error = Error::last_os_error();
    assert!(error.kind() == ErrorKind::Interrupted, "{call}: {error}");
    true
}
