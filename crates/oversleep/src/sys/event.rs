//! An event that one thread waits for and others set, by means of the standard library.

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

/// An event. A wait that it ends resets it.
#[derive(Debug)]
pub(crate) struct Event {
    is_set: Mutex<bool>,
    changed: Condvar,
}

impl Event {
    pub(crate) fn new() -> Self {
        Self { is_set: Mutex::new(false), changed: Condvar::new() }
    }

    pub(crate) fn set(&self) {
        *self.is_set.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.changed.notify_one();
    }

    /// Waits once until the event is set, at most until `deadline_ns`. May end early.
    pub(crate) fn wait(&self, deadline_ns: Option<u64>) {
        let mut is_set = self.is_set.lock().unwrap_or_else(PoisonError::into_inner);
        if !*is_set {
            is_set = match deadline_ns {
                None => self.changed.wait(is_set).unwrap_or_else(PoisonError::into_inner),
                Some(deadline_ns) => {
                    let left = Duration::from_nanos(deadline_ns.saturating_sub(super::monotonic_ns()));
                    self.changed.wait_timeout(is_set, left).unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
        *is_set = false;
    }
}
