//! An idle strategy for workers: spin, then yield, then park.
//!
//! Parking is the risky step: a requested 1 µs takes 60 µs on one machine and 15.6 ms on another. So every park is
//! timed, and the measured duration decides whether to park again and for how long.

mod plan;
#[cfg(test)]
mod tests;

use std::time::Duration;

use crate::park::Parker;
use crate::time::{RealClock, TimeSource};
use plan::{Plan, Step};

/// How a [`Backoff`] behaves. Start from [`Limits::default`].
///
/// ```
/// use oversleep::backoff::Limits;
/// use std::time::Duration;
///
/// // To save power, this worker may be away for up to 5 ms at a time.
/// let patient = Limits { absence: Duration::from_millis(5), ..Limits::default() };
/// assert_eq!(patient.yields, 10);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How many idle turns spin before the first one yields.
    pub spins: u32,
    /// How many idle turns yield to other threads before the first one parks.
    pub yields: u32,
    /// The requested duration of the first park. It doubles with each further park.
    pub park: Duration,
    /// The longest that a park may take in total, including its lateness. If even the shortest park usually takes longer
    /// on this machine, the worker keeps yielding instead.
    pub absence: Duration,
}

impl Default for Limits {
    /// 100 spins, 10 yields, then parks that start at a requested 1 µs and take up to 1 ms in total.
    fn default() -> Self {
        Self { spins: 100, yields: 10, park: Duration::from_micros(1), absence: Duration::from_millis(1) }
    }
}

/// What one idle turn did.
///
/// ```
/// use oversleep::backoff::{Backoff, Idled};
///
/// assert_eq!(Backoff::new().idle(), Idled::Spun);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Idled {
    /// It executed the processor's pause hint, a few tens of nanoseconds.
    Spun,
    /// It yielded to another thread, if one was ready to run.
    Yielded,
    /// It parked the thread.
    Parked {
        /// The requested duration, in nanoseconds.
        requested_ns: u64,
        /// The duration, in nanoseconds; shorter than requested if another thread unparked this one.
        duration_ns: u64,
    },
}

/// An idle strategy that learns what parking costs on this machine.
///
/// Call [`idle`](Backoff::idle) in every turn that found no work, and [`reset`](Backoff::reset) in every turn that
/// found some. A park is a [`std::thread::park_timeout`], so a producer can end it at once by calling
/// [`unpark`](std::thread::Thread::unpark) on the worker's thread.
///
/// The cost of a park is the longest recent lateness, and it counts against [`Limits::absence`].
///
/// A park that exceeds that is taken for a disturbance if other parks were on time: the machine was throttled or suspended,
/// or ran another thread. The worker then parks on, because yielding would burn CPU time and bring nothing back, even if
/// most parks are late for ever. If parks exceed it from the first one on, or all do for a second in all (up to eight where
/// that was wrong before), the timer is coarse: the worker yields instead, except for probes that check whether this is
/// still true.
///
/// Probes come at intervals of up to 90 ms, so that parking begins again within 100 ms after a disturbance, however long
/// it was. On a tick they begin shortly before one, and take little longer than a park may. If late parks show no tick,
/// and none was on time for ten minutes, or 128 were late from the first one on, probes take about a hundredth of the time.
///
/// On Linux most of the cost is timer slack: hold [`TimerSlack`](crate::TimerSlack) in the worker to make parks cheaper.
///
/// ```
/// use oversleep::Backoff;
///
/// let mut queue = vec![1, 2, 3];
/// let mut backoff = Backoff::new();
/// let mut idle_turns = 0;
/// while idle_turns < 120 {
///     match queue.pop() {
///         Some(_) => backoff.reset(),
///         None => {
///             backoff.idle();
///             idle_turns += 1;
///         }
///     }
/// }
/// ```
#[derive(Clone, Debug)]
pub struct Backoff<T = RealClock> {
    limits: Limits,
    plan: Plan,
    time: T,
}

impl Default for Backoff {
    fn default() -> Self {
        Self::new()
    }
}

impl Backoff {
    /// A back-off with the default limits.
    ///
    /// ```
    /// let mut backoff = oversleep::Backoff::new();
    /// backoff.idle();
    /// ```
    pub fn new() -> Self {
        Self::with_limits(Limits::default())
    }

    /// A back-off with these limits.
    ///
    /// ```
    /// use oversleep::backoff::{Backoff, Idled, Limits};
    ///
    /// // Never spins, for a worker that shares its processor.
    /// let mut backoff = Backoff::with_limits(Limits { spins: 0, ..Limits::default() });
    /// assert_eq!(backoff.idle(), Idled::Yielded);
    /// ```
    pub fn with_limits(limits: Limits) -> Self {
        Self { limits, plan: Plan::default(), time: RealClock }
    }
}

