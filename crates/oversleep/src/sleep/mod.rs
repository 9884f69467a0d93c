//! Sleeps that end on time: the operating system waits until shortly before the deadline, and a short spin does the
//! rest.
//!
//! The [`Sleeper`] is here. `algorithm` learns how late waits end and decides when to wait, `waiting` makes the operating
//! system's waits, and `shared` keeps what threads without a sleeper of their own have learned.

mod real_clock;
mod shared;
mod slept;
mod waiting;

use std::num::NonZeroU32;
use std::time::Duration;

use crate::algorithm::{Objective, Plan};
use crate::clock::Instant;
use crate::time::{RealClock, TimeSource};
use waiting::start;

pub use slept::{Slept, Waited};

/// Sleeps for at least `duration`, and as little longer as this machine allows.
///
/// See [`sleep_until`] for guarantees and costs.
///
/// ```
/// use oversleep::Instant;
/// use std::time::Duration;
///
/// let start = Instant::now();
/// oversleep::sleep(Duration::from_micros(300));
/// assert!(start.elapsed() >= Duration::from_micros(300));
/// ```
pub fn sleep(duration: Duration) {
    sleep_until(start().saturating_add(duration));
}

/// Sleeps until `deadline`: never ends before it, and as little after it as this machine allows. Signals don't end the
/// sleep.
///
/// It sleeps as a [`Sleeper`] with the default objective does, which documents the costs. What it learns is kept for the
/// whole process in 16 places: each thread gets one when it first sleeps, and shares it if there are more threads. A
/// thread that never sleeps pays one byte of thread-local storage. Nothing is allocated (but on macOS, a lock when a place
/// is first used), so signal handlers may call it, even during a sleep of the thread that they interrupt, and so may
/// children created by `fork`.
///
/// ```
/// use oversleep::Instant;
/// use std::time::Duration;
///
/// let deadline = Instant::now() + Duration::from_micros(300);
/// oversleep::sleep_until(deadline);
/// assert!(Instant::now() >= deadline);
/// ```
pub fn sleep_until(deadline: Instant) {
    waiting::sleep_until(&mut shared::Place::of_this_thread(), deadline, Objective::DEFAULT);
}

