//! A fixed-rate loop on absolute deadlines: no drift, and every period accounted for.
//!
//! Only the arithmetic of periods is here; the sleeper does the waiting.

mod grid;

use std::time::Duration;

use crate::clock::Instant;
use crate::sleep::Sleeper;
use crate::statistics::Statistics;
use crate::time::{RealClock, TimeSource};
use grid::Grid;

/// What a [`Pacer`] does with whole periods that have passed since the last call.
///
/// ```
/// use oversleep::{Missed, Pacer};
///
/// // Every sample counts, however late.
/// let samples = Pacer::per_second(48_000).on_missed(Missed::CatchUp);
/// assert_eq!(samples.missed(), 0);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Missed {
    /// Delivers every period, the late ones immediately one after the other. For work that must be done once per
    /// period, such as producing samples. After a suspend that may be millions of periods;
    /// [`Pacer::catching_up_at_most`] sets a cap.
    CatchUp,
    /// Delivers only the latest of the late periods and counts the others; the grid stays as it is. For frames and
    /// polls, where only the current one matters.
    #[default]
    Skip,
    /// Delivers the late period and restarts the grid from now, so that a whole period follows. For work that needs
    /// time to recover. This gives up the rate: the loop falls behind by the periods it missed.
    Delay,
}

/// Runs a loop at a fixed rate.
///
/// Deadlines lie on a grid, `start + k × period`, computed in exact integers, so no error accumulates: after an hour at
/// 144 Hz a deadline is as exact as the first. Waiting is done by a [`Sleeper`], with its guarantees and costs.
///
/// ```
/// use oversleep::{Missed, Pacer};
/// use std::time::Duration;
///
/// let mut pacer = Pacer::every(Duration::from_millis(1)).on_missed(Missed::Skip);
/// for _ in 0..3 {
///     let beat = pacer.wait();
///     println!("period {}, {} ns late, {} missed before it", beat.period, beat.lateness_ns, beat.missed);
/// }
/// ```
#[derive(Clone, Debug)]
pub struct Pacer<T = RealClock> {
    grid: Grid,
    /// The next period to deliver; period 0 is the start itself.
    next: u64,
    missed: u64,
    policy: Missed,
    /// With [`Missed::CatchUp`], how many late periods are delivered at most.
    catch_up_max: u64,
    sleeper: Sleeper,
    statistics: Option<Box<Statistics>>,
    time: T,
}

/// A period that was delivered.
///
/// ```
/// let mut pacer = oversleep::Pacer::per_second(1_000);
/// let beat = pacer.wait();
/// println!("period {} was due at {} ns", beat.period, beat.deadline.as_nanos());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Beat {
    /// The number of this period, counted from the start; the first delivered is 1.
    pub period: u64,
    /// When it was due.
    pub deadline: Instant,
    /// How long after its deadline it was delivered, in nanoseconds.
    pub lateness_ns: u64,
    /// How many periods were skipped between the previously delivered one and this one.
    pub missed: u64,
}

impl Pacer {
    /// A loop with this period that starts now: the first deadline is one period away. Zero is taken as 1 ns.
    ///
    /// Cost: one clock read.
    ///
    /// ```
    /// use oversleep::Pacer;
    /// use std::time::Duration;
    ///
    /// let pacer = Pacer::every(Duration::from_millis(5));
    /// assert_eq!(pacer.deadline_of(200), pacer.start() + Duration::from_secs(1));
    /// ```
    pub fn every(period: Duration) -> Self {
        let span_ns = u64::try_from(period.as_nanos()).unwrap_or(u64::MAX).max(1);
        Self::on_grid(Grid { start_ns: RealClock.now().as_nanos(), span_ns, parts: 1 })
    }

    /// A loop that runs exactly `rate` times a second, even if the rate doesn't divide a second into whole nanoseconds.
    /// Zero is taken as 1, and rates above 10⁹ as 10⁹.
    ///
    /// Cost: one clock read.
    ///
    /// ```
    /// let mut frames = oversleep::Pacer::per_second(144);
    /// assert_eq!(frames.deadline_of(144), frames.start() + std::time::Duration::from_secs(1));
    /// ```
    pub fn per_second(rate: u32) -> Self {
        let parts = u64::from(rate).clamp(1, 1_000_000_000);
        Self::on_grid(Grid { start_ns: RealClock.now().as_nanos(), span_ns: 1_000_000_000, parts })
    }

