//! The source of time as a parameter, so that code that waits can be tested without waiting.
//!
//! Code that takes a [`TimeSource`] runs on [`RealClock`] in a program and on a [`VirtualClock`] in its tests.
//! [`Pacer`](crate::Pacer), [`Sleeper`](crate::Sleeper), [`Backoff`](crate::Backoff), [`Parker`](crate::Parker) and
//! [`Condvar`](crate::Condvar) take one too, by `with_time`. A real clock has no size and its calls are inlined, so that it
//! costs nothing.

mod virtual_clock;

use std::thread;
use std::time::Duration;

use crate::clock::Instant;

pub use virtual_clock::VirtualClock;

/// A clock and the waits on it.
///
/// ```
/// use oversleep::time::{RealClock, TimeSource, VirtualClock};
/// use std::time::Duration;
///
/// /// Calls `attempt` until it succeeds, at growing intervals, for ten seconds at most.
/// fn retry(time: &impl TimeSource, mut attempt: impl FnMut() -> bool) -> bool {
///     let (deadline, mut pause) = (time.now() + Duration::from_secs(10), Duration::from_millis(100));
///     while time.now() < deadline {
///         if attempt() {
///             return true;
///         }
///         time.sleep(pause);
///         pause *= 2;
///     }
///     false
/// }
///
/// // In the program: `retry(&RealClock, …)`. In a test, ten seconds pass at once, and exactly:
/// let time = VirtualClock::new();
/// let (start, mut attempts) = (time.now(), 0);
/// assert!(!retry(&time, || {
///     attempts += 1;
///     false
/// }));
/// assert_eq!((attempts, time.now() - start), (7, Duration::from_millis(12_700)));
/// # assert!(retry(&RealClock, || true));
/// ```
pub trait TimeSource {
    /// Now.
    ///
    /// ```
    /// use oversleep::time::{RealClock, TimeSource};
    ///
    /// println!("{} ns", RealClock.now().as_nanos());
    /// ```
    fn now(&self) -> Instant;

    /// Sleeps until `deadline`, and never less.
    ///
    /// ```
    /// use oversleep::time::{RealClock, TimeSource};
    /// use std::time::Duration;
    ///
    /// let deadline = RealClock.now() + Duration::from_micros(300);
    /// RealClock.sleep_until(deadline);
    /// assert!(RealClock.now() >= deadline);
    /// ```
    fn sleep_until(&self, deadline: Instant);

    /// Sleeps for at least `duration`.
    ///
    /// ```
    /// use oversleep::time::{TimeSource, VirtualClock};
    ///
    /// // A year, in no time.
    /// VirtualClock::new().sleep(std::time::Duration::from_secs(365 * 86_400));
    /// ```
    fn sleep(&self, duration: Duration) {
        self.sleep_until(self.deadline_in(duration));
    }

    /// The deadline of a wait of this duration that begins now.
    ///
    /// ```
    /// use oversleep::time::{TimeSource, VirtualClock};
    /// use std::time::Duration;
    ///
    /// let time = VirtualClock::new();
    /// assert_eq!(time.deadline_in(Duration::from_secs(1)), time.now() + Duration::from_secs(1));
    /// ```
    fn deadline_in(&self, duration: Duration) -> Instant {
        self.now().saturating_add(duration)
    }

    /// Sleeps until `deadline`, either by calling `system`, which sleeps by the operating system, or in this source's own
    /// way, as this does.
    ///
    /// ```
    /// use oversleep::time::{TimeSource, VirtualClock};
    /// use std::time::Duration;
    ///
    /// let time = VirtualClock::new();
    /// let deadline = time.now() + Duration::from_secs(1);
    /// time.sleep_by(deadline, &mut || unreachable!("virtual time needs no operating system"));
    /// assert_eq!(time.now(), deadline);
    /// ```
    fn sleep_by(&self, deadline: Instant, system: &mut dyn FnMut()) {
        let _ = system;
        self.sleep_until(deadline);
    }

    /// Waits until `has_come` or until `deadline`, either by calling `system`, which does that by the operating system, or
    /// in this source's own way. A source whose threads wait for each other looks again at each
    /// [`notify`](TimeSource::notify); this sleeps until the deadline.
    ///
    /// ```
    /// use oversleep::time::{TimeSource, VirtualClock};
    /// use std::time::Duration;
    ///
    /// let time = VirtualClock::new();
    /// let start = time.now();
    /// time.wait_by(start + Duration::from_secs(1), &|| true, &mut || ());
    /// assert_eq!(time.now(), start); // it has come already
    /// ```
    fn wait_by(&self, deadline: Instant, has_come: &dyn Fn() -> bool, system: &mut dyn FnMut()) {
        let _ = system;
        if !has_come() {
            self.sleep_until(deadline);
        }
    }

    /// Makes threads in [`wait_by`](TimeSource::wait_by) check their condition again. Does nothing if waits of this source
    /// end by themselves.
    ///
    /// ```
    /// use oversleep::time::{TimeSource, VirtualClock};
    ///
    /// VirtualClock::driven().notify();
    /// ```
    #[inline]
    fn notify(&self) {}

    /// Parks the thread for `timeout`, or until another thread unparks it. May end early or late.
    ///
    /// ```
    /// use oversleep::time::{TimeSource, VirtualClock};
    ///
    /// VirtualClock::new().park_timeout(std::time::Duration::from_secs(1));
    /// ```
    fn park_timeout(&self, timeout: Duration) {
        self.sleep(timeout);
    }

    /// Lets a moment pass in a loop that spins.
    ///
    /// ```
    /// use oversleep::time::{RealClock, TimeSource};
    ///
    /// RealClock.relax();
    /// ```
    fn relax(&self) {
        std::hint::spin_loop();
    }

    /// Lets other threads run.
    ///
    /// ```
    /// use oversleep::time::{RealClock, TimeSource};
    ///
    /// RealClock.yield_now();
    /// ```
    fn yield_now(&self) {
        thread::yield_now();
    }
}

/// The machine's time: [`Clock::now`](crate::Clock::now), [`sleep_until`](crate::sleep_until) and [`std::thread`].
///
/// ```
/// use oversleep::time::{RealClock, TimeSource};
///
/// assert!(RealClock.now() <= RealClock.now());
/// assert_eq!(size_of::<RealClock>(), 0);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct RealClock;

/// A shared source: several values can use one clock.
impl<T: TimeSource + ?Sized> TimeSource for &T {
    fn now(&self) -> Instant {
        (**self).now()
    }
    fn sleep_until(&self, deadline: Instant) {
        (**self).sleep_until(deadline);
    }
    fn sleep(&self, duration: Duration) {
        (**self).sleep(duration);
    }
    fn deadline_in(&self, duration: Duration) -> Instant {
        (**self).deadline_in(duration)
    }
    fn sleep_by(&self, deadline: Instant, system: &mut dyn FnMut()) {
        (**self).sleep_by(deadline, system);
    }
    fn wait_by(&self, deadline: Instant, has_come: &dyn Fn() -> bool, system: &mut dyn FnMut()) {
        (**self).wait_by(deadline, has_come, system);
    }
    fn notify(&self) {
        (**self).notify();
    }
    fn park_timeout(&self, timeout: Duration) {
        (**self).park_timeout(timeout);
    }
    fn relax(&self) {
        (**self).relax();
    }
    fn yield_now(&self) {
        (**self).yield_now();
    }
}
