//! Sleeps that end on time: the operating system waits until shortly before the deadline, and a short spin does the
//! rest.
//!
//! `margin` learns how short. Here the waiting is done, and its promise is kept: never early.

mod margin;

use std::cell::RefCell;
use std::time::Duration;

use crate::clock::{Clock, Instant};
use crate::outcome::Outcome;
use crate::slack::TimerSlack;
use crate::sys;

use margin::Learned;

/// How long the median sleep may spin. The rest of a sleep's CPU time is the operating system's own.
///
/// A thread that waits once and spins the rest pays for its margin, whoever made it: this one keeps the whole sleep at
/// or below the CPU time of one that is woken a fixed 125 µs before with the default slack.
const BUDGET_NS: u64 = 40_000;
/// Shorter waits than this aren't worth asking for: falling asleep and waking up takes about as long.
const WAIT_MIN_NS: u64 = 4_000;
/// Durations up to 2^16, 2^18, … ns (66 µs, 262 µs, 1.05 ms, 4.2 ms, 17 ms, 67 ms), and longer.
const CLASSES: usize = 7;

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
    sleep_until(Instant::now().saturating_add(duration));
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
        // The thread is ending, or a signal handler interrupted its sleeper.
        wait_until(deadline.as_nanos());
    }
}

/// Sleeps until deadlines, and learns from each how late this machine wakes a thread.
///
/// # Promises
///
/// * **Never early**, by [`Clock`] and by the operating system's monotonic clock both.
/// * **CPU**: the operating system is asked to wake the thread one *margin* before the deadline, and the thread spins
///   (with the processor's pause hint, never yielding) for what is left of it. The margin is the smallest that covers
///   this machine's lateness for durations of this class, learned from the sleeps themselves, and at most the median
///   lateness and 40 µs more: so the median sleep spins for at most 40 µs ([`Sleeper::with_budget`] changes that), and
///   none for longer than its margin, which [`Slept`] shows. A sleep shorter than the margin only spins, unless that
///   would be more than 80 µs, twice the budget: then it waits, and may end late.
/// * **Oversubscription**: lateness that no margin within the budget covers, because another thread has the processor,
///   does not widen the margin.
/// * **Timer slack** is 1 ns during the wait and what it was before afterwards (Linux); where that is forbidden, the
///   margin covers the slack, and [`Slept::slack`] says so.
///
/// A sleeper learns best when one thread uses it for one kind of sleeps. It holds about 4 KiB and allocates nothing.
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
    learned: [Learned; CLASSES],
    budget_ns: u64,
}

/// How a sleep went.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Slept {
    /// How long after the deadline the sleep ended, in nanoseconds.
    pub lateness_ns: u64,
    /// How long it spun towards the deadline, in nanoseconds.
    pub spun_ns: u64,
    /// How long before the deadline the operating system was asked to wake the thread, in nanoseconds; `None` when it
    /// was not asked, because the deadline was too close.
    pub margin_ns: Option<u64>,
    /// How late that wake-up came, in nanoseconds; `None` when none was asked for.
    pub wake_lateness_ns: Option<u64>,
    /// What became of setting the timer slack for the wait; `None` when there was none.
    pub slack: Option<Outcome<Duration>>,
}

impl Default for Sleeper {
    fn default() -> Self {
        Self::new()
    }
}

impl Sleeper {
    /// A sleeper that has learned nothing yet: its first sleep uses a margin of 70 µs.
    pub const fn new() -> Self {
        Self { learned: [const { Learned::new() }; CLASSES], budget_ns: BUDGET_NS }
    }

    /// Changes how long the median sleep may spin, from 40 µs. With zero the margin is the median lateness, and half
    /// of the sleeps end late.
    pub fn with_budget(mut self, budget: Duration) -> Self {
        self.budget_ns = u64::try_from(budget.as_nanos()).unwrap_or(u64::MAX);
        self
    }

    /// Sleeps for at least `duration`.
    pub fn sleep(&mut self, duration: Duration) -> Slept {
        self.sleep_until(Instant::now().saturating_add(duration))
    }

    /// Sleeps until `deadline`. A deadline in the past returns at once.
    pub fn sleep_until(&mut self, deadline: Instant) -> Slept {
        let ahead_ns = u64::try_from(deadline.nanos_since(Clock::now())).unwrap_or(0);
        let learned = &mut self.learned[class(ahead_ns)];
        let mut slept = Slept { lateness_ns: 0, spun_ns: 0, margin_ns: None, wake_lateness_ns: None, slack: None };
        if let Some(margin_ns) = margin_of_wait(ahead_ns, learned.margin_ns(), self.budget_ns) {
            let wake_ns = deadline.as_nanos() - margin_ns;
            let held = TimerSlack::hold(Duration::from_nanos(1));
            let wake_lateness_ns = wait_until(wake_ns) - wake_ns;
            slept.slack = Some(held.outcome().clone());
            // All that is to be done happens before the deadline, in time that would be spun away otherwise.
            drop(held);
            learned.learn(wake_lateness_ns, self.budget_ns);
            slept.margin_ns = Some(margin_ns);
            slept.wake_lateness_ns = Some(wake_lateness_ns);
        }
        (slept.spun_ns, slept.lateness_ns) = spin_until(deadline);
        slept
    }
}

