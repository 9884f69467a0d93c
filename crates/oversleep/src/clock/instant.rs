//! A point in time.

use core::ops::{Add, AddAssign, Sub, SubAssign};
use core::time::Duration;

/// A point on the operating system's monotonic time line, in whole nanoseconds.
///
/// It has every method and operator of [`std::time::Instant`], with the same meaning, so `use oversleep::Instant`
/// compiles where the standard one did. [`Instant::to_std`] and its kin convert between the two.
///
/// On Linux the time line is `CLOCK_MONOTONIC`, on macOS `CLOCK_UPTIME_RAW`, on Windows the performance counter less the
/// time that the machine has slept since the first read. All of them stand still during suspend;
/// [`BootInstant`](super::BootInstant) doesn't. A `u64` of nanoseconds lasts 584 years.
///
/// ```
/// use oversleep::Instant;
/// use std::time::Duration;
///
/// let start = Instant::now();
/// let deadline = start + Duration::from_millis(2);
/// assert_eq!(deadline.nanos_since(start), 2_000_000);
/// assert_eq!(start.nanos_since(deadline), -2_000_000);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct Instant(u64);

impl Instant {
    /// Now, by [`Clock::now`](super::Clock::now), the cheapest exact read.
    ///
    /// Within one thread it is never below an earlier instant. Across threads it may be: the processor may read the
    /// counter before earlier loads have finished, so an instant taken after a message has arrived may be tens of
    /// nanoseconds below the one that was sent. Differences saturate at zero, as in the standard library.
    /// [`Instant::now_ordered`] closes that gap.
    ///
    /// Cost: hardly more than a read of the processor's counter.
    ///
    /// ```
    /// use oversleep::Instant;
    ///
    /// let first = Instant::now();
    /// assert!(Instant::now() >= first);
    /// ```
    #[cfg(feature = "std")]
    #[inline]
    pub fn now() -> Self {
        super::Clock::now()
    }

    /// Now, by [`Clock::now_ordered`](super::Clock::now_ordered): never below an earlier instant, on any core. For
    /// comparing instants of several threads.
    ///
    /// Cost: a fence and a shared write more than [`Instant::now`], about 16 ns.
    ///
    /// ```
    /// use oversleep::Instant;
    ///
    /// let sent = Instant::now_ordered();
    /// let received = std::thread::spawn(Instant::now_ordered).join().unwrap();
    /// assert!(received >= sent);
    /// ```
    #[cfg(feature = "std")]
    #[inline]
    pub fn now_ordered() -> Self {
        super::Clock::now_ordered()
    }

    /// The instant `ns` nanoseconds after the time line's zero.
    ///
    /// ```
    /// assert_eq!(oversleep::Instant::from_nanos(5).as_nanos(), 5);
    /// ```
    #[inline]
    pub const fn from_nanos(ns: u64) -> Self {
        Self(ns)
    }

    /// Nanoseconds since the time line's zero.
    ///
    /// ```
    /// // On Linux this compares with CLOCK_MONOTONIC timestamps from other programs.
    /// println!("{}", oversleep::Instant::now().as_nanos());
    /// ```
    #[inline]
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Nanoseconds from `earlier` to `self`; negative if `earlier` is in fact later.
    ///
    /// Differences beyond ±292 years saturate.
    ///
    /// ```
    /// use oversleep::Instant;
    ///
    /// assert_eq!(Instant::from_nanos(3).nanos_since(Instant::from_nanos(10)), -7);
    /// ```
    #[inline]
    pub const fn nanos_since(self, earlier: Self) -> i64 {
        let difference = self.0 as i128 - earlier.0 as i128;
        if difference > i64::MAX as i128 {
            i64::MAX
        } else if difference < i64::MIN as i128 {
            i64::MIN
        } else {
            difference as i64
        }
    }