    fn on_grid(grid: Grid) -> Self {
        Self {
            grid,
            next: 1,
            missed: 0,
            policy: Missed::default(),
            catch_up_max: u64::MAX,
            sleeper: Sleeper::new(),
            statistics: None,
            time: RealClock,
        }
    }
}

impl<T: TimeSource> Pacer<T> {
    /// The same loop on this clock, starting now by it. For tests in virtual time; see [`crate::time`].
    ///
    /// ```
    /// use oversleep::Pacer;
    /// use oversleep::time::VirtualClock;
    ///
    /// let mut pacer = Pacer::per_second(1).with_time(VirtualClock::new());
    /// assert_eq!((pacer.wait().lateness_ns, pacer.wait().period), (0, 2)); // two seconds, in no time
    /// ```
    pub fn with_time<U: TimeSource>(self, time: U) -> Pacer<U> {
        let Self { grid, policy, catch_up_max, sleeper, statistics, .. } = self;
        let grid = Grid { start_ns: time.now().as_nanos(), ..grid };
        Pacer { grid, next: 1, missed: 0, policy, catch_up_max, sleeper, statistics, time }
    }

    /// Delivers every period, but of those that are already late only the latest `periods`. Older ones are skipped and
    /// counted as missed.
    ///
    /// ```
    /// use oversleep::Pacer;
    /// use oversleep::time::VirtualClock;
    /// use std::time::Duration;
    ///
    /// let time = VirtualClock::new();
    /// let mut samples = Pacer::per_second(1_000).catching_up_at_most(3).with_time(time.clone());
    /// time.advance(Duration::from_secs(3_600)); // the machine was suspended
    /// let beats = [samples.wait(), samples.wait(), samples.wait()];
    /// assert_eq!(beats.map(|beat| beat.missed), [3_599_997, 0, 0]);
    /// assert_eq!(beats[2].lateness_ns, 0);
    /// ```
    pub fn catching_up_at_most(mut self, periods: u64) -> Self {
        (self.policy, self.catch_up_max) = (Missed::CatchUp, periods.max(1));
        self
    }

    /// Keeps [`Statistics`] from now on: of the lateness of the delivered periods, of missed ones, and of the CPU time
    /// of the waits.
    ///
    /// Cost: 5 KB, and two reads of the thread's CPU time per wait, about 0.2 µs each. Without it there is none.
    ///
    /// ```
    /// let mut pacer = oversleep::Pacer::per_second(1_000).with_statistics();
    /// pacer.wait();
    /// assert_eq!(pacer.statistics().map(|statistics| statistics.count()), Some(1));
    /// ```
    pub fn with_statistics(mut self) -> Self {
        self.statistics = Some(Box::default());
        self
    }

    /// The statistics; `None` unless they were requested.
    ///
    /// ```
    /// assert!(oversleep::Pacer::per_second(1).statistics().is_none());
    /// ```
    pub fn statistics(&self) -> Option<&Statistics> {
        self.statistics.as_deref()
    }

    /// Moves the start of the grid. Two loops with the same start and period stay in step.
    ///
    /// Counting begins again, for missed periods too, even in a loop that has run: the next period is 1, or, if the
    /// start is in the past, whichever the policy picks from the periods already due.
    ///
    /// ```
    /// use oversleep::{Instant, Pacer};
    ///
    /// let start = Instant::now();
    /// let (left, right) = (Pacer::per_second(60).starting_at(start), Pacer::per_second(60).starting_at(start));
    /// assert_eq!(left.next_deadline(), right.next_deadline());
    /// ```
    pub fn starting_at(mut self, start: Instant) -> Self {
        self.grid.start_ns = start.as_nanos();
        (self.next, self.missed) = (1, 0);
        self
    }

    /// Sets what happens to missed periods. The default is [`Missed::Skip`].
    ///
    /// ```
    /// use oversleep::{Missed, Pacer};
    ///
    /// let mut frames = Pacer::per_second(1_000).on_missed(Missed::Delay);
    /// frames.wait();
    /// ```
    pub fn on_missed(mut self, policy: Missed) -> Self {
        self.policy = policy;
        self
    }

