//! A fixed-rate loop on absolute deadlines: no drift, and every period accounted for.
//!
//! Only the arithmetic of periods is here; the sleeper does the waiting.

use std::time::Duration;

use crate::clock::{Clock, Instant};
use crate::sleep::Sleeper;

/// What a [`Pacer`] does about whole periods that passed before you called it again.
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
    /// period, such as producing samples.
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
pub struct Pacer {
    grid: Grid,
    /// The next period to deliver; period 0 is the start itself.
    next: u64,
    missed: u64,
    policy: Missed,
    sleeper: Sleeper,
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

/// `start + k × seconds_ns / per_second` in exact integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Grid {
    start_ns: u64,
    /// The period is `span_ns / parts` nanoseconds.
    span_ns: u64,
    parts: u64,
}

impl Grid {
    fn deadline(&self, period: u64) -> Instant {
        // The product of two 64-bit numbers leaves room in 128 bits to add two more of them.
        let offset_ns = u128::from(period) * u128::from(self.span_ns) / u128::from(self.parts);
        Instant::from_nanos(u64::try_from(u128::from(self.start_ns) + offset_ns).unwrap_or(u64::MAX))
    }

    /// The latest period that is due at `now`, or `None` before the start.
    fn latest(&self, now: Instant) -> Option<u64> {
        let since_ns = now.as_nanos().checked_sub(self.start_ns)?;
        // The largest k with floor(k × span / parts) ≤ since.
        let bound = (u128::from(since_ns) + 1) * u128::from(self.parts);
        Some(u64::try_from((bound - 1) / u128::from(self.span_ns)).unwrap_or(u64::MAX))
    }
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
        Self::on_grid(Grid { start_ns: Clock::now().as_nanos(), span_ns, parts: 1 })
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
        Self::on_grid(Grid { start_ns: Clock::now().as_nanos(), span_ns: 1_000_000_000, parts })
    }

    fn on_grid(grid: Grid) -> Self {
        Self { grid, next: 1, missed: 0, policy: Missed::default(), sleeper: Sleeper::new() }
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
        self.sleeper.sleep_until(self.next_deadline());
        self.deliver(Clock::now())
    }

    /// The next period if it is already due, without waiting. For loops that also wait for something else.
    ///
    /// Cost: one clock read.
    ///
    /// ```
    /// let mut pacer = oversleep::Pacer::every(std::time::Duration::from_secs(3600));
    /// assert_eq!(pacer.poll(), None);
    /// ```
    pub fn poll(&mut self) -> Option<Beat> {
        let now = Clock::now();
        (now >= self.next_deadline()).then(|| self.deliver(now))
    }

    fn deliver(&mut self, now: Instant) -> Beat {
        let latest = self.grid.latest(now).unwrap_or(0).max(self.next);
        let behind = latest - self.next;
        let missed = if self.policy == Missed::CatchUp { 0 } else { behind };
        let period = self.next + missed;
        let deadline = self.grid.deadline(period);
        self.missed += missed;
        self.next = period.saturating_add(1);
        if self.policy == Missed::Delay && missed > 0 {
            // This period number is due now, so that the next one follows after a whole period.
            self.grid.start_ns += now.as_nanos().saturating_sub(deadline.as_nanos());
        }
        Beat { period, deadline, lateness_ns: now.as_nanos().saturating_sub(deadline.as_nanos()), missed }
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
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn pacer(span_ns: u64, parts: u64, policy: Missed) -> Pacer {
        Pacer::on_grid(Grid { start_ns: 1_000, span_ns, parts }).on_missed(policy)
    }

    fn at(ns: u64) -> Instant {
        Instant::from_nanos(ns)
    }

    #[test]
    fn a_rate_that_does_not_divide_a_second_does_not_drift() {
        let pacer = pacer(1_000_000_000, 144, Missed::Skip);
        assert_eq!(pacer.deadline_of(144 * 3_600), at(1_000 + 3_600 * 1_000_000_000));
    }

    #[test]
    fn skip_delivers_the_latest_and_keeps_the_grid() {
        let mut pacer = pacer(100, 1, Missed::Skip);
        let beat = pacer.deliver(at(1_451));
        assert_eq!(beat, Beat { period: 4, deadline: at(1_400), lateness_ns: 51, missed: 3 });
        assert_eq!((pacer.next_deadline(), pacer.missed()), (at(1_500), 3));
    }

    #[test]
    fn catch_up_delivers_every_period() {
        let mut pacer = pacer(100, 1, Missed::CatchUp);
        let periods: Vec<_> =
            (0..4).map(|_| pacer.deliver(at(1_451))).map(|beat| (beat.period, beat.lateness_ns)).collect();
        assert_eq!(periods, [(1, 351), (2, 251), (3, 151), (4, 51)]);
        assert_eq!((pacer.next_deadline(), pacer.missed()), (at(1_500), 0));
    }

    #[test]
    fn delay_moves_the_grid_only_after_a_miss() {
        let mut pacer = pacer(100, 1, Missed::Delay);
        assert_eq!(pacer.deliver(at(1_150)).missed, 0);
        assert_eq!(pacer.next_deadline(), at(1_200));
        assert_eq!(pacer.deliver(at(1_451)).missed, 2);
        assert_eq!(pacer.next_deadline(), at(1_551));
    }

    #[test]
    fn a_new_start_restarts_a_loop_that_has_run() {
        let mut pacer = pacer(100, 1, Missed::Skip);
        assert_eq!(pacer.deliver(at(1_451)).missed, 3);
        let mut pacer = pacer.starting_at(at(5_000));
        assert_eq!((pacer.next_deadline(), pacer.missed()), (at(5_100), 0));
        assert_eq!(pacer.deliver(at(5_101)), Beat { period: 1, deadline: at(5_100), lateness_ns: 1, missed: 0 });
    }

    #[test]
    fn absurd_periods_are_clamped() {
        assert_eq!(Pacer::every(Duration::MAX).next_deadline(), at(u64::MAX));
        let shortest = Pacer::every(Duration::ZERO);
        assert_eq!(shortest.next_deadline().nanos_since(shortest.start()), 1);
        let slowest = Pacer::per_second(0);
        assert_eq!(slowest.next_deadline().nanos_since(slowest.start()), 1_000_000_000);
    }

    #[test]
    fn nothing_is_due_before_its_time() {
        let mut pacer = Pacer::every(Duration::from_secs(3_600));
        assert_eq!(pacer.poll(), None);
        let mut pacer = Pacer::every(Duration::from_nanos(1)).starting_at(at(0));
        assert!(pacer.poll().is_some());
    }

    #[test]
    fn waiting_does_not_end_before_the_deadline() {
        let mut pacer = Pacer::every(Duration::from_micros(300));
        let beat = pacer.wait();
        assert!(Clock::now() >= beat.deadline && beat.period >= 1);
    }

    proptest! {
        /// Whatever the pauses, every period is delivered or counted as missed, never twice and never early.
        #[test]
        fn every_period_is_accounted_for(
            span_ns in 1_u64..2_000_000_000,
            parts in 1_u64..1_000,
            skip: bool,
            pauses in proptest::collection::vec(0_u64..5_000_000_000, 1..60),
        ) {
            let policy = if skip { Missed::Skip } else { Missed::CatchUp };
            let mut pacer = pacer(span_ns, parts, policy);
            let (mut now, mut delivered, mut last) = (at(1_000), 0, 0);
            for pause_ns in pauses {
                now = now.max(pacer.next_deadline()) + Duration::from_nanos(pause_ns);
                let beat = pacer.deliver(now);
                delivered += 1;
                prop_assert!(beat.period > last && beat.deadline <= now);
                prop_assert_eq!(beat.period, delivered + pacer.missed());
                prop_assert_eq!(beat.deadline, pacer.deadline_of(beat.period));
                if skip {
                    prop_assert!(pacer.next_deadline() > now);
                }
                last = beat.period;
            }
        }

        #[test]
        fn the_latest_period_is_due_and_the_next_is_not(
            span_ns in 1_u64..1 << 40, parts in 1_u64..1_000_000, since_ns in 0_u64..1 << 60,
        ) {
            let grid = Grid { start_ns: 5, span_ns, parts };
            let latest = grid.latest(at(5 + since_ns)).unwrap();
            prop_assert!(grid.deadline(latest) <= at(5 + since_ns));
            prop_assert!(latest == u64::MAX || grid.deadline(latest + 1) > at(5 + since_ns));
        }
    }
}
