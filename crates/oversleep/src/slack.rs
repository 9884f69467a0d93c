//! The calling thread's timer slack: how much later than requested the kernel may end a wait, to combine wake-ups.
//!
//! By default Linux gives every ordinary thread 50 µs of slack and real-time threads none. On macOS a thread has a latency
//! tier instead.

use std::time::Duration;

use crate::claims::{Guard, Slack};
use crate::outcome::{Denied, Outcome};
use crate::sys;

/// The longest slack that this library requests. The kernel's number is an unsigned `long`, and a longer slack would
/// read back as an error.
const LONGEST_NS: u64 = isize::MAX as u64;

/// The calling thread's timer slack (Linux and macOS; elsewhere every call is [`Denied`] with a reason).
///
/// On macOS the slack is the longest time by which the thread's latency tier postpones a wait: 1, 5, 20 or 75 ms or 10
/// s. A requested slack selects the coarsest tier that postpones waits for no longer, and at least tier 0, which
/// postpones them for an eighth of their duration and at most 1 ms. Meanwhile the thread is out of its service class.
/// Tiers are not inherited. A thread without a tier, whose service class decides, reads as 5.000001 ms.
///
/// On Linux, threads and processes inherit the slack of the thread that starts them, permanently: it becomes their
/// *default* as well, so only setting the former value brings it back. It survives `execve`. Start them before you hold
/// a slack, or let them set their own.
///
/// ```
/// use oversleep::TimerSlack;
/// use std::time::Duration;
///
/// let held = TimerSlack::hold(Duration::from_nanos(1));
/// println!("timer slack: {}", held.outcome());
/// // ... waits in this thread end without 50 µs of slack ...
/// drop(held); // restores the former slack
/// ```
#[derive(Debug)]
pub struct TimerSlack;

impl TimerSlack {
    /// The calling thread's timer slack. One system call, about 0.1 µs.
    ///
    /// Zero means that the thread runs under a real-time policy, which has no slack.
    ///
    /// # Errors
    ///
    /// [`Denied`] if the system has no timer slack or a sandbox forbids reading it.
    ///
    /// ```
    /// match oversleep::TimerSlack::current() {
    ///     Ok(slack) => println!("waits of this thread may end {slack:?} late"),
    ///     Err(denied) => println!("{denied}"),
    /// }
    /// ```
    pub fn current() -> Result<Duration, Denied> {
        sys::timer_slack_ns().map(Duration::from_nanos)
    }

    /// Sets the calling thread's timer slack until the guard is dropped. Three system calls now, one on drop.
    ///
    /// The slack is set exactly, whether finer or coarser than the current one. The finest is 1 ns; zero means 1 ns
    /// too, because the kernel takes zero as "back to the default". The longest is 292 years, or 2.1 s on 32-bit
    /// systems. If a thread holds several, the newest counts. They may be dropped in any order; the last one restores the
    /// slack that the thread had before the first.
    ///
    /// You get a guard even if the system denies the request; [`TimerSlackGuard::outcome`] says which it was.
    ///
    /// ```
    /// use oversleep::TimerSlack;
    /// use std::time::Duration;
    ///
    /// let before = TimerSlack::current();
    /// let held = TimerSlack::hold(Duration::from_micros(5));
    /// println!("{}", held.outcome());
    /// drop(held);
    /// assert_eq!(TimerSlack::current(), before);
    /// ```
    pub fn hold(slack: Duration) -> TimerSlackGuard {
        let requested_ns = u64::try_from(slack.as_nanos()).unwrap_or(u64::MAX).clamp(1, LONGEST_NS);
        let requested_ns = sys::granted_slack_ns(requested_ns);
        TimerSlackGuard(Guard::hold(|_| requested_ns, Err, Duration::from_nanos))
    }
}

/// Holds a timer slack for the thread that created it. Once the thread holds no other, the drop restores the former
/// value, even while a panic unwinds.
///
/// It can't be sent to another thread:
///
/// ```compile_fail
/// fn send<T: Send>(_: T) {}
/// send(oversleep::TimerSlack::hold(std::time::Duration::from_nanos(1)));
/// ```
#[must_use = "the slack is released as soon as this is dropped"]
#[derive(Debug)]
pub struct TimerSlackGuard(Guard<Slack, Duration>);

impl TimerSlackGuard {
    /// The outcome of the request.
    ///
    /// ```
    /// let held = oversleep::TimerSlack::hold(std::time::Duration::from_nanos(1));
    /// if let Some(denied) = held.outcome().denied() {
    ///     println!("waits keep their default slack: {denied}");
    /// }
    /// ```
    pub fn outcome(&self) -> &Outcome<Duration> {
        self.0.outcome()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_possible_slack_is_restored() {
        // A user-mode emulator passes on only 31 bits of the kernel's number.
        if std::env::var_os("OVERSLEEP_TEST_RUNNER").is_some() {
            return oversleep_testing::skip("a user-mode emulator has no slack of more than 31 bits");
        }
        std::thread::spawn(|| {
            // The slack is beyond the range of signed numbers, because another part of the program may have set it so.
            let longest = Duration::from_nanos(u64::MAX - 5_000);
            if TimerSlack::current().is_err() || usize::BITS < 64 {
                return oversleep_testing::skip("no timer slack of 64 bits");
            }
            sys::set_timer_slack_ns(longest.as_nanos() as u64).unwrap();
            assert_eq!(TimerSlack::current(), Ok(longest));
            drop(TimerSlack::hold(Duration::from_nanos(1)));
            assert_eq!(TimerSlack::current(), Ok(longest));
            let _finest = TimerSlack::hold(Duration::from_nanos(1));
            let held = TimerSlack::hold(Duration::MAX);
            assert_eq!(TimerSlack::current(), Ok(Duration::from_nanos(LONGEST_NS)));
            assert!(held.outcome().holds());
        })
        .join()
        .unwrap();
    }
}
