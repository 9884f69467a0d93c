//! Sleeps that end on time: the operating system waits until shortly before the deadline, and a short spin does the
//! rest.
//!
//! `margin` learns how short, `plan` says when to wait. Here the waiting is done, and its promise is kept: never early.

mod margin;
mod plan;

use std::cell::RefCell;
use std::time::Duration;

use crate::clock::{Clock, Instant};
use crate::outcome::Outcome;
use crate::slack::TimerSlack;
use crate::sys;

use plan::{APPROACHES, Plan, Step};

/// What an exact sleep may spin beyond the median of what short waits are late. Chosen so that a sleep, its waits
/// included, costs about 60 % of the CPU time of one that is woken a fixed 125 µs before with the default slack.
const BUDGET_NS: u64 = 16_000;

/// Sleeps for at least `duration`, and as little longer as this machine allows. See [`Sleeper`] for its costs and
/// promises; this uses one that belongs to the calling thread.
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

/// Sleeps until `deadline`; never returns before it, and as little after it as this machine allows. Signals do not end
/// it. See [`Sleeper`] for its costs and promises; this uses one that belongs to the calling thread.
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
        // A signal handler interrupted this thread's sleeper, or has jumped out of it.
        wait_until(deadline.as_nanos());
        spin_until(deadline);
    }
}

/// Sleeps until deadlines, and learns from each how late this machine wakes a thread.
///
/// # Promises
///
/// * **Never early**, by [`Clock`] and by the operating system's monotonic clock both.
/// * **CPU**: a long sleep is up to three waits and a spin. The first wait ends early enough to cover this machine's
///   lateness for durations of this class, learned from the sleeps themselves. The others, the *approaches*, are short,
///   and so are ended more exactly: a processor that has hardly slept wakes up sooner. The last one ends a *margin*
///   before the deadline, learned as well: at most the median lateness and the *budget*, 16 µs, more
///   ([`Sleeper::with_budget`] changes that). The thread spins (with the processor's pause hint, never yielding) for what
///   is left then, and for what is too little to wait for: usually about the budget, and never longer than the budget
///   and 48 µs while approaches pay. Where the system ends short waits no more exactly than long ones (a coarse timer: a
///   median lateness above 150 µs), there are no approaches once that is learned, and a sleep spins for at most the
///   margin of its one wait: the median lateness, up to a sixteenth more, and the budget. A sleep too short to be waited
///   for only spins, unless that would be more than 80 µs, five times the budget: then it waits, and may end late. Each
///   wait costs the system's own CPU time besides, about 8 µs; what is shorter is spun, however small the budget. Where a
///   sandbox refuses every wait (on Linux `clock_nanosleep` and `ppoll` both), the thread yields in a loop instead: a sleep
///   ends on time, and takes all the CPU time that nobody else wants.
/// * **Oversubscription**: lateness that no margin within the budget covers, because another thread has the processor,
///   does not widen the margin unless it is the rule. Approaches whose margin would have to be more than the budget and
///   40 µs are given up, and tried again 1000 sleeps later; a machine that became better is noticed within 16.
/// * **Timer slack** is 1 ns during the wait and what it was before afterwards (Linux); where that is forbidden, the
///   margin covers the slack, and [`Slept::slack`] says so. A signal handler that jumps out of a sleep (`siglongjmp`) leaves
///   the slack at 1 ns; it should set [`TimerSlack`] itself.
///
/// A sleeper learns best when one thread uses it for one kind of sleeps. It holds about 5 KiB and allocates nothing. The
/// functions [`sleep()`] and [`sleep_until`] use one for each thread, as thread-local storage: every thread of the process
/// has room for it, also those that never sleep. Where a signal handler sleeps by them amid a sleep of its thread, and in
/// a thread that has left one by `siglongjmp`, they wait once, with the slack as it is, and spin the rest.
///
/// ```
/// use oversleep::{Instant, Sleeper};
/// use std::time::Duration;
///
/// let mut sleeper = Sleeper::new();
/// let slept = sleeper.sleep_until(Instant::now() + Duration::from_micros(500));
/// println!("{} ns late, of which {} ns were spun before", slept.lateness_ns, slept.spun_ns);
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
///     println!("woken {} ns late, {} ns late in the end", wait.lateness_ns, slept.lateness_ns);
/// }
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Slept {
    /// How long after the deadline the sleep ended, in nanoseconds.
    pub lateness_ns: u64,
    /// How long it spun towards the deadline, in nanoseconds.
    pub spun_ns: u64,
    /// The wait; `None` when there was none, because the deadline was too close. Where a sandbox refuses every wait, this
    /// was spent yielding.
    pub wait: Option<Waited>,
    /// The short waits for what the first one left; `None` for one that was not made, because too little was left or
    /// because this machine ends short waits no more exactly than long ones. A sleep too short for the margin of a long
    /// wait may have these alone.
    pub approaches: [Option<Waited>; 2],
    /// What became of setting the timer slack for the wait; `None` when there was none.
    pub slack: Option<Outcome<Duration>>,
}

