//! A fixed rate for async code.

use std::time::Duration;

use oversleep::{Beat, Missed, Pacer};

use crate::sleep_until;

/// A loop with this period that starts now: the first tick is one period away. Missed periods are skipped and counted;
/// [`Interval::on_missed`] changes that.
///
/// ```
/// use std::time::Duration;
///
/// # oversleep_async::doc::block_on(async {
/// let mut ticks = oversleep_async::interval(Duration::from_micros(300));
/// assert!(ticks.tick().await.period >= 1);
/// # });
/// ```
pub fn interval(period: Duration) -> Interval {
    interval_of(Pacer::every(period))
}

/// A loop on the grid of this pacer, with its policy for missed periods.
///
/// ```
/// use oversleep::Pacer;
///
/// # oversleep_async::doc::block_on(async {
/// let mut frames = oversleep_async::interval_of(Pacer::per_second(2_400));
/// frames.tick().await;
/// # });
/// ```
pub fn interval_of(pacer: Pacer) -> Interval {
    Interval { pacer, is_exact: false }
}

/// A fixed rate. Made by [`interval`] and [`interval_of`].
///
/// ```
/// let interval = oversleep_async::interval(std::time::Duration::from_secs(1));
/// println!("{interval:?}");
/// ```
#[derive(Debug)]
pub struct Interval {
    pacer: Pacer,
    is_exact: bool,
}

impl Interval {
    /// Sets what happens to missed periods.
    ///
    /// ```
    /// use oversleep::Missed;
    ///
    /// let every_one = oversleep_async::interval(std::time::Duration::from_secs(1)).on_missed(Missed::CatchUp);
    /// # drop(every_one);
    /// ```
    pub fn on_missed(mut self, policy: Missed) -> Self {
        self.pacer = self.pacer.on_missed(policy);
        self
    }

    /// Spins at the end of each tick, as [`Sleep::exactly`](crate::Sleep::exactly) does.
    ///
    /// ```
    /// # oversleep_async::doc::block_on(async {
    /// let mut ticks = oversleep_async::interval(std::time::Duration::from_micros(300)).exactly();
    /// ticks.tick().await;
    /// # });
    /// ```
    pub fn exactly(mut self) -> Self {
        self.is_exact = true;
        self
    }

    /// Waits for the next period. Returns which one was delivered, how late, and what was missed. If the future is
    /// dropped before it is ready, no period is lost.
    ///
    /// ```
    /// # oversleep_async::doc::block_on(async {
    /// let beat = oversleep_async::interval(std::time::Duration::from_micros(300)).tick().await;
    /// println!("{} ns late", beat.lateness_ns);
    /// # });
    /// ```
    pub async fn tick(&mut self) -> Beat {
        loop {
            let sleep = sleep_until(self.pacer.next_deadline());
            if self.is_exact {
                sleep.exactly().await
            } else {
                sleep.await
            }
            if let Some(beat) = self.pacer.poll() {
                return beat;
            }
        }
    }
}
