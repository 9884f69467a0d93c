//! Sleeps that end on time: the operating system waits until shortly before the deadline, and a short spin does the
//! rest.
//!
//! `margin` learns how shortly before, and `plan` decides when to wait. This file waits, and never ends a sleep early.

mod margin;
mod plan;

use std::cell::RefCell;
use std::time::Duration;

use crate::clock::{Clock, Instant};
use crate::outcome::Outcome;
use crate::slack::TimerSlack;
use crate::sys;

use plan::{APPROACHES, Plan, Step};

/// How much an exact sleep may spin beyond the median lateness of short waits. Chosen so that a sleep with all its
/// waits costs about 60 % of the CPU time of one that wakes a fixed 125 µs early with the default slack.
const BUDGET_NS: u64 = 16_000;

/// Sleeps for at least `duration`, and as little longer as this machine allows.
///
/// It uses a [`Sleeper`] of the calling thread, which documents guarantees and costs.
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
/// It uses a [`Sleeper`] of the calling thread, which documents guarantees and costs.
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
    thread_local! {
        static SLEEPER: RefCell<Sleeper> = const { RefCell::new(Sleeper::new()) };
    }
    let slept = SLEEPER.try_with(|sleeper| sleeper.try_borrow_mut().map(|mut sleeper| sleeper.sleep_until(deadline)));
    if !matches!(slept, Ok(Ok(_))) {
        // This is a signal handler that interrupted the thread's sleeper, or a thread that jumped out of one.
        wait_until(deadline.as_nanos());
        spin_until(deadline);
    }
}

/// Sleeps until deadlines, and learns from each sleep how late this machine wakes a thread.
///
/// # Guarantee
///
/// No sleep ends early, neither by [`Clock`] nor by the operating system's monotonic clock.
///
/// # CPU time
///
/// A long sleep is up to three waits and a spin:
///
/// 1. The first wait ends early enough to cover this machine's lateness for sleeps of similar length, learned from the
///    sleeps themselves.
/// 2. Up to two short waits, the *approaches*, follow. They end more exactly, because a processor that has barely slept
///    wakes up sooner. The last one ends a learned *margin* before the deadline: at most the median lateness plus the
///    *budget*, which is 16 µs unless [`Sleeper::with_budget`] changes it.
/// 3. The thread spins for the rest, and for whatever is too short for a wait. It uses the processor's pause hint and
///    never yields. It usually spins for about the budget, and while approaches pay off never longer than the budget
///    plus 48 µs.
///
/// Each wait costs the system about 8 µs of CPU time, so anything shorter is spun, however small the budget.
///
/// * **Coarse timers**: if the median lateness exceeds 150 µs, short waits end no more exactly than long ones. Once the
///   sleeper has learned this, it makes no approaches and spins for at most the margin of the one wait: the median
///   lateness, up to a sixteenth more, and the budget.
/// * **Short sleeps**: a sleep too short for a wait only spins. If it would spin for more than 80 µs, five times the
///   budget, it waits instead and may end late.
/// * **Sandboxes**: if every wait is refused (on Linux both `clock_nanosleep` and `ppoll`), the thread yields in a
///   loop. Sleeps still end on time, but use all the CPU time that nobody else wants.
/// * **Oversubscription**: lateness beyond the budget, because another thread has the processor, doesn't widen the
///   margin unless it is the rule. Approaches that would need a margin above the budget plus 40 µs are given up and
///   tried again 1,000 sleeps later. If the machine improves, the sleeper notices within 16 sleeps.
///
/// # Timer slack
///
/// On Linux the thread's timer slack is 1 ns during the waits and restored afterwards. If that is forbidden, the margin
/// covers the slack, and [`Slept::slack`] says so. A signal handler that jumps out of a sleep (`siglongjmp`) leaves the
/// slack at 1 ns; it should set [`TimerSlack`] itself.
///
/// # Memory and threads
///
/// A sleeper learns best if one thread uses it for one kind of sleep. It takes about 5 KiB and never allocates.
///
/// [`sleep()`] and [`sleep_until`] use a thread-local sleeper, so every thread of the process reserves that space, even
/// threads that never sleep. If a signal handler calls them during a sleep of its thread, or in a thread that left a
/// sleep by `siglongjmp`, they wait once with the current slack and spin for the rest.
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
pub struct Sleeper {
    plan: Plan,
    budget_ns: u64,
}

