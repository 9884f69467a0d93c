//! Conversions between [`Instant`] and the standard library's points in time, with the measured error.

use std::time::{Duration, Instant as StdInstant, SystemTime};

use crate::clock::{Clock, Instant};

/// How often a bridge reads both clocks. The closest readings count.
const TRIES: u32 = 16;

/// A converted point in time.
///
/// ```
/// let converted = oversleep::Instant::now().to_std().unwrap();
/// println!("{:?}, right to {:?}", converted.value, converted.error);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Converted<T> {
    /// The point in time on the other clock.
    pub value: T,
    /// The largest possible error of the value, either way: half of the time between the closest readings of both
    /// clocks. The drift of the clocks between now and the converted point isn't part of it.
    pub error: Duration,
}

/// A clock that an [`Instant`] can be converted to: [`std::time::Instant`] and [`SystemTime`].
///
/// ```
/// fn is_bridged<T: oversleep::convert::Bridged>() {}
/// is_bridged::<std::time::SystemTime>();
/// ```
pub trait Bridged: Copy + sealed::Sealed {}

mod sealed {
    use std::time::Duration;

    pub trait Sealed: Sized {
        fn now() -> Self;
        fn after(self, duration: Duration) -> Option<Self>;
        fn before(self, duration: Duration) -> Option<Self>;
        /// From `earlier` to `self`, or the other way round.
        fn since(self, earlier: Self) -> Result<Duration, Duration>;
    }
}

impl Bridged for StdInstant {}
impl sealed::Sealed for StdInstant {
    fn now() -> Self {
        Self::now()
    }
    fn after(self, duration: Duration) -> Option<Self> {
        self.checked_add(duration)
    }
    fn before(self, duration: Duration) -> Option<Self> {
        self.checked_sub(duration)
    }
    fn since(self, earlier: Self) -> Result<Duration, Duration> {
        self.checked_duration_since(earlier).ok_or_else(|| earlier.duration_since(self))
    }
}

impl Bridged for SystemTime {}
impl sealed::Sealed for SystemTime {
    fn now() -> Self {
        Self::now()
    }
    fn after(self, duration: Duration) -> Option<Self> {
        self.checked_add(duration)
    }
    fn before(self, duration: Duration) -> Option<Self> {
        self.checked_sub(duration)
    }
    fn since(self, earlier: Self) -> Result<Duration, Duration> {
        self.duration_since(earlier).map_err(|error| error.duration())
    }
}

/// The same moment on two clocks. Measure it once to convert many points in time.
///
/// A bridge to [`SystemTime`] holds until someone sets the time of day, so measure it again from time to time. A bridge
/// to [`std::time::Instant`] holds for as long as the library's clock agrees with the operating system's.
///
/// ```
/// use oversleep::{Bridge, Instant};
/// use std::time::SystemTime;
///
/// let bridge = Bridge::<SystemTime>::measure();
/// let start = Instant::now();
/// println!("{:?}, right to {:?}", bridge.from_instant(start), bridge.error());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bridge<T> {
    here: Instant,
    there: T,
    error: Duration,
}

impl<T: Bridged> Bridge<T> {
    /// Reads both clocks, the other one between two ordered reads of this one, and keeps the closest readings.
    ///
    /// Cost: about 1 µs.
    ///
    /// ```
    /// println!("{:?}", oversleep::Bridge::<std::time::Instant>::measure().error());
    /// ```
    pub fn measure() -> Self {
        let mut best = Self::once();
        for _ in 1..TRIES {
            let next = Self::once();
            if next.error < best.error {
                best = next;
            }
        }
        best
    }

    fn once() -> Self {
        let before = Clock::now_ordered();
        let there = T::now();
        let width_ns = Clock::now_ordered().as_nanos().saturating_sub(before.as_nanos());
        let here = Instant::from_nanos(before.as_nanos() + width_ns / 2);
        Self { here, there, error: Duration::from_nanos(width_ns.div_ceil(2)) }
    }

    /// The largest possible error of a converted point, either way.
    ///
    /// ```
    /// assert!(oversleep::Bridge::<std::time::SystemTime>::measure().error() < std::time::Duration::from_secs(1));
    /// ```
    pub fn error(&self) -> Duration {
        self.error
    }

    /// The other clock's time at this instant; `None` if that clock can't represent it.
    ///
    /// ```
    /// use oversleep::{Bridge, Instant};
    ///
    /// let bridge = Bridge::<std::time::Instant>::measure();
    /// assert!(bridge.from_instant(Instant::now()).is_some());
    /// ```
    #[allow(clippy::wrong_self_convention, reason = "both directions go through the bridge")]
    pub fn from_instant(&self, instant: Instant) -> Option<T> {
        match instant.checked_duration_since(self.here) {
            Some(ahead) => self.there.after(ahead),
            None => self.there.before(self.here.duration_since(instant)),
        }
    }

