//! Lateness, missed periods and CPU time, kept on request.

use std::fmt;
use std::time::Duration;

use crate::clock::Instant;
use crate::sleep::{Sleeper, Slept};
use crate::sys;
use crate::time::TimeSource;

/// Buckets per octave, so that a quantile exceeds the lateness it stands for by at most 1/16.
const STEPS: usize = 16;
/// Below 2^4 ns each nanosecond has its own bucket; all values from 2^40 ns (18 minutes) on share one.
const OCTAVES: usize = 36;
const BUCKETS: usize = STEPS + OCTAVES * STEPS;

/// How late the sleeps of a [`Sleeper`] or the periods of a [`Pacer`](crate::Pacer) were, and what that
/// cost.
///
/// ```
/// use oversleep::Pacer;
/// use std::time::Duration;
///
/// let mut pacer = Pacer::per_second(2_000).with_statistics();
/// for _ in 0..5 {
///     pacer.wait();
/// }
/// let statistics = pacer.statistics().unwrap();
/// println!("p99 {:?}, {} missed, {:?} spun", statistics.quantile(0.99), statistics.missed(), statistics.spun());
/// assert_eq!((statistics.count(), statistics.missed()), (5, pacer.missed()));
/// ```
#[derive(Clone)]
pub struct Statistics {
    counts: [u64; BUCKETS],
    count: u64,
    sum_ns: u128,
    min_ns: u64,
    max_ns: u64,
    missed: u64,
    spun_ns: u64,
    cpu_ns: Option<u64>,
}

impl Default for Statistics {
    fn default() -> Self {
        Self::new()
    }
}

impl Statistics {
    /// Empty statistics. They take 5 KB.
    ///
    /// ```
    /// assert_eq!(oversleep::Statistics::new().quantile(0.5), None);
    /// ```
    pub const fn new() -> Self {
        Self {
            counts: [0; BUCKETS],
            count: 0,
            sum_ns: 0,
            min_ns: u64::MAX,
            max_ns: 0,
            missed: 0,
            spun_ns: 0,
            cpu_ns: None,
        }
    }

    /// Adds a sleep.
    ///
    /// ```
    /// use oversleep::{Sleeper, Statistics};
    /// use std::time::Duration;
    ///
    /// let (mut sleeper, mut statistics) = (Sleeper::new(), Statistics::new());
    /// statistics.record(&sleeper.sleep(Duration::from_micros(100)));
    /// assert_eq!(statistics.count(), 1);
    /// ```
    pub fn record(&mut self, slept: &Slept) {
        self.spun_ns = self.spun_ns.saturating_add(slept.spun_ns);
        self.add_lateness(slept.lateness_ns);
    }

    /// Sleeps until `deadline` with this sleeper, and adds the sleep and its CPU time.
    ///
    /// Cost: two reads of the thread's CPU time, about 0.2 µs each, the second one after the sleep has ended.
    ///
    /// ```
    /// use oversleep::{Instant, Sleeper, Statistics};
    /// use std::time::Duration;
    ///
    /// let (mut sleeper, mut statistics) = (Sleeper::new(), Statistics::new());
    /// for _ in 0..3 {
    ///     statistics.sleep_until(&mut sleeper, Instant::now() + Duration::from_micros(300));
    /// }
    /// println!("p99 {:?}, {:?} of CPU time", statistics.quantile(0.99), statistics.cpu());
    /// assert_eq!(statistics.count(), 3);
    /// ```
    pub fn sleep_until(&mut self, sleeper: &mut Sleeper<impl TimeSource>, deadline: Instant) -> Slept {
        let slept = self.timed(|| sleeper.sleep_until(deadline));
        self.record(&slept);
        slept
    }

    pub(crate) fn add_lateness(&mut self, lateness_ns: u64) {
        self.counts[bucket(lateness_ns)] += 1;
        self.count += 1;
        self.sum_ns += u128::from(lateness_ns);
        self.min_ns = self.min_ns.min(lateness_ns);
        self.max_ns = self.max_ns.max(lateness_ns);
    }

    pub(crate) fn add_missed(&mut self, missed: u64) {
        self.missed = self.missed.saturating_add(missed);
    }

    pub(crate) fn add_spun_ns(&mut self, spun_ns: u64) {
        self.spun_ns = self.spun_ns.saturating_add(spun_ns);
    }

    /// Runs `wait` and adds the CPU time that this thread used meanwhile, if the system reports it.
    pub(crate) fn timed<T>(&mut self, wait: impl FnOnce() -> T) -> T {
        let before = sys::thread_cpu_ns();
        let value = wait();
        if let (Some(before), Some(after)) = (before, sys::thread_cpu_ns()) {
            self.cpu_ns = Some(self.cpu_ns.unwrap_or(0).saturating_add(after.saturating_sub(before)));
        }
        value
    }

