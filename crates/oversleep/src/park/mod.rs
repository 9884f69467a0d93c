//! Waiting for another thread, until an exact deadline at most.
//!
//! [`Parker`], [`Condvar`] and the crate `oversleep-channel` wait for a word of memory to change. Each ends at once when
//! another thread changes it, and on time when none does: the system wakes the thread a learned margin before the
//! deadline, as for a [`sleep`](crate::sleep()), and the thread spins for the rest while it watches the word.

mod condvar;
mod exact;
mod token;

use std::cell::Cell;
use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::algorithm::Margins;
use crate::clock::Instant;
use crate::sys::Word;
use crate::time::{RealClock, TimeSource};
use token::Token;

pub use condvar::Condvar;

/// What ended a wait.
///
/// ```
/// use oversleep::Parker;
/// use oversleep::park::Woken;
///
/// let parker = Parker::new();
/// parker.unparker().unpark();
/// assert_eq!(parker.park_timeout(std::time::Duration::ZERO), Woken::Notified);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Woken {
    /// Another thread ended it.
    Notified,
    /// It reached the deadline.
    AtDeadline {
        /// How long after the deadline the wait ended, in nanoseconds.
        lateness_ns: u64,
    },
}

impl Woken {
    /// Whether another thread ended the wait.
    ///
    /// ```
    /// assert!(oversleep::park::Woken::Notified.is_notified());
    /// ```
    pub fn is_notified(self) -> bool {
        self == Self::Notified
    }
}

/// Parks its thread until another one unparks it, or until a deadline.
///
/// Unparking leaves a token, at most one, which the next park takes at once. So an unpark that comes before the park
/// isn't lost. Everything that the other thread did before it unparked is visible after the park.
///
/// # Guarantees
///
/// * A park with a deadline ends when another thread unparks it, or at the deadline: never earlier, by either clock, and
///   as little later as a [`sleep`](crate::sleep()). There are no spurious wake-ups.
/// * A token that came before the deadline is taken.
///
/// # Cost
///
/// A park with a deadline makes up to two waits of the operating system and spins for the last margin, usually 5 to
/// 20 µs. A park without one doesn't spin. An unpark of a thread that isn't parked makes no system call.
///
/// ```
/// use oversleep::{Instant, Parker};
/// use std::time::Duration;
///
/// let parker = Parker::new();
/// let unparker = parker.unparker();
/// let producer = std::thread::spawn(move || unparker.unpark());
/// // Wakes for the producer, and for the heartbeat if there is nothing to do.
/// let heartbeat = Instant::now() + Duration::from_millis(100);
/// if parker.park_until(heartbeat).is_notified() {
///     println!("the producer has something");
/// }
/// producer.join().unwrap();
/// ```
#[derive(Debug)]
pub struct Parker<T = RealClock> {
    shared: Arc<Token>,
    margins: Margins,
    time: T,
    /// One thread parks at a time.
    not_sync: PhantomData<Cell<()>>,
}

impl Default for Parker {
    fn default() -> Self {
        Self::new()
    }
}

impl Parker {
    /// A parker without a token. Allocates once.
    ///
    /// ```
    /// let parker = oversleep::Parker::new();
    /// # drop(parker);
    /// ```
    pub fn new() -> Self {
        Self { shared: Arc::new(Token::new()), margins: Margins::new(), time: RealClock, not_sync: PhantomData }
    }
}

impl<T: TimeSource> Parker<T> {
    /// A new parker on this clock, for tests in virtual time; see [`crate::time`]. Take unparkers from the new parker:
    /// those of the former one don't unpark it.
    ///
    /// ```
    /// use oversleep::Parker;
    /// use oversleep::time::{TimeSource, VirtualClock};
    /// use std::time::Duration;
    ///
    /// let time = VirtualClock::driven();
    /// let start = time.now();
    /// let parker = Parker::new().with_time(time.clone());
    /// let unparker = parker.unparker();
    /// let worker = std::thread::spawn(move || parker.park_timeout(Duration::from_secs(60)));
    /// time.wait_for_sleepers(1);
    /// time.advance(Duration::from_secs(1));
    /// unparker.unpark();
    /// assert!(worker.join().unwrap().is_notified());
    /// assert_eq!(time.now() - start, Duration::from_secs(1));
    /// ```
    pub fn with_time<U: TimeSource>(self, time: U) -> Parker<U> {
        Parker { shared: Arc::new(Token::new()), margins: Margins::new(), time, not_sync: PhantomData }
    }

