//! A condition variable with exact deadlines, beside the standard library's mutex.

use std::sync::atomic::Ordering;
use std::sync::{LockResult, Mutex, MutexGuard, PoisonError};

use super::Woken;
use super::exact;
use crate::algorithm::Margins;
use crate::clock::Instant;
use crate::sys::Word;
use crate::time::{RealClock, TimeSource};

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
///     let deadline = Instant::now() + Duration::from_secs(86_400);
///     let guard = is_ready.lock().unwrap();
///     let guard = ready.wait_while_until(&is_ready, guard, deadline, |is_ready| !*is_ready).unwrap();
///     assert!(*guard);
/// });
/// ```
#[derive(Debug)]
pub struct Condvar<T = RealClock> {
    /// How many notifications there were.
    notifications: Word,
    margins: Margins,
    time: T,
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
        Self { notifications: Word::new(0), margins: Margins::new(), time: RealClock }
    }
}

impl<T: TimeSource> Condvar<T> {
    /// A new condition variable on this clock, for tests in virtual time; see [`crate::time`].
    ///
    /// ```
    /// use oversleep::Condvar;
    /// use oversleep::time::{TimeSource, VirtualClock};
    /// use std::sync::Mutex;
    /// use std::time::Duration;
    ///
    /// let time = VirtualClock::new();
    /// let (mutex, condvar) = (Mutex::new(()), Condvar::new().with_time(time.clone()));
    /// let deadline = time.now() + Duration::from_secs(3_600);
    /// let (_guard, woken) = condvar.wait_until(&mutex, mutex.lock().unwrap(), deadline).unwrap();
    /// assert!(!woken.is_notified() && time.now() == deadline); // an hour, in no time
    /// ```
    pub fn with_time<U: TimeSource>(self, time: U) -> Condvar<U> {
        Condvar { notifications: Word::new(0), margins: Margins::new(), time }
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
    pub fn wait<'a, V>(&self, mutex: &'a Mutex<V>, guard: MutexGuard<'a, V>) -> LockResult<MutexGuard<'a, V>> {
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
    pub fn wait_until<'a, V>(
        &self,
        mutex: &'a Mutex<V>,
        guard: MutexGuard<'a, V>,
        deadline: Instant,
    ) -> LockResult<(MutexGuard<'a, V>, Woken)> {
        let before = self.notifications.value.load(Ordering::Relaxed);
        drop(guard);
        let woken = exact::wait_on(&self.time, &self.notifications, before, deadline, &self.margins);
        match mutex.lock() {
            Ok(guard) => Ok((guard, woken)),
            Err(poisoned) => Err(PoisonError::new((poisoned.into_inner(), woken))),
        }
    }

    /// Waits while `condition` holds, until `deadline` at most. The condition is checked once more after the deadline,
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
    pub fn wait_while_until<'a, V>(
        &self,
        mutex: &'a Mutex<V>,
        mut guard: MutexGuard<'a, V>,
        deadline: Instant,
        mut condition: impl FnMut(&mut V) -> bool,
    ) -> LockResult<MutexGuard<'a, V>> {
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
        self.time.notify();
    }

    /// Wakes every thread that waits.
    ///
    /// ```
    /// oversleep::Condvar::new().notify_all();
    /// ```
    pub fn notify_all(&self) {
        self.notifications.value.fetch_add(1, Ordering::Relaxed);
        self.notifications.wake_all();
        self.time.notify();
    }
}
