//! Waits: every primitive that ends at a time, described and callable.

use oversleep_record::{Nanos, Unavailable};

use super::SharedPlatform;

/// What kind of call it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// Does nothing but wait.
    Sleep,
    /// Waits for file descriptors or sockets, with a timeout.
    Poll,
    /// Waits for another thread, with a timeout.
    Lock,
    /// Arms a timer and waits for its notice.
    Timer,
    /// Waits for a message or signal, with a timeout.
    Message,
    /// Spends CPU time until the deadline.
    Spin,
    /// Gives the CPU to another thread; has no deadline.
    Yield,
}

/// The unit of the argument and what happens to what doesn't fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Granularity {
    /// Smallest step of the argument.
    pub step: Nanos,
    /// Whether a request between two steps is rounded up (what our call does, so as never to be early) or the
    /// primitive itself rounds down.
    pub rounds_up: bool,
}

impl Granularity {
    /// Whole nanoseconds.
    pub const NANOSECOND: Granularity = Granularity { step: Nanos(1), rounds_up: true };
    /// Whole microseconds, rounded up.
    pub const MICROSECOND: Granularity = Granularity { step: Nanos(1_000), rounds_up: true };
    /// Whole milliseconds, rounded up.
    pub const MILLISECOND: Granularity = Granularity { step: Nanos(1_000_000), rounds_up: true };

    /// What the system is asked for such a request.
    pub fn asked(&self, requested: Nanos) -> Nanos {
        if self.rounds_up { requested.round_up_to(self.step) } else { requested.round_down_to(self.step) }
    }
}

/// What an argument of zero does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ZeroMeans {
    /// Returns at once.
    ReturnsAtOnce,
    /// Sleeps nevertheless, through the system's deliberate delay (timer slack): the shortest sleep there is.
    SleepsSlack,
    /// Gives the CPU away and returns.
    Yields,
    /// Disarms the timer: waiting for it then never ends.
    Disarms,
    /// Waits for ever.
    WaitsForEver,
    /// It takes no duration.
    NoArgument,
}

/// Which of the system's deliberate delays applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlackRule {
    /// The thread's timer slack.
    ThreadSlack,
    /// The larger of the thread's slack and a share of the timeout (0.1 %, 0.5 % for a positive nice value).
    ThreadSlackOrShare,
    /// None: the timer is programmed exactly.
    None,
    /// The scheduler's tick decides (timer wheel, jiffies).
    Tick,
    /// The timer interrupt decides, whose period a program can shorten by a request.
    TimerResolution,
    /// A share of the request that the thread's service class decides, up to a cap.
    ClassShare,
    /// No timer is involved.
    NoTimer,
}

/// Delays that timers of Windows are compared with: none, one default tick of 15.6 ms, two, and what its vendor recommends.
/// <https://learn.microsoft.com/windows-hardware/drivers/ddi/wdm/nf-wdm-kesetcoalescabletimer>, remarks.
pub const TICK_TOLERANCES: [Nanos; 4] =
    [Nanos::ZERO, Nanos::from_millis(16), Nanos::from_millis(32), Nanos::from_millis(100)];

/// What is known of a wait before it is called.
#[derive(Clone, Debug)]
pub struct WaitInfo {
    /// Registry name, as typed on the command line: `nanosleep`, `epoll-wait`.
    pub name: &'static str,
    /// The call as a programmer writes it.
    pub call: &'static str,
    /// One or two sentences: who uses it and what to beware of.
    pub doc: &'static str,
    /// What kind of call.
    pub family: Family,
    /// Whether it takes a point in time instead of a span.
    pub absolute: bool,
    /// Unit and rounding of its argument.
    pub granularity: Granularity,
    /// What zero means.
    pub zero: ZeroMeans,
    /// Which deliberate delay applies.
    pub slack: SlackRule,
    /// Version of the system that introduced it.
    pub since: &'static str,
    /// The vendor's page.
    pub page: &'static str,
}

impl WaitInfo {
    /// What the system is asked for such a request.
    pub fn asked(&self, requested: Nanos) -> Nanos {
        self.granularity.asked(requested)
    }

    /// Whether it has a deadline (a yield has none).
    pub fn is_timed(&self) -> bool {
        self.family != Family::Yield
    }
}

/// When a wait shall end: the same moment said twice, for relative and for absolute primitives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    /// From now, above zero; a relative primitive rounds it by its granularity.
    pub remaining: Nanos,
    /// On the reference clock ([`super::Platform::now`]).
    pub deadline: Nanos,
}

/// How a wait ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WaitEnd {
    /// By its timer (or, for a yield, at all).
    TimedOut,
    /// By a signal or a stray wake-up.
    Interrupted,
    /// The call failed.
    Failed(Unavailable),
}

/// One timed wait of one platform.
pub trait Wait: Send + Sync {
    /// What is known of it.
    fn info(&self) -> &WaitInfo;

    /// The rule by which it ends now that is asked for such a span by the calling thread, in a sentence. Models know
    /// theirs; a real system doesn't tell.
    fn rule(&self, _requested: Nanos) -> Option<String> {
        None
    }

    /// Opens what the calls need (a descriptor, a lock) for the calling thread, and proves that the call works.
    ///
    /// # Errors
    /// Why it can't be used here.
    fn open(&self, platform: &SharedPlatform) -> Result<Box<dyn Waiter>, Unavailable>;

    /// Delays worth measuring side by side that the call can be told to tolerate, none first; empty where it takes none.
    fn tolerances_to_compare(&self) -> Vec<Nanos> {
        Vec::new()
    }

    /// As [`Wait::open`], with a delay that is tolerated: the system may add up to it, to end several timers together.
    ///
    /// # Errors
    /// Why it can't be used here, or that the call takes no such thing.
    fn open_tolerating(&self, platform: &SharedPlatform, tolerance: Nanos) -> Result<Box<dyn Waiter>, Unavailable> {
        let _ = (platform, tolerance);
        Err(Unavailable::NotOnThisPlatform)
    }
}

/// A wait opened by one thread. Everything it holds is released on drop.
pub trait Waiter {
    /// Waits once.
    fn wait(&mut self, target: Target) -> WaitEnd;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn milliseconds_round_up_and_nanoseconds_stay() {
        assert_eq!(Granularity::MILLISECOND.asked(Nanos(300_000)), Nanos(1_000_000));
        assert_eq!(Granularity::MILLISECOND.asked(Nanos(1_000_000)), Nanos(1_000_000));
        assert_eq!(Granularity::NANOSECOND.asked(Nanos(1)), Nanos(1));
        let down = Granularity { step: Nanos(1_000_000), rounds_up: false };
        assert_eq!(down.asked(Nanos(1_999_999)), Nanos(1_000_000));
    }
}
