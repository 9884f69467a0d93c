//! How threads of a supervisor lock what they share.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks state that other threads guard. A poisoned lock is used anyway: a tally stays a tally.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