/// How the operating system ended a wait.
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
    /// How long before the deadline of the sleep it was asked to wake the thread, in nanoseconds.
    pub margin_ns: u64,
    /// How much later than asked it did, in nanoseconds.
    pub lateness_ns: u64,
}

impl Default for Sleeper {
    fn default() -> Self {
        Self::new()
    }
}

impl Sleeper {
    /// How far the margin of what is spun reaches beyond the median lateness, unless told otherwise.
    ///
    /// ```
    /// assert_eq!(oversleep::Sleeper::DEFAULT_BUDGET, std::time::Duration::from_micros(16));
    /// ```
    pub const DEFAULT_BUDGET: Duration = Duration::from_nanos(BUDGET_NS);

    /// A sleeper that has learned nothing yet: its first waits have margins of 100, 50 and 25 µs.
    ///
    /// ```
    /// // It may be kept in a constant place, and allocates nothing.
    /// let mut sleeper = oversleep::Sleeper::new();
    /// sleeper.sleep(std::time::Duration::from_micros(50));
    /// ```
    pub const fn new() -> Self {
        Self { plan: Plan::new(), budget_ns: BUDGET_NS }
    }

    /// Changes how far the margin of what is spun reaches beyond the median lateness, from
    /// [`Sleeper::DEFAULT_BUDGET`]. With zero the margin is the median lateness, and half of the sleeps that are waited for
    /// end late; up to 8 µs are spun all the same where a wait isn't worth its cost. What was learned stays, and the new
    /// budget bounds it from the next sleep on.
    ///
    /// ```
    /// use oversleep::Sleeper;
    /// use std::time::Duration;
    ///
    /// // Spends more CPU time on fewer late ends.
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

    /// Sleeps until `deadline`. A deadline in the past returns at once.
    ///
    /// ```
    /// use oversleep::{Instant, Sleeper};
    ///
    /// // In the past: nothing is waited for.
    /// assert_eq!(Sleeper::new().sleep_until(Instant::from_nanos(1)).spun_ns, 0);
    /// ```
    pub fn sleep_until(&mut self, deadline: Instant) -> Slept {
        let ahead_ns = left_ns(deadline);
        let none = [None; APPROACHES];
        let mut slept = Slept { lateness_ns: 0, spun_ns: 0, wait: None, approaches: none, slack: None };
        let mut step = self.plan.first(ahead_ns, self.budget_ns);
        let held = (step != Step::Spin).then(|| TimerSlack::hold(Duration::from_nanos(1)));
        slept.slack = held.as_ref().map(|held| held.outcome().clone());
        // All that is to be done happens before the deadline, in time that would be spun away otherwise.
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

/// Now, by the later of the two clocks: the library's may be 10 µs behind while another thread sets it up.
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

/// Waits until the operating system's clock says `ns` or later, and returns what it says.
fn wait_until(ns: u64) -> u64 {
    loop {
        let now_ns = sys::monotonic_ns();
        if now_ns >= ns {
            return now_ns;
        }
        sys::wait_once_until(ns);
    }
}

/// Spins until `deadline`; for how long, and how late it ended, in nanoseconds.
fn spin_until(deadline: Instant) -> (u64, u64) {
    let start = Clock::now();
    let mut now = start;
    while now < deadline {
        std::hint::spin_loop();
        now = Clock::now();
    }
    // The clock may be some nanoseconds ahead of the operating system's, by which others will judge.
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

    /// On a busy machine the thread may lose the processor until the deadline is too close to wait for.
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
        // One sample among the assumed ones replaces the first guess.
        let Step::Wait { margin_ns } = sleeper.plan.first(500_000, BUDGET_NS) else { panic!("no wait") };
        assert_ne!(margin_ns, 100_000);
    }

    #[test]
    fn sleeps_keep_learning_whatever_happened() {
        let mut sleeper = Sleeper::new();
        for _ in 0..30 {
            sleeper.plan.learn_wait(300_000, 100_000, 20_000_000, BUDGET_NS);
        }
        // The margin is longer than the sleep now; it is waited for and learned from all the same.
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
