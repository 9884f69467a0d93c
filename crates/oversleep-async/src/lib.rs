//! Sleeps and intervals for async code. The futures are here and in `interval`; the thread that wakes them is in `timer`.
#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod interval;
mod timer;

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use oversleep::clock::monotonic_ns;
use oversleep::{Clock, Instant};

pub use interval::{Interval, interval, interval_of};

/// The longest lead with which [`Sleep::exactly`] has its task woken, and so the longest spin of its last poll.
const LEAD_MAX_NS: u64 = 60_000;

/// Sleeps for at least `duration` from now on.
///
/// ```
/// use oversleep::Instant;
/// use std::time::Duration;
///
/// # oversleep_async::doc::block_on(async {
/// let start = Instant::now();
/// oversleep_async::sleep(Duration::from_micros(300)).await;
/// assert!(start.elapsed() >= Duration::from_micros(300));
/// # });
/// ```
pub fn sleep(duration: Duration) -> Sleep {
    sleep_until(Clock::now_ordered().saturating_add(duration))
}

/// Sleeps until `deadline`, and never less.
///
/// ```
/// use oversleep::Instant;
/// use std::time::Duration;
///
/// # oversleep_async::doc::block_on(async {
/// let deadline = Instant::now() + Duration::from_micros(300);
/// oversleep_async::sleep_until(deadline).await;
/// assert!(Instant::now() >= deadline);
/// # });
/// ```
pub fn sleep_until(deadline: Instant) -> Sleep {
    Sleep { deadline, entry: None, is_exact: false }
}

/// A sleep. Made by [`sleep`] and [`sleep_until`].
///
/// The first use in a process starts a thread that waits for deadlines.
///
/// # Panics
///
/// If that thread can't be started. A child created by `fork` doesn't have it.
///
/// ```
/// # oversleep_async::doc::block_on(async {
/// let mut sleep = std::pin::pin!(oversleep_async::sleep(std::time::Duration::ZERO));
/// sleep.as_mut().await;
/// # });
/// ```
#[must_use = "a future does nothing unless it is awaited"]
#[derive(Debug)]
pub struct Sleep {
    deadline: Instant,
    entry: Option<timer::Entry>,
    is_exact: bool,
}

impl Sleep {
    /// When it ends.
    ///
    /// ```
    /// let deadline = oversleep::Instant::now();
    /// assert_eq!(oversleep_async::sleep_until(deadline).deadline(), deadline);
    /// ```
    pub fn deadline(&self) -> Instant {
        self.deadline
    }

    /// Whether its deadline has passed.
    ///
    /// ```
    /// assert!(oversleep_async::sleep_until(oversleep::Instant::now()).is_over());
    /// ```
    pub fn is_over(&self) -> bool {
        Clock::now() >= self.deadline && monotonic_ns() >= self.deadline.as_nanos()
    }

    /// Ends within a microsecond of the deadline if the executor polls in time. The task is woken up to 60 µs early,
    /// and its last poll spins for the rest. Meanwhile that thread of the executor runs nothing else.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// # oversleep_async::doc::block_on(async {
    /// oversleep_async::sleep(Duration::from_micros(300)).exactly().await;
    /// # });
    /// ```
    pub fn exactly(mut self) -> Self {
        self.is_exact = true;
        self
    }
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let lead_ns = if self.is_exact { LEAD_MAX_NS } else { 0 };
        if self.deadline.nanos_since(Clock::now()) <= lead_ns as i64 {
            while !self.is_over() {
                std::hint::spin_loop();
            }
            self.entry = None;
            return Poll::Ready(());
        }
        let wake_ns = self.deadline.as_nanos() - lead_ns;
        match &mut self.entry {
            Some(entry) => entry.renew(context.waker()),
            None => self.entry = Some(timer::wake_at(wake_ns, context.waker())),
        }
        Poll::Pending
    }
}

/// For the examples of this documentation.
#[doc(hidden)]
pub mod doc {
    use std::future::Future;
    use std::pin::pin;
    use std::sync::Arc;
    use std::task::{Context, Poll, Wake};

    use oversleep::{Parker, Unparker};

    struct Thread(Unparker);

    impl Wake for Thread {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }

    /// The simplest executor: one future on the calling thread.
    pub fn block_on<T>(future: impl Future<Output = T>) -> T {
        let parker = Parker::new();
        let waker = Arc::new(Thread(parker.unparker())).into();
        let (mut future, mut context) = (pin!(future), Context::from_waker(&waker));
        loop {
            match future.as_mut().poll(&mut context) {
                Poll::Ready(value) => return value,
                Poll::Pending => parker.park(),
            }
        }
    }
}