    /// A handle by which any thread can unpark this parker.
    ///
    /// ```
    /// let parker = oversleep::Parker::new();
    /// let unparker = parker.unparker();
    /// std::thread::spawn(move || unparker.unpark());
    /// parker.park();
    /// ```
    pub fn unparker(&self) -> Unparker<T>
    where
        T: Clone,
    {
        Unparker { shared: self.shared.clone(), time: self.time.clone() }
    }

    /// Parks until another thread unparks this parker.
    ///
    /// ```
    /// let parker = oversleep::Parker::new();
    /// parker.unparker().unpark();
    /// parker.park(); // takes the token
    /// ```
    pub fn park(&self) {
        self.shared.take();
    }

    /// Parks until another thread unparks this parker, or until `deadline`.
    ///
    /// ```
    /// use oversleep::{Instant, Parker};
    /// use std::time::Duration;
    ///
    /// let deadline = Instant::now() + Duration::from_micros(300);
    /// let woken = Parker::new().park_until(deadline);
    /// assert!(!woken.is_notified() && Instant::now() >= deadline);
    /// ```
    pub fn park_until(&self, deadline: Instant) -> Woken {
        let mut at_deadline = Woken::Notified;
        let is_taken = self.shared.take_after(|word: &Word, empty| {
            at_deadline = exact::wait_on(&self.time, word, empty, deadline, &self.margins);
        });
        match at_deadline {
            _ if is_taken => Woken::Notified,
            // The word changes only when a token is left.
            Woken::Notified => Woken::AtDeadline { lateness_ns: 0 },
            woken => woken,
        }
    }

    /// Parks until another thread unparks this parker, or for `timeout`.
    ///
    /// ```
    /// use oversleep::Parker;
    /// use std::time::Duration;
    ///
    /// assert!(!Parker::new().park_timeout(Duration::from_micros(50)).is_notified());
    /// ```
    pub fn park_timeout(&self, timeout: Duration) -> Woken {
        self.park_until(self.time.deadline_in(timeout))
    }

    /// Parks for about `timeout` without spinning, so it may end late; [`Backoff`](crate::Backoff) measures the
    /// lateness. Returns whether there was a token.
    pub(crate) fn park_coarsely(&self, timeout: Duration) -> bool {
        let end = self.time.now().saturating_add(timeout);
        self.shared.take_after(|word, empty| {
            let has_come = || word.value.load(Ordering::Relaxed) != empty;
            self.time.wait_by(end, &has_come, &mut || word.wait(empty, Some(end.as_nanos())));
        })
    }
}

/// Unparks a [`Parker`], from any thread. Clones unpark the same one.
///
/// ```
/// let parker = oversleep::Parker::new();
/// let (one, other) = (parker.unparker(), parker.unparker());
/// one.unpark();
/// other.unpark(); // there is one token, not two
/// parker.park();
/// ```
#[derive(Clone, Debug)]
pub struct Unparker<T = RealClock> {
    shared: Arc<Token>,
    time: T,
}

impl<T: TimeSource> Unparker<T> {
    /// Ends the parker's park, or the next one at once if it isn't parked.
    ///
    /// ```
    /// let parker = oversleep::Parker::new();
    /// parker.unparker().unpark();
    /// parker.park();
    /// ```
    pub fn unpark(&self) {
        self.shared.leave();
        self.time.notify();
    }
}

#[cfg(test)]
mod tests;