/// How a sleep went.
///
/// ```
/// let slept = oversleep::Sleeper::new().sleep(std::time::Duration::from_micros(300));
/// if let Some(wait) = slept.wait {
///     println!("the wait was {} ns late, the sleep {} ns", wait.lateness_ns, slept.lateness_ns);
/// }
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Slept {
    /// How long after the deadline the sleep ended, in nanoseconds.
    pub lateness_ns: u64,
    /// How long it spun before the deadline, in nanoseconds.
    pub spun_ns: u64,
    /// The first wait; `None` if there was none, because the deadline was too close. If a sandbox refuses every wait,
    /// the thread spent it yielding.
    pub wait: Option<Waited>,
    /// The short waits that followed. `None` for one that was skipped, because too little was left or because this
    /// machine ends short waits no more exactly than long ones. A sleep too short for a first wait may still have
    /// these.
    pub approaches: [Option<Waited>; 2],
    /// The outcome of setting the timer slack for the waits; `None` if there was no wait.
    pub slack: Option<Outcome<Duration>>,
}

/// A wait by the operating system during a sleep.
///
/// ```
/// let slept = oversleep::Sleeper::new().sleep(std::time::Duration::from_micros(300));
/// for approach in slept.approaches.iter().flatten() {
///     println!("{} ns before the end, {} ns late", approach.margin_ns, approach.lateness_ns);
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Waited {
    /// How long before the deadline of the sleep the wait was to end, in nanoseconds.
    pub margin_ns: u64,
    /// How much later it ended, in nanoseconds.
    pub lateness_ns: u64,
}

impl Default for Sleeper {
    fn default() -> Self {
        Self::new()
    }
}

impl Sleeper {
    /// The default budget: how far the margin may exceed the median lateness.
    ///
    /// ```
    /// assert_eq!(oversleep::Sleeper::DEFAULT_BUDGET, std::time::Duration::from_micros(16));
    /// ```
    pub const DEFAULT_BUDGET: Duration = Duration::from_nanos(BUDGET_NS);

    /// A sleeper that has learned nothing yet. Its first waits have margins of 100, 50 and 25 µs.
    ///
    /// ```
    /// // It can be made in a constant, and never allocates.
    /// let mut sleeper = oversleep::Sleeper::new();
    /// sleeper.sleep(std::time::Duration::from_micros(50));
    /// ```
    pub const fn new() -> Self {
        Self { plan: Plan::new(), budget_ns: BUDGET_NS }
    }

    /// Sets the budget: how far the margin may exceed the median lateness. The default is [`Sleeper::DEFAULT_BUDGET`].
    ///
    /// With a budget of zero the margin is the median lateness, so half of the sleeps that wait end late. Up to 8 µs
    /// are still spun when a wait isn't worth its cost. What was learned is kept, and the new budget applies from the
    /// next sleep on.
    ///
    /// ```
    /// use oversleep::Sleeper;
    /// use std::time::Duration;
    ///
    /// // Spends more CPU time, and ends late less often.
    /// let mut exact = Sleeper::new().with_budget(Duration::from_micros(60));
    /// exact.sleep(Duration::from_micros(300));
    /// ```
    pub fn with_budget(mut self, budget: Duration) -> Self {
        self.budget_ns = u64::try_from(budget.as_nanos()).unwrap_or(u64::MAX);
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
        self.sleep_until(start().saturating_add(duration))
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
        let ahead_ns = left_ns(deadline);
        let none = [None; APPROACHES];
        let mut slept = Slept { lateness_ns: 0, spun_ns: 0, wait: None, approaches: none, slack: None };
        let mut step = self.plan.first(ahead_ns, self.budget_ns);
        let held = (step != Step::Spin).then(|| TimerSlack::hold(Duration::from_nanos(1)));
        slept.slack = held.as_ref().map(|held| held.outcome().clone());
        // All bookkeeping happens before the deadline, in time that would otherwise be spun away.
        loop {
            let made = match step {
                Step::Wait { margin_ns } => {
                    let waited = wait_before(deadline, margin_ns);
                    self.plan.learn_wait(ahead_ns, margin_ns, waited.lateness_ns, self.budget_ns);
                    slept.wait = Some(waited);
                    0
                }
                Step::Approach { number, margin_ns } => {
                    let waited = wait_before(deadline, margin_ns);
                    self.plan.learn_approach(number, waited.lateness_ns, self.budget_ns);
                    slept.approaches[number] = Some(waited);
                    number + 1
                }
                Step::Spin => break,
            };
            step = self.plan.then(ahead_ns, made, left_ns(deadline), self.budget_ns);
        }
        drop(held);
        (slept.spun_ns, slept.lateness_ns) = spin_until(deadline);
        slept
    }
}