/// Sleeps until deadlines, and learns from each sleep how late this machine wakes a thread and what a wait costs.
///
/// # Guarantees
///
/// * No sleep ends early, neither by [`Clock`](crate::Clock) nor by the operating system's monotonic clock.
/// * No sleep spins longer than its budget: 600 µs unless [`with_budget`](Sleeper::with_budget) changes it. With a budget
///   of zero, a sleep is one wait by the operating system and nothing else. (A sandbox may refuse every wait; see below.)
/// * After a sleep the thread has the settings it had before, even if a panic unwinds.
///
/// # CPU time
///
/// A wait by the operating system ends late, and it costs CPU time itself: 8 µs on one machine, 18 to 32 µs on another.
/// So the sleeper measures both, and does what is expected to cost least:
///
/// * to spin until the deadline, if little is left,
/// * to wait until shortly before the deadline and spin for the rest,
/// * or to wait once or twice more in between, where short waits end more exactly and cost little. These are called
///   *approaches*.
///
/// Who takes a precise sleep means the worst of a hundred, so the default aims at that one: at most one sleep in 100 is to
/// end late, where that takes no more CPU time than a fixed margin of 125 µs would, as spin_sleep has it, of which the
/// thread's timer slack uses up a part (50 µs on Linux by default). Where it would take more, the sleeper spends nearly as
/// much, and ends as few sleeps late as that buys. Where it takes less, the rest is saved, unless one sleep in 300 or more
/// is late all the same: then the margin is that fixed one without that part, or as much of it as this CPU time buys.
/// A fixed margin that itself ends more than half of the sleeps late, as on a coarse grid, sets no limit.
/// [`Statistics`](crate::Statistics) say what was reached.
///
/// [`with_quantile`](Sleeper::with_quantile) changes the aim. [`precise`](Sleeper::precise), [`thrifty`](Sleeper::thrifty)
/// and [`with_price`](Sleeper::with_price) give lateness a *price* in CPU time instead, whatever that costs: a microsecond
/// of it is worth as many microseconds of CPU time, and beyond the first 50 µs, ten times as many.
///
/// * **Quiet and slow phases**: a wait ends most often as the one before it did, punctual or slow, so the two kinds have
///   margins of their own. After a pause of 17 ms, a sleep has the margin of the slow ones.
/// * **Coarse timers**: on a grid of half a millisecond, as Windows has, nine of ten sleeps of a millisecond end on time,
///   and spin for a fifth of a millisecond on average. A lateness beyond the budget, as with a tick of 15.6 ms, is accepted;
///   sleeps shorter than the budget are then spun.
/// * **Oversubscription**: a wake-up that is late because another thread has the processor doesn't move the margin, since
///   an earlier request would not have helped. Instead, for the next 512 sleeps the thread is given short time slices
///   while it waits (see below), and for up to 8,192 if that happens again soon after. Where slices don't prevent such
///   stalls, which then come from the host, they are seldom tried again. Where they prevented them twice in a row, other
///   threads do want the processor: then a price of 30 takes the place of the quantile, as no margin covers their slices.
/// * **Sandboxes**: if every wait is refused (on Linux both `clock_nanosleep` and `ppoll`), the thread yields in a loop.
///   Sleeps still end on time, but use all the CPU time that nobody else wants.
///
/// # What a sleep sets
///
/// These are set during the waits and restored afterwards. [`Slept`] says whether they were.
///
/// * **Timer slack** (Linux): 1 ns. That takes three `prctl` calls of about 0.1 µs each: one reads the slack, and a
///   pair changes and restores it. If the slack is 1 ns already there is only the first, and in a thread that holds a
///   [`TimerSlack`](crate::TimerSlack) of 1 ns there is none. If it is forbidden, the margin covers the slack.
/// * **Time slice** (Linux 6.12): 100 µs, but only after a stall, that is, after a wait that ended more than 150 µs
///   late, and twice as late as three in four do, or where more than one sleep in 300 is late without one (with other
///   quantiles, a third of what may be late) and a fixed margin would leave less than one in 20 late. The scheduler
///   then lets the thread run earlier, and not for longer: see [`TimeSlice`](crate::TimeSlice) for what it costs
///   others. That takes 2 to 4 µs per sleep, so hold a [`TimeSlice`](crate::TimeSlice) in a thread that only waits and
///   works briefly.
///
/// A signal handler that jumps out of a sleep (`siglongjmp`) leaves them as they are.
///
/// # Memory and threads
///
/// A sleeper learns best if one thread uses it for one kind of sleep. It takes about 6 KiB and never allocates.
///
/// ```
/// use oversleep::{Instant, Sleeper};
/// use std::time::Duration;
///
/// let mut sleeper = Sleeper::new();
/// let slept = sleeper.sleep_until(Instant::now() + Duration::from_micros(500));
/// println!("{} ns late after spinning for {} ns", slept.lateness_ns, slept.spun_ns);
/// ```
#[derive(Clone, Debug)]
pub struct Sleeper<T = RealClock> {
    plan: Plan,
    objective: Objective,
    time: T,
}

impl Default for Sleeper {
    fn default() -> Self {
        Self::new()
    }
}

impl Sleeper {
    /// The default budget: the longest that a sleep may spin.
    ///
    /// ```
    /// assert_eq!(oversleep::Sleeper::DEFAULT_BUDGET, std::time::Duration::from_micros(600));
    /// ```
    pub const DEFAULT_BUDGET: Duration = Duration::from_nanos(Objective::DEFAULT.budget_ns);

    /// The default share of sleeps that are to end on time.
    ///
    /// ```
    /// assert_eq!(oversleep::Sleeper::DEFAULT_QUANTILE, 0.99);
    /// ```
    pub const DEFAULT_QUANTILE: f64 = 0.99;

    /// A sleeper that has learned nothing yet.
    ///
    /// ```
    /// // It can be made in a constant, and never allocates.
    /// let mut sleeper = oversleep::Sleeper::new();
    /// sleeper.sleep(std::time::Duration::from_micros(50));
    /// ```
    pub const fn new() -> Self {
        Self::with(Objective::DEFAULT)
    }

    const fn with(objective: Objective) -> Self {
        Self { plan: Plan::new(), objective, time: RealClock }
    }

    /// A sleeper whose sleeps are rarely late, whatever that costs: a price of 200, so one sleep in 201 is.
    ///
    /// ```
    /// oversleep::Sleeper::precise().sleep(std::time::Duration::from_micros(300));
    /// ```
    pub const fn precise() -> Self {
        Self::with(Objective::of_price(200))
    }