    /// The instant at this time of the other clock; `None` outside the time line.
    ///
    /// ```
    /// use oversleep::Bridge;
    ///
    /// let bridge = Bridge::<std::time::SystemTime>::measure();
    /// assert_eq!(bridge.to_instant(std::time::UNIX_EPOCH), None);
    /// ```
    pub fn to_instant(&self, time: T) -> Option<Instant> {
        match time.since(self.there) {
            Ok(ahead) => self.here.checked_add(ahead),
            Err(behind) => self.here.checked_sub(behind),
        }
    }
}

fn converted<T>(value: Option<T>, error: Duration) -> Option<Converted<T>> {
    value.map(|value| Converted { value, error })
}

impl Instant {
    /// This instant on the standard library's clock; `None` if that can't represent it.
    ///
    /// Cost: a [`Bridge::measure`].
    ///
    /// ```
    /// let converted = oversleep::Instant::now().to_std().unwrap();
    /// assert!(converted.value.elapsed() < std::time::Duration::from_secs(60));
    /// ```
    pub fn to_std(self) -> Option<Converted<StdInstant>> {
        let bridge = Bridge::measure();
        converted(bridge.from_instant(self), bridge.error)
    }

    /// The instant of a standard one; `None` outside the time line.
    ///
    /// Cost: a [`Bridge::measure`].
    ///
    /// ```
    /// let deadline = oversleep::Instant::from_std(std::time::Instant::now()).unwrap();
    /// println!("{:?}, right to {:?}", deadline.value, deadline.error);
    /// ```
    pub fn from_std(instant: StdInstant) -> Option<Converted<Self>> {
        let bridge = Bridge::measure();
        converted(bridge.to_instant(instant), bridge.error)
    }

    /// The time of day at this instant, as it is set now; `None` if the system can't represent it.
    ///
    /// Cost: a [`Bridge::measure`].
    ///
    /// ```
    /// println!("{:?}", oversleep::Instant::now().to_system().unwrap().value);
    /// ```
    pub fn to_system(self) -> Option<Converted<SystemTime>> {
        let bridge = Bridge::measure();
        converted(bridge.from_instant(self), bridge.error)
    }

    /// The instant of a time of day, as it is set now; `None` outside the time line, for example before boot.
    ///
    /// Cost: a [`Bridge::measure`].
    ///
    /// ```
    /// let alarm = std::time::SystemTime::now() + std::time::Duration::from_secs(1);
    /// assert!(oversleep::Instant::from_system(alarm).unwrap().value > oversleep::Instant::now());
    /// ```
    pub fn from_system(time: SystemTime) -> Option<Converted<Self>> {
        let bridge = Bridge::measure();
        converted(bridge.to_instant(time), bridge.error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: Duration = Duration::from_secs(1);

    /// A bridge with given readings, so that the figures are exact.
    fn bridge() -> Bridge<SystemTime> {
        let there = SystemTime::UNIX_EPOCH + 100 * S;
        Bridge { here: Instant::from_nanos(50_000_000_000), there, error: Duration::from_nanos(7) }
    }

    #[test]
    fn both_directions_agree() {
        let bridge = bridge();
        // A SystemTime of Windows is a multiple of 100 ns.
        for ns in [0, 49_999_999_900, 50_000_000_000, 50_000_000_100, 3_600_000_000_000] {
            let there = bridge.from_instant(Instant::from_nanos(ns)).unwrap();
            assert_eq!(bridge.to_instant(there), Some(Instant::from_nanos(ns)));
        }
        assert_eq!(bridge.from_instant(Instant::from_nanos(0)), Some(SystemTime::UNIX_EPOCH + 50 * S));
    }

    #[test]
    fn what_lies_outside_a_time_line_is_none() {
        let bridge = bridge();
        assert_eq!(bridge.to_instant(SystemTime::UNIX_EPOCH + 49 * S), None, "before the time line's zero");
        let end = SystemTime::UNIX_EPOCH.checked_add(Duration::from_nanos(u64::MAX));
        assert_eq!(end.and_then(|end| bridge.to_instant(end + 100 * S)), None);
    }

    #[test]
    fn a_measured_bridge_lies_between_the_readings_around_it() {
        let before = (StdInstant::now(), Clock::now_ordered());
        let bridge = Bridge::<StdInstant>::measure();
        let after = (StdInstant::now(), Clock::now_ordered());
        assert!(bridge.here >= before.1 && bridge.here <= after.1);
        assert!(bridge.there >= before.0 && bridge.there <= after.0);
        // The converted instants lie between the same readings, within the stated error and the difference of the clocks.
        let earliest = bridge.to_instant(before.0).unwrap();
        assert!(earliest <= bridge.here && bridge.to_instant(after.0).unwrap() >= bridge.here);
    }
}
