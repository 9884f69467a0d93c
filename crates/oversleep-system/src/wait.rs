//! Waits: every primitive that ends at a time, described and callable.

use oversleep_record::{Nanos, Unavailable};

use super::SharedPlatform;
use super::catalogue::worded;

worded! {
    /// The kind of a call.
    pub enum Family {
        /// Does nothing but wait.
        Sleep = "sleep",
        /// Waits for file descriptors or sockets, with a timeout.
        Poll = "poll",
        /// Waits for another thread, with a timeout.
        Lock = "lock",
        /// Arms a timer and waits for its notification.
        Timer = "timer",
        /// Waits for a message or signal, with a timeout.
        Message = "message",
        /// Spends CPU time until the deadline.
        Spin = "spin",
        /// Yields the CPU to another thread; has no deadline.
        Yield = "yield",
    }
    /// The name in tables.
    pub const fn name
}

/// The unit of the argument, and the rounding of requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Granularity {
    /// Smallest step of the argument.
    pub step: Nanos,
    /// Whether a request between two steps is rounded up, as in every system call here, so that it is never early.
    pub rounds_up: bool,
    /// Whether a rounded-down request is at least one step, as in some runtimes; otherwise a short one becomes zero.
    pub is_a_step_at_least: bool,
}

impl Granularity {
    /// Whole nanoseconds.
    pub const NANOSECOND: Granularity = Granularity { step: Nanos(1), rounds_up: true, is_a_step_at_least: true };
    /// Whole microseconds, rounded up.
    pub const MICROSECOND: Granularity = Granularity { step: Nanos(1_000), rounds_up: true, is_a_step_at_least: true };
    /// Whole milliseconds, rounded up.
    pub const MILLISECOND: Granularity =
        Granularity { step: Nanos(1_000_000), rounds_up: true, is_a_step_at_least: true };
    /// Whole milliseconds, rounded down.
    pub const MILLISECOND_DOWN: Granularity = Granularity { rounds_up: false, ..Granularity::MILLISECOND };

    /// Whole units of 100 ns, rounded up: the unit of the Windows kernel.
    pub const HUNDRED_NS: Granularity = Granularity { step: Nanos(100), rounds_up: true, is_a_step_at_least: true };

    /// The request after rounding.
    #[inline]
    pub fn rounded(&self, requested: Nanos) -> Nanos {
        if self.rounds_up {
            requested.round_up_to(self.step)
        } else {
            let least = if self.is_a_step_at_least { self.step } else { Nanos::ZERO };
            requested.round_down_to(self.step).max(least)
        }
    }
}

/// The form of a call's end time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// A span that begins with the call.
    Span,
    /// A point in time on the reference clock.
    Deadline,
    /// A point in time on the wall clock: setting that clock during the wait moves its end.
    TimeOfDay,
    /// None: the call has no end of its own.
    Nothing,
}

impl Takes {
    /// Whether it is a point in time.
    pub fn is_absolute(self) -> bool {
        matches!(self, Takes::Deadline | Takes::TimeOfDay)
    }
}

worded! {
    /// What an argument of zero does.
    pub enum ZeroMeans {
        /// Returns at once.
        ReturnsAtOnce = "returns at once",
        /// Sleeps nevertheless, as briefly as the call can: through the timer slack on Linux, 10 ms for `SetTimer`.
        SleepsShortest = "sleeps as briefly as it can",
        /// Yields the CPU and returns.
        Yields = "yields",
        /// Disarms the timer: waiting for it then never ends.
        Disarms = "disarms: never ends",
        /// Waits forever.
        WaitsForEver = "waits forever",
        /// The call takes no duration.
        NoArgument = "takes no duration",
    }
    /// In a few words for tables.
    pub const fn words
}