    /// A sleeper that saves CPU time: a price of 0, so it spins only where this machine was never late by less.
    /// Nearly all of its sleeps end late, but less late than plain ones.
    ///
    /// ```
    /// oversleep::Sleeper::thrifty().sleep(std::time::Duration::from_micros(300));
    /// ```
    pub const fn thrifty() -> Self {
        Self::with(Objective::of_price(0))
    }
}

impl<T: TimeSource> Sleeper<T> {
    /// The same aim and budget on this clock, with nothing learned yet. For tests in virtual time; see [`crate::time`].
    ///
    /// ```
    /// use oversleep::Sleeper;
    /// use oversleep::time::VirtualClock;
    /// use std::time::Duration;
    ///
    /// let time = VirtualClock::new();
    /// time.set_lateness(Duration::from_millis(15));
    /// let mut sleeper = Sleeper::new().with_time(time);
    /// assert_eq!(sleeper.sleep(Duration::from_secs(60)).lateness_ns, 15_000_000); // a minute, in no time
    /// ```
    pub fn with_time<U: TimeSource>(self, time: U) -> Sleeper<U> {
        Sleeper { plan: Plan::new(), objective: self.objective, time }
    }

    /// Sets the share of sleeps that are to end on time, where that takes no more CPU time than a fixed margin of 125 µs
    /// would. The default is [`Sleeper::DEFAULT_QUANTILE`]. A share below 0.5 counts as 0.5, and one above 0.9999 as 0.9999.
    ///
    /// What was learned is kept. The sleeper moves to the new aim within some hundred sleeps.
    ///
    /// ```
    /// use oversleep::Sleeper;
    /// use std::time::Duration;
    ///
    /// // One sleep in ten may be late.
    /// let mut sleeper = Sleeper::new().with_quantile(0.9);
    /// sleeper.sleep(Duration::from_micros(300));
    /// ```
    pub fn with_quantile(mut self, on_time: f64) -> Self {
        // A share that is no number gives zero here, and counts as the default.
        let late_one_in = (1.0 / (1.0 - on_time.clamp(0.5, 0.9999))).round() as u32;
        self.objective.late_one_in = NonZeroU32::new(late_one_in).or(Objective::DEFAULT.late_one_in);
        self.plan.recompute();
        self
    }

    /// Fixes the price: how many microseconds of CPU time a microsecond of lateness is worth. By default a quantile is
    /// the aim.
    ///
    /// Beyond the first 50 µs, lateness costs ten times as much. A sleep is late with a probability of about 1 in price + 1,
    /// or less often where many would be late by more than that. With a price of zero, nothing is spun that isn't certain to
    /// be needed. What was learned is kept, and the new price applies from the next sleep on.
    ///
    /// ```
    /// use oversleep::Sleeper;
    /// use std::time::Duration;
    ///
    /// // One sleep in four may be late.
    /// let mut sleeper = Sleeper::new().with_price(3);
    /// sleeper.sleep(Duration::from_micros(300));
    /// ```
    pub fn with_price(mut self, cpu_time_per_lateness: u32) -> Self {
        (self.objective.price, self.objective.late_one_in) = (cpu_time_per_lateness, None);
        self.plan.recompute();
        self
    }

    /// Sets the budget: the longest that a sleep may spin. The default is [`Sleeper::DEFAULT_BUDGET`].
    ///
    /// A sleep that would have to spin for longer to end on time ends late instead. With a budget of zero, a sleep is one
    /// wait until its deadline, however short it is. What was learned is kept, and the new budget applies from the next
    /// sleep on.
    ///
    /// ```
    /// use oversleep::Sleeper;
    /// use std::time::Duration;
    ///
    /// let slept = Sleeper::new().with_budget(Duration::ZERO).sleep(Duration::from_millis(20));
    /// // A thread that loses its processor for so long before the wait makes none.
    /// assert!(slept.wait.is_none_or(|wait| wait.margin_ns == 0));
    /// ```
    pub fn with_budget(mut self, budget: Duration) -> Self {
        self.objective.budget_ns = u64::try_from(budget.as_nanos()).unwrap_or(u64::MAX);
        self.plan.recompute();
        self
    }

