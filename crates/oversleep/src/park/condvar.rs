//! A condition variable with exact deadlines, beside the standard library's mutex.

use std::sync::atomic::Ordering;
use std::sync::{LockResult, Mutex, MutexGuard, PoisonError};

use crate::clock::Instant;
use crate::sys::Word;

use super::Woken;
use super::exact::{self, Margins};

/// A condition variable for a [`std::sync::Mutex`], with deadlines that are met.
///
/// It is used like [`std::sync::Condvar`]; a wait also takes the mutex, because the standard library doesn't say which
/// one a guard belongs to. Spurious wake-ups are possible, so wait in a loop, or with
/// [`wait_while_until`](Condvar::wait_while_until).
///
/// ```
/// use oversleep::{Condvar, Instant};
/// use std::sync::Mutex;
/// use std::time::Duration;
///
/// let (is_ready, ready) = (Mutex::new(false), Condvar::new());
/// std::thread::scope(|scope| {
///     scope.spawn(|| {
///         *is_ready.lock().unwrap() = true;
///         ready.notify_one();
///     });
///     let deadline = Instant::now() + Duration::from_secs(10);
///     let guard = is_ready.lock().unwrap();
///     let guard = ready.wait_while_until(&is_ready, guard, deadline, |is_ready| !*is_ready).unwrap();
///     assert!(*guard);
/// });
/// ```
#[derive(Debug)]
pub struct Condvar {
    /// How many notifications there were.
    notifications: Word,
    margins: Margins,
}

impl Default for Condvar {
    fn default() -> Self {
        Self::new()
    }
}

impl Condvar {
    /// A condition variable. It can be made in a constant, and never allocates on Linux.
    ///
    /// ```
    /// static READY: oversleep::Condvar = oversleep::Condvar::new();
    /// READY.notify_all();
    /// ```
    pub const fn new() -> Self {
        Self { notifications: Word::new(0), margins: Margins::new() }
    }

    /// Unlocks the mutex, waits for a notification, and locks it again.
    ///
    /// # Errors
    ///
    /// A thread panicked while it held the mutex; the error has the guard.
    ///
    /// ```
    /// use std::sync::Mutex;
    ///
    /// let (items, ready) = (Mutex::new(vec![1]), oversleep::Condvar::new());
    /// let mut guard = items.lock().unwrap();
    /// while guard.is_empty() {
    ///     guard = ready.wait(&items, guard).unwrap();
    /// }
    /// ```
    pub fn wait<'a, T>(&self, mutex: &'a Mutex<T>, guard: MutexGuard<'a, T>) -> LockResult<MutexGuard<'a, T>> {
        let before = self.notifications.value.load(Ordering::Relaxed);
        drop(guard);
        self.notifications.wait(before, None);
        mutex.lock()
    }

    /// Unlocks the mutex, waits for a notification or until `deadline`, and locks it again. A wait that isn't notified
    /// ends at the deadline: never before it, and as little later as a [`sleep`](crate::sleep()). Locking comes after
    /// that.
    ///
    /// # Errors
    ///
    /// A thread panicked while it held the mutex; the error has the guard.
    ///
    /// ```
    /// use oversleep::Instant;
    /// use std::sync::Mutex;
    /// use std::time::Duration;
    ///
    /// let (mutex, condvar) = (Mutex::new(()), oversleep::Condvar::new());
    /// let deadline = Instant::now() + Duration::from_micros(300);
    /// let (_guard, woken) = condvar.wait_until(&mutex, mutex.lock().unwrap(), deadline).unwrap();
    /// assert!(!woken.is_notified() && Instant::now() >= deadline);
    /// ```
    pub fn wait_until<'a, T>(
        &self,
        mutex: &'a Mutex<T>,
        guard: MutexGuard<'a, T>,
        deadline: Instant,
    ) -> LockResult<(MutexGuard<'a, T>, Woken)> {
        let before = self.notifications.value.load(Ordering::Relaxed);
        drop(guard);
        let woken = exact::wait_until(&self.notifications, before, deadline, &self.margins);
        match mutex.lock() {
            Ok(guard) => Ok((guard, woken)),
            Err(poisoned) => Err(PoisonError::new((poisoned.into_inner(), woken))),
        }
    }

    /// Waits while `condition` holds, until `deadline` at most. The condition is looked at once more after the deadline,
    /// so look at the value to see which of the two ended the wait.
    ///
    /// # Errors
    ///
    /// A thread panicked while it held the mutex; the error has the guard.
    ///
    /// ```
    /// use oversleep::{Condvar, Instant};
    /// use std::sync::Mutex;
    ///
    /// let (mutex, condvar) = (Mutex::new(3), Condvar::new());
    /// let guard = condvar.wait_while_until(&mutex, mutex.lock().unwrap(), Instant::now(), |left| *left > 0).unwrap();
    /// assert_eq!(*guard, 3);
    /// ```
    pub fn wait_while_until<'a, T>(
        &self,
        mutex: &'a Mutex<T>,
        mut guard: MutexGuard<'a, T>,
        deadline: Instant,
        mut condition: impl FnMut(&mut T) -> bool,
    ) -> LockResult<MutexGuard<'a, T>> {
        while condition(&mut guard) {
            let woken;
            (guard, woken) = match self.wait_until(mutex, guard, deadline) {
                Ok(waited) => waited,
                Err(poisoned) => return Err(PoisonError::new(poisoned.into_inner().0)),
            };
            if !woken.is_notified() {
                break;
            }
        }
        Ok(guard)
    }

    /// Wakes one thread that waits.
    ///
    /// ```
    /// oversleep::Condvar::new().notify_one();
    /// ```
    pub fn notify_one(&self) {
        self.notifications.value.fetch_add(1, Ordering::Relaxed);
        self.notifications.wake_one();
    }

    /// Wakes every thread that waits.
    ///
    /// ```
    /// oversleep::Condvar::new().notify_all();
    /// ```
    pub fn notify_all(&self) {
        self.notifications.value.fetch_add(1, Ordering::Relaxed);
        self.notifications.wake_all();
    }
}