impl<T: TimeSource> Backoff<T> {
    /// The same limits on this clock, with nothing learned yet. For tests in virtual time; see [`crate::time`].
    ///
    /// ```
    /// use oversleep::backoff::{Backoff, Idled, Limits};
    /// use oversleep::time::VirtualClock;
    ///
    /// let limits = Limits { spins: 0, yields: 0, ..Limits::default() };
    /// let mut backoff = Backoff::with_limits(limits).with_time(VirtualClock::new());
    /// assert_eq!(backoff.idle(), Idled::Parked { requested_ns: 1_000, duration_ns: 1_000 });
    /// ```
    pub fn with_time<U: TimeSource>(self, time: U) -> Backoff<U> {
        Backoff { limits: self.limits, plan: Plan::default(), time }
    }

    /// Call this after a turn that found work: the next idle turn spins again. What was learned about parking is kept.
    ///
    /// ```
    /// use oversleep::backoff::{Backoff, Idled};
    ///
    /// let mut backoff = Backoff::new();
    /// while backoff.idle() == Idled::Spun {}
    /// backoff.reset();
    /// assert_eq!(backoff.idle(), Idled::Spun);
    /// ```
    #[inline]
    pub fn reset(&mut self) {
        self.plan.turn = 0;
    }

    /// Call this after a turn that found no work: it waits briefly, and longer with each idle turn in a row.
    ///
    /// Cost: a pause hint, a yield, or a park and two clock reads.
    ///
    /// ```
    /// use oversleep::backoff::{Backoff, Idled};
    ///
    /// let mut backoff = Backoff::new();
    /// if let Idled::Parked { requested_ns, duration_ns } = backoff.idle() {
    ///     println!("parked for {duration_ns} ns, requested {requested_ns} ns");
    /// }
    /// ```
    #[inline]
    pub fn idle(&mut self) -> Idled {
        match self.plan.next(&self.limits, || self.time.now().as_nanos()) {
            Step::Spin => {
                self.time.relax();
                Idled::Spun
            }
            Step::Yield => {
                self.time.yield_now();
                Idled::Yielded
            }
            Step::Park(requested_ns) => self.park(requested_ns),
        }
    }

    /// Like [`idle`](Backoff::idle), but parks on this parker. Any thread with an [`Unparker`](crate::Unparker) of it
    /// can end the park, and needs no handle of the worker's thread.
    ///
    /// ```
    /// use oversleep::Parker;
    /// use oversleep::backoff::{Backoff, Idled, Limits};
    /// use std::time::Duration;
    ///
    /// let limits = Limits { spins: 0, yields: 0, park: Duration::from_millis(1), ..Limits::default() };
    /// let (mut backoff, parker) = (Backoff::with_limits(limits), Parker::new());
    /// parker.unparker().unpark(); // a producer has something
    /// let Idled::Parked { requested_ns, duration_ns } = backoff.idle_on(&parker) else { panic!("it parks") };
    /// assert_eq!(requested_ns, 1_000_000);
    /// # let _ = duration_ns;
    /// ```
    pub fn idle_on(&mut self, parker: &Parker<impl TimeSource>) -> Idled {
        match self.plan.next(&self.limits, || self.time.now().as_nanos()) {
            Step::Spin => {
                self.time.relax();
                Idled::Spun
            }
            Step::Yield => {
                self.time.yield_now();
                Idled::Yielded
            }
            Step::Park(requested_ns) => {
                let start = self.time.now();
                let is_unparked = parker.park_coarsely(Duration::from_nanos(requested_ns));
                let end_ns = self.time.now().as_nanos();
                let duration_ns = end_ns.saturating_sub(start.as_nanos());
                if !is_unparked {
                    self.plan.learn(&self.limits, requested_ns, duration_ns, end_ns);
                }
                Idled::Parked { requested_ns, duration_ns }
            }
        }
    }

    #[cold]
    fn park(&mut self, requested_ns: u64) -> Idled {
        let start = self.time.now();
        self.time.park_timeout(Duration::from_nanos(requested_ns));
        let end_ns = self.time.now().as_nanos();
        let duration_ns = end_ns.saturating_sub(start.as_nanos());
        self.plan.learn(&self.limits, requested_ns, duration_ns, end_ns);
        Idled::Parked { requested_ns, duration_ns }
    }

    /// How much longer than requested a park takes on this machine, apart from disturbances; `None` before the first.
    ///
    /// ```
    /// assert_eq!(oversleep::Backoff::new().park_lateness(), None);
    /// ```
    pub fn park_lateness(&self) -> Option<Duration> {
        self.plan.parks.lateness_ns().map(Duration::from_nanos)
    }
}