worded! {
    /// The deliberate delay of the system that applies.
    pub enum SlackRule {
        ThreadSlack = "thread's slack", "the thread's timer slack: 50 µs unless changed";
        ThreadSlackOrShare = "thread's slack, or 0.1 % of the timeout",
            "the larger of the thread's timer slack and a share of the timeout: 0.1 %, 0.5 % for a positive nice value, \
             at most 100 ms";
        None = "none", "none: a timer of its own, whatever the slack or the timer resolution";
        Tick = "next tick", "the scheduler's tick: rounded up to ticks, whatever the slack";
        TimerResolution = "next timer interrupt",
            "the timer interrupt: the next one at the timer resolution that the process has";
        ClassShare = "a share by service class",
            "a share of the request up to a cap, which the thread's latency tier decides";
        KernelShare = "a share, whatever the class",
            "a share of the request up to a cap, the same for every thread: the kernel makes the wait itself";
        NoTimer = "no timer", "no timer";
        OfItsWaits = "as the waits it makes",
            "as the waits that it makes; where a thread has timer slack, it lowers it meanwhile";
    }
    /// In a few words for tables.
    pub const fn words
    /// In full, for documents.
    pub const fn rule
}

/// The longest span that 32 bits hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Longest {
    /// Milliseconds without a sign, of which the largest number means no end.
    U32Millis,
    /// Milliseconds with a sign.
    I32Millis,
    /// Microseconds without a sign.
    U32Micros,
}

impl Longest {
    /// That span.
    pub const fn span(self) -> Nanos {
        match self {
            Longest::U32Millis => Nanos::from_millis(u32::MAX as i64 - 1),
            Longest::I32Millis => Nanos::from_millis(i32::MAX as i64),
            Longest::U32Micros => Nanos::from_micros(u32::MAX as i64),
        }
    }

    /// As a clause about the call.
    pub const fn words(self) -> &'static str {
        match self {
            Longest::U32Millis => "takes 32 bits of milliseconds, 49.7 days at most",
            Longest::I32Millis => "takes 32 bits of milliseconds with a sign, 24.8 days at most",
            Longest::U32Micros => "takes 32 bits of microseconds, 71.5 minutes at most",
        }
    }
}

/// Tolerances to compare for timers of Windows: none, one default tick of 15.6 ms, two, and the vendor's recommendation.
/// <https://learn.microsoft.com/windows-hardware/drivers/ddi/wdm/nf-wdm-kesetcoalescabletimer>, remarks.
pub const TICK_TOLERANCES: [Nanos; 4] =
    [Nanos::ZERO, Nanos::from_millis(16), TWO_TICKS_TOLERANCE, Nanos::from_millis(100)];

/// The smallest tolerance that the vendor recommends, two default ticks; the wait with a tolerance has this one.
pub const TWO_TICKS_TOLERANCE: Nanos = Nanos::from_millis(32);

/// The description of a wait. Those of every system are in [`crate::waits`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitInfo {
    /// Registry name, as typed on the command line: `nanosleep`, `epoll-wait`.
    pub name: &'static str,
    /// The call as a programmer writes it.
    pub call: &'static str,
    /// One or two sentences about its users and its pitfalls.
    pub doc: &'static str,
    /// The kind of call.
    pub family: Family,
    /// The form of its end time.
    pub takes: Takes,
    /// Unit and rounding of its argument.
    pub granularity: Granularity,
    /// The meaning of zero.
    pub zero: ZeroMeans,
    /// The longest span that its argument holds, if that is less than programs may mean.
    pub longest: Option<Longest>,
    /// The deliberate delay that applies.
    pub slack: SlackRule,
    /// Version of the system that introduced it.
    pub since: &'static str,
    /// The vendor's page.
    pub page: &'static str,
    /// Whether modelled machines of its system have it.
    pub is_modelled: bool,
}

