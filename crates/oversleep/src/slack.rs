//! This thread's timer slack: how much later than asked the kernel may end a wait, so as to share wake-ups.
//!
//! Linux gives every ordinary thread 50 µs of slack by default, and real-time threads none. Only reading and holding
//! the slack lives here.

use std::marker::PhantomData;
use std::time::Duration;

use crate::outcome::{Denied, Outcome, Why};
use crate::sys;

/// The calling thread's timer slack (Linux; elsewhere every call is [`Denied`] with a reason).
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
    pub fn current() -> Result<Duration, Denied> {
        sys::timer_slack_ns().map(Duration::from_nanos)
    }

    /// Sets the calling thread's timer slack until the guard is dropped. Three system calls now, one on drop.
    ///
    /// The slack is set exactly, be it finer or coarser than the present one. The finest is 1 ns, and zero is taken
    /// as that: to the kernel zero means "back to the default". Guards of one thread must be dropped in the reverse
    /// order of their making, as scopes do by themselves.
    ///
    /// The guard exists whatever happened; [`TimerSlackGuard::outcome`] says what did.
    pub fn hold(slack: Duration) -> TimerSlackGuard {
        let asked_ns = u64::try_from(slack.as_nanos()).unwrap_or(u64::MAX).clamp(1, i64::MAX as u64);
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