/// The margin to wait with when the deadline lies `ahead_ns` ahead, or `None` to spin all the way.
fn margin_of_wait(ahead_ns: u64, learned_ns: u64, budget_ns: u64) -> Option<u64> {
    let longest_ns = ahead_ns.checked_sub(WAIT_MIN_NS)?;
    if learned_ns <= longest_ns {
        Some(learned_ns)
    } else if ahead_ns <= budget_ns.saturating_mul(2) {
        None
    } else {
        // The machine wakes us too late for such a sleep, and it is too long to spin: the shortest wait must do.
        Some(longest_ns)
    }
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
        now = Clock::now();
    }
    let spun_ns = now.as_nanos().min(deadline.as_nanos()).saturating_sub(start.as_nanos());
    (spun_ns, now.as_nanos().saturating_sub(deadline.as_nanos()))
}

fn class(ns: u64) -> usize {
    const FIRST: u32 = 16;
    let octave = ns.checked_ilog2().unwrap_or(0);
    ((octave.saturating_sub(FIRST - 2) / 2) as usize).min(CLASSES - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_cover_every_duration() {
        assert_eq!(class(0), 0);
        assert_eq!(class((1 << 16) - 1), 0);
        assert_eq!(class(1 << 16), 1);
        assert_eq!(class(1_000_000), class(300_000));
        assert_ne!(class(1_000_000), class(5_000_000));
        assert_eq!(class(u64::MAX), CLASSES - 1);
    }

    #[test]
    fn a_past_deadline_returns_at_once() {
        let slept = Sleeper::new().sleep_until(Instant::from_nanos(5));
        assert_eq!((slept.spun_ns, slept.margin_ns, slept.slack), (0, None, None));
        assert!(slept.lateness_ns > 0);
    }

    #[test]
    fn a_short_sleep_only_spins() {
        let slept = Sleeper::new().sleep(Duration::from_micros(20));
        assert_eq!(slept.margin_ns, None);
        assert!(slept.spun_ns <= 20_000);
    }

    /// On a busy machine the thread may lose the processor until the deadline is too close to wait for.
    fn until_it_waited(sleeper: &mut Sleeper, duration: Duration) -> Slept {
        let mut tries = (0..1_000).map(|_| sleeper.sleep(duration));
        tries.find(|slept| slept.margin_ns.is_some()).expect("one of a thousand waits")
    }

    #[test]
    fn a_longer_sleep_waits_and_learns() {
        let mut sleeper = Sleeper::new();
        let slept = until_it_waited(&mut sleeper, Duration::from_micros(500));
        assert!(slept.spun_ns <= 70_000 && slept.wake_lateness_ns.is_some() && slept.slack.is_some());
        // One sample among the assumed ones: the margin covers it when the budget does.
        let margin_ns = sleeper.learned[class(500_000)].margin_ns();
        assert!((66_000..=84_000).contains(&margin_ns), "{margin_ns}");
    }

    #[test]
    fn only_short_sleeps_spin_all_the_way() {
        // Within the margin: by the budget.
        assert_eq!(margin_of_wait(60_000, 70_000, 50_000), None);
        assert_eq!(margin_of_wait(100_000, 120_000, 50_000), None);
        // A machine with a 15.6 ms tick: a sleep of 1 ms waits, and ends late.
        assert_eq!(margin_of_wait(1_000_000, 15_600_000, 50_000), Some(996_000));
        assert_eq!(margin_of_wait(1_000_000, 70_000, 50_000), Some(70_000));
        assert_eq!(margin_of_wait(3_000, 1_000, 50_000), None);
        assert_eq!(margin_of_wait(30_000, 70_000, 0), Some(26_000));
    }

    #[test]
    fn sleeps_keep_learning_whatever_happened() {
        let mut sleeper = Sleeper::new();
        let class = class(300_000);
        for _ in 0..30 {
            sleeper.learned[class].learn(20_000_000, BUDGET_NS);
        }
        // The margin is longer than the sleep now; it is waited for and learned from all the same.
        let slept = until_it_waited(&mut sleeper, Duration::from_micros(300));
        assert!(slept.wake_lateness_ns.is_some() && slept.margin_ns.is_some_and(|margin_ns| margin_ns < 300_000));
    }

    #[test]
    fn the_calling_thread_keeps_its_slack() {
        let before = TimerSlack::current();
        Sleeper::new().sleep(Duration::from_micros(200));
        sleep(Duration::from_micros(200));
        assert_eq!(TimerSlack::current(), before);
    }
}
