//! An idle strategy for workers: spin, then yield, then park.
//!
//! Parking is the risky step: a requested 1 µs takes 60 µs on one machine and 15.6 ms on another. So every park is
//! timed, and the measured duration decides whether to park again and for how long.

use std::thread;
use std::time::Duration;

use crate::clock::Clock;

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
    /// The requested duration of the first park. Each further request is twice as long.
    pub park: Duration,
    /// How long a park may take in total, including its lateness. If even the shortest park takes longer on this
    /// machine, the worker keeps yielding instead.
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
/// The cost of a park is the longest recent lateness, and it counts against [`Limits::absence`]. If even the first park
/// would exceed that, the worker doesn't park, except to check now and then whether this still holds: so seldom that these
/// parks take at most a hundredth of the time. On Linux most of the cost is timer slack: hold
/// [`TimerSlack`](crate::TimerSlack) in the worker to make parks cheaper.
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
pub struct Backoff {
    limits: Limits,
    plan: Plan,
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
        Self { limits, plan: Plan::default() }
    }

    /// Call this when there was work: the next idle turn spins again. What was learned about parking is kept.
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

    /// Call this when there was no work: it waits briefly, and longer with each idle turn in a row.
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
        match self.plan.next(&self.limits) {
            Step::Spin => {
                std::hint::spin_loop();
                Idled::Spun
            }
            Step::Yield => {
                thread::yield_now();
                Idled::Yielded
            }
            Step::Park(requested_ns) => self.park(requested_ns),
        }
    }

    #[cold]
    fn park(&mut self, requested_ns: u64) -> Idled {
        let start = Clock::now();
        thread::park_timeout(Duration::from_nanos(requested_ns));
        let duration_ns = Clock::now().as_nanos().saturating_sub(start.as_nanos());
        self.plan.learn(requested_ns, duration_ns);
        Idled::Parked { requested_ns, duration_ns }
    }

    /// How much longer than requested a park takes on this machine; `None` before the first.
    ///
    /// ```
    /// assert_eq!(oversleep::Backoff::new().park_lateness(), None);
    /// ```
    pub fn park_lateness(&self) -> Option<Duration> {
        self.plan.lateness_ns.map(Duration::from_nanos)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Spin,
    Yield,
    Park(u64),
}

/// Decides the next step. Pure, so that the tests take no time.
#[derive(Clone, Debug, Default)]
struct Plan {
    /// Idle turns in a row.
    turn: u32,
    /// Idle turns that would have parked if parking weren't too expensive.
    refused: u64,
    lateness_ns: Option<u64>,
}

impl Plan {
    const PROBE_EVERY: u64 = 1_024;
    /// A yield that nobody takes up takes half a microsecond, so a park that costs this many ns per turn takes a hundredth
    /// of the time.
    const PROBE_NS_PER_TURN: u64 = 5;

    fn next(&mut self, limits: &Limits) -> Step {
        let turn = self.turn;
        self.turn = turn.saturating_add(1);
        let Some(turn) = turn.checked_sub(limits.spins) else { return Step::Spin };
        let Some(turn) = turn.checked_sub(limits.yields) else { return Step::Yield };
        let first_ns = nanos(limits.park).max(1);
        let affordable_ns = nanos(limits.absence).saturating_sub(self.lateness_ns.unwrap_or(0));
        if affordable_ns < first_ns {
            self.refused += 1;
            let probe_every = Self::PROBE_EVERY.max(self.lateness_ns.unwrap_or(0) / Self::PROBE_NS_PER_TURN);
            if self.refused < probe_every {
                return Step::Yield;
            }
            self.refused = 0;
            return Step::Park(first_ns.min(nanos(limits.absence)).max(1));
        }
        let doubled_ns = first_ns.checked_shl(turn).filter(|ns| ns >> turn == first_ns).unwrap_or(u64::MAX);
        Step::Park(doubled_ns.min(affordable_ns))
    }

    fn learn(&mut self, requested_ns: u64, duration_ns: u64) {
        // A park that ended early was unparked, so it says nothing about lateness.
        let Some(lateness_ns) = duration_ns.checked_sub(requested_ns) else { return };
        // The longest lateness decays by an eighth per park, so that one stall doesn't end parking for good.
        let remembered_ns = self.lateness_ns.map_or(0, |ns| ns - ns / 8);
        self.lateness_ns = Some(lateness_ns.max(remembered_ns));
    }
}

fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits =
        Limits { spins: 2, yields: 1, park: Duration::from_micros(1), absence: Duration::from_millis(1) };

    fn steps(plan: &mut Plan, limits: &Limits, n: usize) -> Vec<Step> {
        (0..n).map(|_| plan.next(limits)).collect()
    }

    #[test]
    fn spins_then_yields_then_parks_longer_and_longer() {
        use Step::{Park, Spin, Yield};
        let mut plan = Plan::default();
        assert_eq!(steps(&mut plan, &LIMITS, 6), [Spin, Spin, Yield, Park(1_000), Park(2_000), Park(4_000)]);
        assert_eq!(*steps(&mut plan, &LIMITS, 100).last().unwrap(), Park(1_000_000));
        plan.turn = 0;
        assert_eq!(plan.next(&LIMITS), Spin);
    }

    #[test]
    fn a_park_never_takes_longer_than_the_absence() {
        let mut plan = Plan { turn: 40, ..Plan::default() };
        plan.learn(1_000, 61_000);
        assert_eq!(plan.next(&LIMITS), Step::Park(940_000));
    }

    #[test]
    fn a_coarse_tick_ends_parking_except_for_probes() {
        let mut plan = Plan { turn: 3, ..Plan::default() };
        plan.learn(1_000, 1_001_000);
        let steps = steps(&mut plan, &LIMITS, 2 * 200_000);
        let parks: Vec<_> = steps.iter().filter(|&&step| step != Step::Yield).collect();
        assert_eq!(parks, [&Step::Park(1_000), &Step::Park(1_000)]);
        // The tick has become finer, and the next probes find out.
        for _ in 0..40 {
            plan.learn(1_000, 60_000);
        }
        assert!(matches!(plan.next(&LIMITS), Step::Park(ns) if ns > 900_000));
    }

    #[test]
    fn probes_take_a_hundredth_of_the_time_at_most() {
        // A yield that nobody takes up returns in half a microsecond.
        let mut plan = Plan { turn: 3, ..Plan::default() };
        plan.learn(1_000, 15_626_000);
        let (mut yielding_ns, mut parking_ns) = (0, 0);
        while yielding_ns < 20_000_000_000_u64 {
            match plan.next(&LIMITS) {
                Step::Park(requested_ns) => {
                    parking_ns += 15_625_000 + requested_ns;
                    plan.learn(requested_ns, 15_625_000 + requested_ns);
                }
                _ => yielding_ns += 500,
            }
        }
        assert!(parking_ns > 0 && parking_ns * 100 <= yielding_ns, "{parking_ns} ns of {yielding_ns}");
    }

    #[test]
    fn an_unparked_park_teaches_nothing() {
        let mut plan = Plan::default();
        plan.learn(1_000, 200);
        assert_eq!(plan.lateness_ns, None);
    }

    #[test]
    fn a_park_is_timed() {
        let mut backoff = Backoff::with_limits(Limits { spins: 0, yields: 0, ..LIMITS });
        assert_eq!(backoff.park_lateness(), None);
        let Idled::Parked { requested_ns: 1_000, duration_ns } = backoff.idle() else { panic!("it parks") };
        assert_eq!(backoff.park_lateness(), duration_ns.checked_sub(1_000).map(Duration::from_nanos));
    }

    #[test]
    fn absurd_limits_hold() {
        let limits = Limits { spins: 0, yields: 0, park: Duration::MAX, absence: Duration::ZERO };
        let mut plan = Plan::default();
        assert_eq!(plan.next(&limits), Step::Yield);
        // The probe is no longer than the worker may be away.
        let parks = (0..2_000).map(|_| plan.next(&limits)).filter(|step| *step != Step::Yield).collect::<Vec<_>>();
        assert_eq!(parks, [Step::Park(1)]);
        let limits = Limits { park: Duration::ZERO, absence: Duration::MAX, ..limits };
        let mut plan = Plan::default();
        assert_eq!(plan.next(&limits), Step::Park(1));
        plan.turn = u32::MAX;
        assert_eq!(plan.next(&limits), Step::Park(u64::MAX));
    }
}