/// Now, by the later of the two clocks: the library's may be 10 µs behind while another thread starts it.
fn start() -> Instant {
    Instant::now().max(Instant::from_nanos(sys::monotonic_ns()))
}

fn left_ns(deadline: Instant) -> u64 {
    u64::try_from(deadline.nanos_since(Clock::now())).unwrap_or(0)
}

/// Has the system wake this thread `margin_ns` before the deadline.
fn wait_before(deadline: Instant, margin_ns: u64) -> Waited {
    let wake_ns = deadline.as_nanos().saturating_sub(margin_ns);
    Waited { margin_ns, lateness_ns: wait_until(wake_ns) - wake_ns }
}

/// Waits until the operating system's clock reads `ns` or later, and returns that reading.
fn wait_until(ns: u64) -> u64 {
    loop {
        let now_ns = sys::monotonic_ns();
        if now_ns >= ns {
            return now_ns;
        }
        sys::wait_once_until(ns);
    }
}

/// Spins until `deadline`; returns for how long and how late it ended, in nanoseconds.
fn spin_until(deadline: Instant) -> (u64, u64) {
    let start = Clock::now();
    let mut now = start;
    while now < deadline {
        std::hint::spin_loop();
        now = Clock::now();
    }
    // Our clock may be a few nanoseconds ahead of the operating system's, and the guarantee holds for both.
    while sys::monotonic_ns() < deadline.as_nanos() {
        std::hint::spin_loop();
        now = Clock::now();
    }
    let spun_ns = now.as_nanos().min(deadline.as_nanos()).saturating_sub(start.as_nanos());
    (spun_ns, now.as_nanos().saturating_sub(deadline.as_nanos()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_past_deadline_returns_at_once() {
        let slept = Sleeper::new().sleep_until(Instant::from_nanos(5));
        assert_eq!((slept.spun_ns, slept.wait, slept.approaches, slept.slack), (0, None, [None; 2], None));
        assert!(slept.lateness_ns > 0);
    }

    #[test]
    fn a_short_sleep_only_spins() {
        let slept = Sleeper::new().sleep(Duration::from_micros(20));
        assert_eq!((slept.wait, slept.approaches), (None, [None; 2]));
        assert!(slept.spun_ns <= 20_000);
    }

    /// On a busy machine the thread may lose the processor until the deadline is too close for a wait.
    fn until_it_waited(sleeper: &mut Sleeper, duration: Duration) -> Slept {
        let mut tries = (0..1_000).map(|_| sleeper.sleep(duration));
        tries.find(|slept| slept.wait.is_some()).expect("one of a thousand waits")
    }

    #[test]
    fn a_longer_sleep_waits_and_learns() {
        let mut sleeper = Sleeper::new();
        let slept = until_it_waited(&mut sleeper, Duration::from_micros(500));
        let longest_ns =
            slept.wait.iter().chain(slept.approaches.iter().flatten()).map(|waited| waited.margin_ns).max();
        assert!(longest_ns.is_some_and(|longest_ns| slept.spun_ns <= longest_ns));
        assert!(slept.wait.is_some_and(|waited| waited.margin_ns == 100_000) && slept.slack.is_some());
        // A single sample beside the assumed ones already replaces the first guess.
        let Step::Wait { margin_ns } = sleeper.plan.first(500_000, BUDGET_NS) else { panic!("no wait") };
        assert_ne!(margin_ns, 100_000);
    }

    #[test]
    fn sleeps_keep_learning_after_bad_luck() {
        let mut sleeper = Sleeper::new();
        for _ in 0..30 {
            sleeper.plan.learn_wait(300_000, 100_000, 20_000_000, BUDGET_NS);
        }
        // The margin is now longer than the sleep, which still waits and learns.
        let slept = until_it_waited(&mut sleeper, Duration::from_micros(300));
        assert!(slept.wait.is_some_and(|waited| waited.margin_ns < 300_000));
    }

    #[test]
    fn the_calling_thread_keeps_its_slack() {
        let before = TimerSlack::current();
        Sleeper::new().sleep(Duration::from_micros(200));
        sleep(Duration::from_micros(200));
        assert_eq!(TimerSlack::current(), before);
    }
}
