//! Waits for a word of memory to change on systems without a call that does so with an exact deadline. It keeps a list
//! of the waiting threads, each with its own event.

use std::cell::RefCell;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::Event;

thread_local! {
    static EVENT: RefCell<Option<Arc<Event>>> = const { RefCell::new(None) };
}

/// This thread's event. A thread that is ending gets a new one for each wait.
fn this_threads_event() -> Arc<Event> {
    let event = EVENT.try_with(|event| event.borrow_mut().get_or_insert_with(|| Arc::new(Event::new())).clone());
    event.unwrap_or_else(|_| Arc::new(Event::new()))
}

/// A word that threads wait for.
#[derive(Debug)]
pub(crate) struct Word {
    pub(crate) value: AtomicU32,
    waiters: Mutex<Vec<Arc<Event>>>,
}

impl Word {
    pub(crate) const fn new(value: u32) -> Self {
        Self { value: AtomicU32::new(value), waiters: Mutex::new(Vec::new()) }
    }

    fn waiters(&self) -> MutexGuard<'_, Vec<Arc<Event>>> {
        self.waiters.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits once while the word is `expected`, at most until `deadline_ns`. May end early.
    pub(crate) fn wait(&self, expected: u32, deadline_ns: Option<u64>) {
        let event = this_threads_event();
        {
            let mut waiters = self.waiters();
            // A thread that changes the word takes this lock before it wakes anybody, so it sees this waiter.
            if self.value.load(Ordering::Relaxed) != expected {
                return;
            }
            waiters.push(event.clone());
        }
        event.wait(deadline_ns);
        let mut waiters = self.waiters();
        match waiters.iter().position(|other| Arc::ptr_eq(other, &event)) {
            Some(place) => {
                waiters.remove(place);
            }
            // Another thread took this waiter from the list, so the event is set or is about to be. It must not end the
            // next wait.
            None => {
                drop(waiters);
                event.wait(Some(0));
            }
        }
    }

    /// Wakes one thread that waits for this word.
    pub(crate) fn wake_one(&self) {
        let mut waiters = self.waiters();
        if !waiters.is_empty() {
            // The event is set while the list is locked, so a thread that isn't on the list any more finds its event set.
            waiters.remove(0).set();
        }
    }

    /// Wakes every thread that waits for this word.
    pub(crate) fn wake_all(&self) {
        self.waiters().drain(..).for_each(|event| event.set());
    }
}

#[cfg(test)]
#[path = "waiters_tests.rs"]
mod tests;
