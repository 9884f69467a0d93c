//! A point in time on a clock that also runs while the machine is suspended.

use std::ops::{Add, AddAssign, Sub, SubAssign};
use std::time::Duration;

use crate::sys;

/// A point on the operating system's continuous time line, which also counts the time that the machine was suspended.
///
/// [`Instant`](super::Instant) stands still during suspend, as the standard library's does on Linux and macOS. Use this
/// type for what must expire while the machine sleeps: leases, tokens, caches of what others change.
///
/// | system | [`Instant`](super::Instant) and its waits stand still | `BootInstant` and its waits count suspend |
/// |---|---|---|
/// | Linux | `CLOCK_MONOTONIC` | `CLOCK_BOOTTIME` |
/// | macOS | `CLOCK_UPTIME_RAW` | `CLOCK_MONOTONIC_RAW` (`mach_continuous_time`); a wait on a kernel event queue |
/// | Windows 10 and later | the performance counter less the time asleep | that counter; a wait in steps of 250 ms |
/// | Windows before that, Wine 8 | the performance counter, which doesn't stand still | the same |
/// | elsewhere | the standard library's clock | the same: no clock is known that counts suspend |
///
/// Cost: a read of the operating system's clock. The processor's counter isn't used, because a suspend may reset it.
///
/// ```
/// use oversleep::BootInstant;
/// use std::time::Duration;
///
/// let expires = BootInstant::now() + Duration::from_secs(86_400);
/// assert!(BootInstant::now() < expires);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct BootInstant(u64);

impl BootInstant {
    /// Now.
    ///
    /// ```
    /// use oversleep::BootInstant;
    ///
    /// let first = BootInstant::now();
    /// assert!(BootInstant::now() >= first);
    /// ```
    #[inline]
    pub fn now() -> Self {
        Self(sys::continuous_ns())
    }

    /// The instant `ns` nanoseconds after the time line's zero.
    ///
    /// ```
    /// assert_eq!(oversleep::BootInstant::from_nanos(5).as_nanos(), 5);
    /// ```
    #[inline]
    pub const fn from_nanos(ns: u64) -> Self {
        Self(ns)
    }

    /// Nanoseconds since the time line's zero.
    ///
    /// ```
    /// // On Linux this compares with CLOCK_BOOTTIME timestamps from other programs.
    /// println!("{}", oversleep::BootInstant::now().as_nanos());
    /// ```
    #[inline]
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// The time from `earlier` to `self`; zero if `earlier` is in fact later.
    ///
    /// ```
    /// use oversleep::BootInstant;
    /// use std::time::Duration;
    ///
    /// let (three, ten) = (BootInstant::from_nanos(3), BootInstant::from_nanos(10));
    /// assert_eq!((ten.duration_since(three), three.duration_since(ten)), (Duration::from_nanos(7), Duration::ZERO));
    /// ```
    #[inline]
    pub const fn duration_since(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }

    /// The time since this instant, suspends included; zero if it is in the future.
    ///
    /// ```
    /// println!("{:?}", oversleep::BootInstant::now().elapsed());
    /// ```
    #[inline]
    pub fn elapsed(self) -> Duration {
        Self::now().duration_since(self)
    }

    /// This instant plus `duration`, or `None` beyond the end of the time line, after 584 years.
    ///
    /// ```
    /// use oversleep::BootInstant;
    /// use std::time::Duration;
    ///
    /// assert_eq!(BootInstant::from_nanos(u64::MAX).checked_add(Duration::from_nanos(1)), None);
    /// ```
    #[inline]
    pub fn checked_add(self, duration: Duration) -> Option<Self> {
        self.0.checked_add(u64::try_from(duration.as_nanos()).ok()?).map(Self)
    }

    /// This instant minus `duration`, or `None` before the time line's zero.
    ///
    /// ```
    /// use oversleep::BootInstant;
    /// use std::time::Duration;
    ///
    /// assert_eq!(BootInstant::from_nanos(1).checked_sub(Duration::from_nanos(2)), None);
    /// ```
    #[inline]
    pub fn checked_sub(self, duration: Duration) -> Option<Self> {
        self.0.checked_sub(u64::try_from(duration.as_nanos()).ok()?).map(Self)
    }

    /// Waits until this instant, and never ends early. Time that the machine is suspended counts; the wait doesn't wake
    /// the machine, and ends after it is resumed. Returns how late it ended.
    ///
    /// Cost: the operating system's wait, so it ends tens of microseconds late. For exact sleeps use
    /// [`sleep_until`](crate::sleep_until).
    ///
    /// ```
    /// use oversleep::BootInstant;
    /// use std::time::Duration;
    ///
    /// let deadline = BootInstant::now() + Duration::from_millis(2);
    /// let lateness = deadline.wait();
    /// assert!(BootInstant::now() >= deadline);
    /// println!("{lateness:?} late");
    /// ```
    pub fn wait(self) -> Duration {
        loop {
            let now = Self::now();
            if now >= self {
                return now.duration_since(self);
            }
            sys::wait_once_until_continuous(self.0);
        }
    }
}

super::instant::operators!(BootInstant);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_runs_with_the_other_line_and_waits_never_end_early() {
        let (start, start_ns) = (BootInstant::now(), sys::monotonic_ns());
        let deadline = start + Duration::from_millis(2);
        let lateness = deadline.wait();
        assert!(BootInstant::now() >= deadline && start.elapsed() >= Duration::from_millis(2) + lateness);
        // Whatever the machine did meanwhile, the continuous clock isn't slower than the monotonic one.
        let elapsed_ns = sys::monotonic_ns() - start_ns;
        assert!(start.elapsed().as_nanos() as u64 + 1_000_000 >= elapsed_ns);
        assert_eq!(BootInstant::from_nanos(9) - BootInstant::from_nanos(4), Duration::from_nanos(5));
    }

    #[test]
    fn a_past_instant_is_not_waited_for() {
        assert!(BootInstant::from_nanos(1).wait() > Duration::ZERO);
    }
}