    /// How many sleeps or periods were recorded.
    ///
    /// ```
    /// assert_eq!(oversleep::Statistics::new().count(), 0);
    /// ```
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The lateness that this share of all values didn't exceed (`0.5` for the median), rounded up by a sixteenth at
    /// most; `None` without any.
    ///
    /// ```
    /// assert_eq!(oversleep::Statistics::new().quantile(0.99), None);
    /// ```
    pub fn quantile(&self, share: f64) -> Option<Duration> {
        let rank = ((self.count as f64 * share).ceil() as u64).clamp(1, self.count.max(1));
        let mut seen = 0;
        let index = self.counts.iter().position(|&count| {
            seen += count;
            seen >= rank
        })?;
        Some(Duration::from_nanos(upper_ns(index).clamp(self.min_ns, self.max_ns)))
    }

    /// The smallest lateness, exactly; `None` without any.
    ///
    /// ```
    /// assert_eq!(oversleep::Statistics::new().min(), None);
    /// ```
    pub fn min(&self) -> Option<Duration> {
        (self.count > 0).then(|| Duration::from_nanos(self.min_ns))
    }

    /// The largest lateness, exactly; `None` without any.
    ///
    /// ```
    /// assert_eq!(oversleep::Statistics::new().max(), None);
    /// ```
    pub fn max(&self) -> Option<Duration> {
        (self.count > 0).then(|| Duration::from_nanos(self.max_ns))
    }

    /// The mean lateness; `None` without any.
    ///
    /// ```
    /// assert_eq!(oversleep::Statistics::new().mean(), None);
    /// ```
    pub fn mean(&self) -> Option<Duration> {
        let mean_ns = self.sum_ns.checked_div(u128::from(self.count))?;
        Some(Duration::from_nanos(u64::try_from(mean_ns).unwrap_or(u64::MAX)))
    }

    /// How many periods were skipped.
    ///
    /// ```
    /// assert_eq!(oversleep::Statistics::new().missed(), 0);
    /// ```
    pub fn missed(&self) -> u64 {
        self.missed
    }

    /// How long the sleeps spun in total.
    ///
    /// ```
    /// assert!(oversleep::Statistics::new().spun().is_zero());
    /// ```
    pub fn spun(&self) -> Duration {
        Duration::from_nanos(self.spun_ns)
    }

    /// The CPU time of the thread while it waited, spinning included; `None` if nothing was timed: before the first
    /// wait, and on systems that don't report it.
    ///
    /// ```
    /// assert_eq!(oversleep::Statistics::new().cpu(), None);
    /// ```
    pub fn cpu(&self) -> Option<Duration> {
        self.cpu_ns.map(Duration::from_nanos)
    }
}

impl fmt::Debug for Statistics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Statistics")
            .field("count", &self.count)
            .field("min", &self.min())
            .field("p50", &self.quantile(0.5))
            .field("p99", &self.quantile(0.99))
            .field("max", &self.max())
            .field("missed", &self.missed)
            .field("spun", &self.spun())
            .field("cpu", &self.cpu())
            .finish()
    }
}

fn bucket(ns: u64) -> usize {
    if ns < STEPS as u64 {
        return ns as usize;
    }
    let octave = ns.ilog2();
    let within = (ns >> (octave - STEPS.ilog2())) as usize % STEPS;
    (STEPS + (octave - STEPS.ilog2()) as usize * STEPS + within).min(BUCKETS - 1)
}

/// The largest value of a bucket.
fn upper_ns(bucket: usize) -> u64 {
    if bucket < STEPS {
        return bucket as u64;
    }
    if bucket == BUCKETS - 1 {
        return u64::MAX;
    }
    let (octave, within) = (bucket / STEPS - 1, bucket % STEPS);
    (((STEPS + within + 1) as u64) << octave) - 1
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(values: &[u64]) -> Statistics {
        let mut statistics = Statistics::new();
        values.iter().for_each(|&ns| statistics.add_lateness(ns));
        statistics
    }

    #[test]
    fn quantiles_of_a_known_distribution() {
        let statistics = of(&(1..=1_000).map(|us| us * 1_000).collect::<Vec<_>>());
        let quantile_us = |share| statistics.quantile(share).unwrap().as_micros();
        assert!((500..=531).contains(&quantile_us(0.5)) && (990..=1_000).contains(&quantile_us(0.99)));
        assert_eq!((quantile_us(0.0), quantile_us(1.0)), (1, 1_000));
        assert_eq!(statistics.mean(), Some(Duration::from_nanos(500_500)));
        assert_eq!((statistics.min().unwrap().as_micros(), statistics.max().unwrap().as_micros()), (1, 1_000));
    }

    #[test]
    fn absurd_lateness_is_kept() {
        let statistics = of(&[0, u64::MAX]);
        assert_eq!(statistics.quantile(0.5), Some(Duration::ZERO));
        assert_eq!(statistics.quantile(1.0), Some(Duration::from_nanos(u64::MAX)));
        assert_eq!(statistics.quantile(f64::NAN), Some(Duration::ZERO));
    }

    proptest! {
        #[test]
        fn a_bucket_holds_what_falls_into_it(ns in 0_u64..1 << 39) {
            let upper_ns = upper_ns(bucket(ns));
            prop_assert!(upper_ns >= ns && upper_ns - ns <= ns / 16);
            prop_assert!(bucket(upper_ns) == bucket(ns) && bucket(upper_ns + 1) > bucket(ns));
        }
    }
}