    /// The time from `earlier` to `self`; zero if `earlier` is in fact later.
    ///
    /// ```
    /// use oversleep::Instant;
    /// use std::time::Duration;
    ///
    /// let (first, second) = (Instant::from_nanos(3), Instant::from_nanos(10));
    /// assert_eq!(second.duration_since(first), Duration::from_nanos(7));
    /// assert_eq!(first.duration_since(second), Duration::ZERO);
    /// ```
    #[inline]
    pub const fn duration_since(&self, earlier: Self) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }

    /// The time from `earlier` to `self`, or `None` if `earlier` is in fact later.
    ///
    /// ```
    /// use oversleep::Instant;
    ///
    /// assert_eq!(Instant::from_nanos(3).checked_duration_since(Instant::from_nanos(10)), None);
    /// ```
    #[inline]
    pub const fn checked_duration_since(&self, earlier: Self) -> Option<Duration> {
        match self.0.checked_sub(earlier.0) {
            Some(ns) => Some(Duration::from_nanos(ns)),
            None => None,
        }
    }

    /// [`Instant::duration_since`] by the name that says how it rounds.
    ///
    /// ```
    /// use oversleep::Instant;
    ///
    /// assert!(Instant::from_nanos(3).saturating_duration_since(Instant::from_nanos(10)).is_zero());
    /// ```
    #[inline]
    pub const fn saturating_duration_since(&self, earlier: Self) -> Duration {
        self.duration_since(earlier)
    }

    /// The time since this instant; zero if it is in the future.
    ///
    /// Cost: one [`Instant::now`].
    ///
    /// ```
    /// let start = oversleep::Instant::now();
    /// println!("{:?}", start.elapsed());
    /// ```
    #[cfg(feature = "std")]
    #[inline]
    pub fn elapsed(&self) -> Duration {
        Self::now().duration_since(*self)
    }

    /// This instant plus `duration`, or `None` beyond the end of the time line.
    ///
    /// ```
    /// use oversleep::Instant;
    /// use std::time::Duration;
    ///
    /// assert_eq!(Instant::from_nanos(u64::MAX).checked_add(Duration::from_nanos(1)), None);
    /// ```
    #[inline]
    pub fn checked_add(&self, duration: Duration) -> Option<Self> {
        self.0.checked_add(u64::try_from(duration.as_nanos()).ok()?).map(Self)
    }

    /// This instant minus `duration`, or `None` before the time line's zero.
    ///
    /// ```
    /// use oversleep::Instant;
    /// use std::time::Duration;
    ///
    /// assert_eq!(Instant::from_nanos(1).checked_sub(Duration::from_nanos(2)), None);
    /// ```
    #[inline]
    pub fn checked_sub(&self, duration: Duration) -> Option<Self> {
        self.0.checked_sub(u64::try_from(duration.as_nanos()).ok()?).map(Self)
    }

    /// This instant plus `duration`, at most the end of the time line.
    ///
    /// ```
    /// use oversleep::Instant;
    /// use std::time::Duration;
    ///
    /// assert_eq!(Instant::from_nanos(1).saturating_add(Duration::MAX).as_nanos(), u64::MAX);
    /// ```
    #[inline]
    pub fn saturating_add(&self, duration: Duration) -> Self {
        self.checked_add(duration).unwrap_or(Self(u64::MAX))
    }
}

/// The operators of a point on a time line of nanoseconds.
macro_rules! operators {
    ($line:ident) => {
        impl Add<Duration> for $line {
            type Output = Self;

            /// # Panics
            ///
            /// If the result is beyond the end of the time line, 584 years after its zero.
            fn add(self, duration: Duration) -> Self {
                self.checked_add(duration).expect("the instant is beyond the end of the time line")
            }
        }

        impl AddAssign<Duration> for $line {
            fn add_assign(&mut self, duration: Duration) {
                *self = *self + duration;
            }
        }

        impl Sub<Duration> for $line {
            type Output = Self;

            /// # Panics
            ///
            /// If the result is before the time line's zero.
            fn sub(self, duration: Duration) -> Self {
                self.checked_sub(duration).expect("the instant is before the time line's zero")
            }
        }

        impl SubAssign<Duration> for $line {
            fn sub_assign(&mut self, duration: Duration) {
                *self = *self - duration;
            }
        }

        impl Sub for $line {
            type Output = Duration;

            /// The time from `earlier` to `self`; zero if `earlier` is in fact later.
            fn sub(self, earlier: Self) -> Duration {
                self.duration_since(earlier)
            }
        }
    };
}
#[cfg(feature = "std")]
pub(crate) use operators;

operators!(Instant);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_signed_and_saturate() {
        let (zero, end) = (Instant::from_nanos(0), Instant::from_nanos(u64::MAX));
        assert_eq!(end.nanos_since(zero), i64::MAX);
        assert_eq!(zero.nanos_since(end), i64::MIN);
        assert_eq!(Instant::from_nanos(3).nanos_since(Instant::from_nanos(5)), -2);
        assert_eq!(zero.checked_duration_since(end), None);
    }

    #[test]
    fn additions_stop_at_the_ends() {
        let end = Instant::from_nanos(u64::MAX);
        assert_eq!(end.checked_add(Duration::from_nanos(1)), None);
        assert_eq!(end.saturating_add(Duration::MAX), end);
        assert_eq!(Instant::from_nanos(0).checked_sub(Duration::from_nanos(1)), None);
        assert_eq!(Instant::from_nanos(0).checked_add(Duration::MAX), None);
    }
}
