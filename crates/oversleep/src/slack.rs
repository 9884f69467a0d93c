//! This thread's timer slack: how much later than asked the kernel may end a wait, so as to share wake-ups.
//!
//! Linux gives every ordinary thread 50 µs of slack by default, and real-time threads none. Only reading and holding
//! the slack lives here.

use std::marker::PhantomData;
use std::time::Duration;

use crate::outcome::{Denied, Outcome, Why};
use crate::sys;

/// The longest slack that is asked for: the kernel's number is a `long` without a sign, and the answer to a longer one
/// could be taken for an error.
const LONGEST_NS: u64 = isize::MAX as u64;

/// The calling thread's timer slack (Linux; elsewhere every call is [`Denied`] with a reason).
///
/// Threads and processes that this thread starts inherit the slack it has at that moment, for good: it becomes their
/// *default*, too, so that nothing gives them the former one but setting it. Programs keep it over `execve`. Start them
/// before a slack is held, or let them set their own.
///
/// ```
/// use oversleep::TimerSlack;
/// use std::time::Duration;
///
/// let held = TimerSlack::hold(Duration::from_nanos(1));
/// println!("timer slack: {}", held.outcome());
/// // ... waits in this thread end without 50 µs of slack ...
/// drop(held); // the former slack is back
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
    /// [`Denied`] where the system has no timer slack, or a sandbox forbids reading it.
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
    /// The slack is set exactly, be it finer or coarser than the present one. The finest is 1 ns, and zero is taken
    /// as that: to the kernel zero means "back to the default". The longest is 292 years, and 2.1 s on 32-bit systems.
    /// Guards of one thread must be dropped in the reverse order of their making, as scopes do by themselves.
    ///
    /// The guard exists whatever happened; [`TimerSlackGuard::outcome`] says what did.
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
        let asked_ns = u64::try_from(slack.as_nanos()).unwrap_or(u64::MAX).clamp(1, LONGEST_NS);
        let outcome = match set(asked_ns) {
            Ok(outcome) => outcome,
            Err(denied) => Outcome::Denied(denied),
        };
        TimerSlackGuard { outcome, of_this_thread: PhantomData }
    }
}

fn set(asked_ns: u64) -> Result<Outcome<Duration>, Denied> {
    let was_ns = sys::timer_slack_ns()?;
    if was_ns == 0 || was_ns == asked_ns {
        // Under a real-time policy the kernel ignores the change, and writing 0 back could not restore it.
        return Ok(Outcome::AlreadyFiner { is: Duration::from_nanos(was_ns) });
    }
    sys::set_timer_slack_ns(asked_ns)?;
    match sys::timer_slack_ns() {
        Ok(now_ns) if now_ns == asked_ns => {
            Ok(Outcome::Applied { was: Duration::from_nanos(was_ns), now: Duration::from_nanos(now_ns) })
        }
        read_back => {
            // Emulators narrow the number to 32 bits (qemu-user 7.2), sandboxes fake the call. Without a guard nobody else
            // would take back what has been set.
            let _ = sys::set_timer_slack_ns(was_ns);
            read_back?;
            Err(Denied {
                why: Why::Ignored { call: "prctl(PR_SET_TIMERSLACK)" },
                how: "look for an emulator or a sandbox that changes the numbers of prctl",
            })
        }
    }
}

/// Holds a timer slack for the thread that made it and puts the former value back on drop, also while a panic unwinds.
///
/// It cannot leave its thread:
///
/// ```compile_fail
/// fn send<T: Send>(_: T) {}
/// send(oversleep::TimerSlack::hold(std::time::Duration::from_nanos(1)));
/// ```
#[must_use = "the former slack is put back as soon as this is dropped"]
#[derive(Debug)]
pub struct TimerSlackGuard {
    outcome: Outcome<Duration>,
    of_this_thread: PhantomData<*const ()>,
}

impl TimerSlackGuard {
    /// What became of the request.
    ///
    /// ```
    /// let held = oversleep::TimerSlack::hold(std::time::Duration::from_nanos(1));
    /// if let Some(denied) = held.outcome().denied() {
    ///     println!("waits end by the slack later here: {denied}");
    /// }
    /// ```
    pub fn outcome(&self) -> &Outcome<Duration> {
        &self.outcome
    }
}

impl Drop for TimerSlackGuard {
    fn drop(&mut self) {
        if let Outcome::Applied { was, .. } = self.outcome {
            // `was` came from this thread as a u64 other than zero. A sandbox entered meanwhile can forbid the way
            // back; drop has nobody to tell, and `TimerSlack::current` still shows the truth.
            let _ = sys::set_timer_slack_ns(was.as_nanos() as u64);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_slack_there_is_comes_back() {
        // An emulator of user mode passes on 31 bits of the kernel's number.
        if std::env::var_os("OVERSLEEP_TEST_RUNNER").is_some() {
            return;
        }
        std::thread::spawn(|| {
            // Beyond the signed numbers: another part of the program may have set it.
            let longest = Duration::from_nanos(u64::MAX - 5_000);
            if TimerSlack::current().is_err() || usize::BITS < 64 {
                return;
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
