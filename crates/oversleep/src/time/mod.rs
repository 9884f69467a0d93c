//! Where time comes from, so that code that waits can be tested without waiting.
//!
//! Code that takes a [`TimeSource`] runs on [`RealClock`] in a program and on a [`VirtualClock`] in its tests.
//! [`Pacer`](crate::Pacer) and [`Backoff`](crate::Backoff) take one too, by `with_time`. A real clock has no size and its
//! calls are inlined, so that it costs nothing.

mod virtual_clock;

use std::thread;
use std::time::Duration;

use crate::clock::{Clock, Instant};
use crate::sleep::{Sleeper, Slept, sleep_until};

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
        self.sleep_until(self.now().saturating_add(duration));
    }

    /// Sleeps until `deadline` with this sleeper, and says how that went if the sleeper was used. A source without an
    /// operating system's waits leaves the sleeper alone.
    ///
    /// ```
    /// use oversleep::time::{TimeSource, VirtualClock};
    /// use oversleep::{Instant, Sleeper};
    ///
    /// let time = VirtualClock::new();
    /// assert_eq!(time.sleep_with(&mut Sleeper::new(), time.now()), None);
    /// ```
    fn sleep_with(&self, sleeper: &mut Sleeper, deadline: Instant) -> Option<Slept> {
        let _ = sleeper;
        self.sleep_until(deadline);
        None
    }

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

/// The machine's time: [`Clock::now`], [`sleep_until`] and [`std::thread`].
///
/// ```
/// use oversleep::time::{RealClock, TimeSource};
///
/// assert!(RealClock.now() <= RealClock.now());
/// assert_eq!(size_of::<RealClock>(), 0);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct RealClock;

impl TimeSource for RealClock {
    #[inline]
    fn now(&self) -> Instant {
        Clock::now()
    }

    #[inline]
    fn sleep_until(&self, deadline: Instant) {
        sleep_until(deadline);
    }

    #[inline]
    fn sleep(&self, duration: Duration) {
        crate::sleep::sleep(duration);
    }

    #[inline]
    fn sleep_with(&self, sleeper: &mut Sleeper, deadline: Instant) -> Option<Slept> {
        Some(sleeper.sleep_until(deadline))
    }

    #[inline]
    fn park_timeout(&self, timeout: Duration) {
        thread::park_timeout(timeout);
    }
}

/// A shared source: several users of one clock.
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
    fn sleep_with(&self, sleeper: &mut Sleeper, deadline: Instant) -> Option<Slept> {
        (**self).sleep_with(sleeper, deadline)
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