    /// Sleeps for at least `duration`.
    ///
    /// ```
    /// use oversleep::{Instant, Sleeper};
    /// use std::time::Duration;
    ///
    /// let start = Instant::now();
    /// Sleeper::new().sleep(Duration::from_micros(300));
    /// assert!(start.elapsed() >= Duration::from_micros(300));
    /// ```
    pub fn sleep(&mut self, duration: Duration) -> Slept {
        self.sleep_until(self.time.deadline_in(duration))
    }

    /// Sleeps until `deadline`. Returns at once if the deadline has passed.
    ///
    /// ```
    /// use oversleep::{Instant, Sleeper};
    ///
    /// // This deadline has passed, so nothing is waited for.
    /// assert_eq!(Sleeper::new().sleep_until(Instant::from_nanos(1)).spun_ns, 0);
    /// ```
    pub fn sleep_until(&mut self, deadline: Instant) -> Slept {
        let Self { plan, objective, time } = self;
        let slept = Self::sleep_on(time, deadline, || waiting::sleep_until(plan, deadline, *objective));
        slept.unwrap_or_else(|| Slept::without_a_wait(time.now().duration_since(deadline)))
    }

    /// Sleeps until a deadline on another clock, for a user of the sleeper that has one. `None` unless the operating
    /// system was used.
    pub(crate) fn sleep_until_on(&mut self, time: &impl TimeSource, deadline: Instant) -> Option<Slept> {
        let (plan, objective) = (&mut self.plan, self.objective);
        Self::sleep_on(time, deadline, || waiting::sleep_until(plan, deadline, objective))
    }

    #[inline]
    fn sleep_on(time: &impl TimeSource, deadline: Instant, mut system: impl FnMut() -> Slept) -> Option<Slept> {
        let mut slept = None;
        time.sleep_by(deadline, &mut || slept = Some(system()));
        slept
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::slack::TimerSlack;

    #[test]
    fn a_past_deadline_returns_at_once() {
        let slept = Sleeper::new().sleep_until(Instant::from_nanos(5));
        assert_eq!((slept.spun_ns, slept.wait, slept.approaches, slept.slack), (0, None, [None; 2], None));
        assert!(slept.lateness_ns > 0);
    }

    #[test]
    fn a_short_sleep_only_spins() {
        let slept = Sleeper::new().sleep(Duration::from_micros(6));
        assert_eq!((slept.wait, slept.approaches), (None, [None; 2]));
        assert!(slept.spun_ns <= 6_000);
    }

    #[test]
    fn a_sleeper_prints_as_a_line() {
        let printed = format!("{:?}", Sleeper::new());
        assert!(printed.len() < 200, "{} bytes: {printed}", printed.len());
    }

    /// The most by which our clock may be behind the system's, whose clock ends a wait.
    const CLOCKS_APART_NS: u64 = 110_000;

    /// On a busy machine the thread may lose the processor until the deadline is too close for a wait.
    fn until_it_waited(sleeper: &mut Sleeper, duration: Duration) -> Slept {
        let mut tries = std::iter::repeat_with(|| sleeper.sleep(duration));
        tries.find(|slept| slept.wait.is_some()).expect("there is always another try")
    }

    #[test]
    fn a_longer_sleep_waits_and_learns() {
        let mut sleeper = Sleeper::new();
        let slept = until_it_waited(&mut sleeper, Duration::from_micros(500));
        let margins = slept.wait.iter().chain(slept.approaches.iter().flatten()).map(|one| one.margin_ns);
        assert!(slept.spun_ns <= margins.max().unwrap_or_default() + CLOCKS_APART_NS, "{slept:?}");
        assert!(slept.slack.is_some());
    }

    #[test]
    fn a_budget_of_zero_waits_for_the_shortest_sleep() {
        let mut sleeper = Sleeper::new().with_budget(Duration::ZERO);
        for us in [5, 50, 500] {
            let slept = until_it_waited(&mut sleeper, Duration::from_micros(us));
            // A wait that its clock ended a little early is followed by another one.
            let margins = slept.wait.iter().chain(slept.approaches.iter().flatten()).map(|one| one.margin_ns);
            assert!(margins.into_iter().all(|margin_ns| margin_ns == 0), "{slept:?}");
            assert!(slept.spun_ns <= CLOCKS_APART_NS, "{slept:?}");
        }
    }

    #[test]
    fn the_calling_thread_keeps_its_slack() {
        let before = TimerSlack::current();
        Sleeper::new().sleep(Duration::from_micros(200));
        sleep(Duration::from_micros(200));
        assert_eq!(TimerSlack::current(), before);
    }
}