impl WaitInfo {
    /// The base of descriptions: a relative wait in whole nanoseconds that a model has and whose zero returns at once,
    /// without texts.
    pub const BLANK: WaitInfo = WaitInfo {
        name: "",
        call: "",
        doc: "",
        family: Family::Sleep,
        takes: Takes::Span,
        granularity: Granularity::NANOSECOND,
        zero: ZeroMeans::ReturnsAtOnce,
        longest: None,
        slack: SlackRule::None,
        since: "",
        page: "",
        is_modelled: true,
    };

    /// The request after rounding, which is what the call is given: models and real calls share this rule.
    #[inline]
    pub fn rounded(&self, requested: Nanos) -> Nanos {
        self.granularity.rounded(requested)
    }

    /// The argument of its call and its unit, in words: `a span in ms, rounded up`; `nothing` for a yield.
    pub fn takes_words(&self) -> String {
        let what = match self.takes {
            Takes::Span => "a span",
            Takes::Deadline => "a deadline",
            Takes::TimeOfDay => "a time of day",
            Takes::Nothing => return "nothing".to_owned(),
        };
        let unit = match self.granularity.step.0 {
            1 => return format!("{what} in ns"),
            1_000 => "µs",
            1_000_000 => "ms",
            _ => &format!("units of {}", self.granularity.step),
        };
        format!("{what} in {unit}, rounded {}", if self.granularity.rounds_up { "up" } else { "down" })
    }

    /// Whether it has a deadline (a yield has none).
    pub fn is_timed(&self) -> bool {
        self.takes != Takes::Nothing
    }

    /// Whether the system programs its timer exactly, without a deliberate delay.
    pub const fn ignores_slack(&self) -> bool {
        matches!(self.slack, SlackRule::None)
    }

    /// Whether it ends at a tick: the scheduler's or the timer interrupt's.
    pub const fn ends_at_tick(&self) -> bool {
        matches!(self.slack, SlackRule::Tick | SlackRule::TimerResolution)
    }
}

/// The end of a wait, in two forms: for relative and for absolute primitives.
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
    /// By a signal or a spurious wake-up.
    Interrupted,
    /// The call failed.
    Failed(Unavailable),
}

/// One timed wait of one platform.
pub trait Wait: Send + Sync {
    /// Its description.
    fn info(&self) -> &WaitInfo;

    /// The rule by which it would end now for such a span in the calling thread, in a sentence. Only models know
    /// theirs.
    fn rule(&self, _requested: Nanos) -> Option<String> {
        None
    }

    /// Why the call takes no such span on that platform, in a sentence.
    fn refuses(&self, _platform: &SharedPlatform, requested: Nanos) -> Option<String> {
        let info = self.info();
        let longest = info.longest.filter(|longest| requested > longest.span())?;
        Some(format!("{} {}", info.call, longest.words()))
    }

    /// Opens what the calls need (a descriptor, a lock) for the calling thread, and checks that the call works.
    ///
    /// # Errors
    /// Why it can't be used here.
    fn open(&self, platform: &SharedPlatform) -> Result<Box<dyn Waiter>, Unavailable>;

    /// Tolerances worth comparing that the call accepts, none first; empty if it accepts none.
    fn tolerances_to_compare(&self) -> Vec<Nanos> {
        Vec::new()
    }

    /// Like [`Wait::open`], with a tolerated delay: the system may delay the wait by up to this, to end several timers
    /// together.
    ///
    /// # Errors
    /// Why it can't be used here, or that the call takes no tolerance.
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
        assert_eq!(Granularity::MILLISECOND.rounded(Nanos(300_000)), Nanos(1_000_000));
        assert_eq!(Granularity::MILLISECOND.rounded(Nanos(1_000_000)), Nanos(1_000_000));
        assert_eq!(Granularity::NANOSECOND.rounded(Nanos(1)), Nanos(1));
        let down = Granularity::MILLISECOND_DOWN;
        assert_eq!([1, 1_999_999].map(|ns| down.rounded(Nanos(ns))), [Nanos(1_000_000); 2]);
    }
}