    /// Waits with this sleeper instead of a new one.
    ///
    /// ```
    /// use oversleep::{Pacer, Sleeper};
    /// use std::time::Duration;
    ///
    /// let exact = Sleeper::new().with_budget(Duration::from_micros(60));
    /// let mut pacer = Pacer::per_second(1_000).with_sleeper(exact);
    /// pacer.wait();
    /// ```
    pub fn with_sleeper(mut self, sleeper: Sleeper) -> Self {
        self.sleeper = sleeper;
        self
    }

    /// Waits for the next period. If it is already due, this returns at once and the [`Beat`] says what was missed.
    ///
    /// Cost: that of [`Sleeper::sleep_until`] and one clock read.
    ///
    /// ```
    /// let mut pacer = oversleep::Pacer::per_second(1_000);
    /// let first = pacer.wait();
    /// assert_eq!(first.period, 1 + first.missed);
    /// ```
    pub fn wait(&mut self) -> Beat {
        let deadline = self.next_deadline();
        match self.statistics.as_deref_mut() {
            None => _ = self.sleeper.sleep_until_on(&self.time, deadline),
            Some(statistics) => {
                let slept = statistics.timed(|| self.sleeper.sleep_until_on(&self.time, deadline));
                statistics.add_spun_ns(slept.map_or(0, |slept| slept.spun_ns));
            }
        }
        self.deliver(self.time.now())
    }

    /// The next period if it is already due, without waiting. For loops that also wait for something else.
    ///
    /// Cost: one clock read.
    ///
    /// ```
    /// let mut pacer = oversleep::Pacer::every(std::time::Duration::from_secs(86_400));
    /// assert_eq!(pacer.poll(), None);
    /// ```
    pub fn poll(&mut self) -> Option<Beat> {
        let now = self.time.now();
        (now >= self.next_deadline()).then(|| self.deliver(now))
    }

    fn deliver(&mut self, now: Instant) -> Beat {
        let latest = self.grid.latest(now).unwrap_or(0).max(self.next);
        let behind = latest - self.next;
        let missed = match self.policy {
            Missed::CatchUp => behind.saturating_sub(self.catch_up_max - 1),
            Missed::Skip | Missed::Delay => behind,
        };
        let period = self.next + missed;
        let deadline = self.grid.deadline(period);
        self.missed += missed;
        self.next = period.saturating_add(1);
        if self.policy == Missed::Delay && missed > 0 {
            // This period number is due now, so that the next one follows after a whole period.
            self.grid.start_ns += now.as_nanos().saturating_sub(deadline.as_nanos());
        }
        let lateness_ns = now.as_nanos().saturating_sub(deadline.as_nanos());
        if let Some(statistics) = self.statistics.as_deref_mut() {
            statistics.add_lateness(lateness_ns);
            statistics.add_missed(missed);
        }
        Beat { period, deadline, lateness_ns, missed }
    }

    /// When the next period is due.
    ///
    /// ```
    /// let pacer = oversleep::Pacer::per_second(10);
    /// assert_eq!(pacer.next_deadline(), pacer.deadline_of(1));
    /// ```
    pub fn next_deadline(&self) -> Instant {
        self.grid.deadline(self.next)
    }

    /// When the given period is due, counted from the start.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// let pacer = oversleep::Pacer::per_second(3);
    /// assert_eq!(pacer.deadline_of(2), pacer.start() + Duration::from_nanos(666_666_666));
    /// ```
    pub fn deadline_of(&self, period: u64) -> Instant {
        self.grid.deadline(period)
    }

    /// The start of the grid: the deadline of period 0, which is never delivered.
    ///
    /// ```
    /// let pacer = oversleep::Pacer::per_second(3);
    /// assert_eq!(pacer.start(), pacer.deadline_of(0));
    /// ```
    pub fn start(&self) -> Instant {
        self.grid.deadline(0)
    }

    /// How many periods were skipped since the start. Added to the delivered ones, they make all periods that have
    /// passed.
    ///
    /// ```
    /// let mut pacer = oversleep::Pacer::per_second(1_000);
    /// let beat = pacer.wait();
    /// assert_eq!(pacer.missed() + 1, beat.period);
    /// ```
    pub fn missed(&self) -> u64 {
        self.missed
    }
}

#[cfg(test)]
mod tests;
