//! One timed wait that has ended: what was requested, why it ended, and where its lateness went.

use serde::{Deserialize, Serialize};

use super::culprit::{Activity, Culprit, IrqCause};
use super::interruption::Interrupted;
use super::period::Between;
use super::stack::{Frames, Stack};
use crate::part::{Part, Parts, Segment};
use crate::units::Nanos;

/// Why a wait ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// Its own timer.
    Timer,
    /// What it waited for happened, or a peer woke it.
    Event,
    /// A signal.
    Signal,
    /// An error, or its end was not seen.
    Unknown,
}

/// How the program stated when the wait should end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Request {
    /// A span from the entry into the call.
    Span,
    /// A point in time.
    Deadline,
    /// By a timer of its own: timerfd, POSIX timer, itimer, io_uring.
    Timer,
    /// Not seen, or by an option of a socket.
    Unknown,
}

/// The least share of a request by which another one of the same loop may differ: deadlines differ by the work before them,
/// spans by less.
const DEADLINES_WITHIN: u64 = 4;
const SPANS_WITHIN: u64 = 8;
/// Deadlines that are closer to each other than the usual timer slack end together.
const DEADLINES_WITHIN_NS: u64 = 50_000;

impl Request {
    /// Whether requests that are stated in this way are the same kind of wait: they differ by less than matters.
    pub fn is_alike(self, one: Nanos, other: Nanos) -> bool {
        let (differ, most) = (one.0.abs_diff(other.0), one.0.max(other.0).unsigned_abs());
        let is_within = |share: u64| differ.saturating_mul(share) <= most;
        match self {
            Request::Deadline => differ <= DEADLINES_WITHIN_NS || is_within(DEADLINES_WITHIN),
            Request::Span => is_within(SPANS_WITHIN),
            Request::Timer | Request::Unknown => differ == 0,
        }
    }

    /// All of them.
    pub const ALL: [Request; 4] = [Request::Span, Request::Deadline, Request::Timer, Request::Unknown];

    /// Its name in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Request::Span => "span",
            Request::Deadline => "deadline",
            Request::Timer => "timer",
            Request::Unknown => "unknown",
        }
    }
}

/// The clock that a timer expires by, where that was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum TimerClock {
    /// `CLOCK_REALTIME`: whoever sets the clock moves the expiry.
    Realtime,
    /// `CLOCK_MONOTONIC`, which stands still while the system is suspended.
    Monotonic,
    /// `CLOCK_BOOTTIME`, which goes on then.
    Boottime,
    /// `CLOCK_TAI`: the wall clock without leap seconds.
    Tai,
}

impl TimerClock {
    /// The clock with that number of the kernel; `None` for one that no timer of a wait has.
    pub fn of(number: u64) -> Option<TimerClock> {
        match number {
            0 => Some(TimerClock::Realtime),
            1 => Some(TimerClock::Monotonic),
            7 => Some(TimerClock::Boottime),
            11 => Some(TimerClock::Tai),
            _ => None,
        }
    }

    /// Its name in C.
    pub fn name(self) -> &'static str {
        match self {
            TimerClock::Realtime => "CLOCK_REALTIME",
            TimerClock::Monotonic => "CLOCK_MONOTONIC",
            TimerClock::Boottime => "CLOCK_BOOTTIME",
            TimerClock::Tai => "CLOCK_TAI",
        }
    }

    /// What that means for a wait.
    pub fn about(self) -> &'static str {
        match self {
            TimerClock::Realtime | TimerClock::Tai => "which whoever sets the time of day moves",
            TimerClock::Monotonic => "which stands still while the system is suspended",
            TimerClock::Boottime => "which goes on while the system is suspended",
        }
    }

    /// Whether setting the time of day moves it.
    pub fn is_set_by_people(self) -> bool {
        matches!(self, TimerClock::Realtime | TimerClock::Tai)
    }
}

/// The times that the parts lie between, on the clock of the deadlines; what is missing was not seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Marks {
    /// Entry into the call.
    #[serde(default, rename = "entered_ns", skip_serializing_if = "Option::is_none")]
    pub entered: Option<u64>,
    /// The timer's earliest expiry.
    #[serde(default, rename = "soft_ns", skip_serializing_if = "Option::is_none")]
    pub soft: Option<u64>,
    /// Its latest.
    #[serde(default, rename = "hard_ns", skip_serializing_if = "Option::is_none")]
    pub hard: Option<u64>,
    /// Armed again after a stop.
    #[serde(default, rename = "rearmed_ns", skip_serializing_if = "Option::is_none")]
    pub rearmed: Option<u64>,
    /// Entry of the timer interrupt.
    #[serde(default, rename = "interrupt_ns", skip_serializing_if = "Option::is_none")]
    pub interrupt: Option<u64>,
    /// The timer's callback.
    #[serde(default, rename = "fired_ns", skip_serializing_if = "Option::is_none")]
    pub fired: Option<u64>,
    /// Waking begins.
    #[serde(default, rename = "waking_ns", skip_serializing_if = "Option::is_none")]
    pub waking: Option<u64>,
    /// In the run queue.
    #[serde(default, rename = "wakeup_ns", skip_serializing_if = "Option::is_none")]
    pub wakeup: Option<u64>,
    /// On a CPU.
    #[serde(default, rename = "running_ns", skip_serializing_if = "Option::is_none")]
    pub running: Option<u64>,
    /// End of the call.
    #[serde(default, rename = "returned_ns", skip_serializing_if = "Option::is_none")]
    pub returned: Option<u64>,
}

/// One wait.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Wait {
    /// Process.
    pub tgid: u32,
    /// Thread.
    pub tid: u32,
    /// The thread's name.
    pub thread: String,
    /// The system call; `None` where it wasn't seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<String>,
    /// The call that set the timer, where that isn't the wait itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timer: Option<String>,
    /// How the request was stated.
    pub request: Request,
    /// The requested span; for a timer its period.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requested_ns: Option<u64>,
    /// The clock of its timer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock: Option<TimerClock>,
    /// When it should have ended.
    #[serde(rename = "deadline_ns")]
    pub deadline: u64,
    /// By how much the deadline had passed when the call was made. No part of the lateness.
    #[serde(default)]
    pub called_late_ns: u64,
    /// How far behind the thread was by waits that ended late and by what kept it from a CPU since, in ns, if the deadline
    /// had passed when the call was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub late_before_ns: Option<i64>,
    /// When it ended.
    #[serde(rename = "end_ns")]
    pub end: u64,
    /// End minus deadline, or minus the entry into the call if that was later.
    pub lateness_ns: i64,
    /// Why it ended.
    pub outcome: Outcome,
    /// Where the lateness went, in ns; they add up to it.
    pub parts: Parts,
    /// The same on the time line, without what is below zero.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub segments: Vec<Segment>,
    /// What was seen.
    pub marks: Marks,
    /// How long its timer slack allowed the timer to expire late, if the timer itself was not seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slack_bound_ns: Option<u64>,
    /// The CPU whose timer fired.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timer_cpu: Option<u16>,
    /// The idle state that this CPU was in, if it was idle.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timer_cpu_idle: Option<u32>,
    /// The CPU on which the thread went on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu: Option<u16>,
    /// The idle state that this CPU was in when the thread was woken, if it was idle.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_idle: Option<u32>,
    /// Its scheduling policy when it was woken, as the kernel numbers it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<u32>,
    /// Its priority as the kernel orders it: smaller goes first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prio: Option<i32>,
    /// How many CPUs it may use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpus_allowed: Option<u32>,
    /// Who ran while it waited for a CPU.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub culprits: Vec<Culprit>,
    /// What its CPU did when the timer interrupt should have come.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub irq_cause: Option<IrqCause>,
    /// What that CPU did before the interrupt, if it was late.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub before_interrupt: Vec<Activity>,
    /// Time that the hypervisor took from these CPUs around this wait, at most. An annotation, no part.
    #[serde(default)]
    pub steal_ns: u64,
    /// Events of this wait that were sent and did not arrive.
    #[serde(default)]
    pub lost_events: u32,
    /// How often it was stopped or restarted.
    #[serde(default)]
    pub restarts: u32,
    /// What interrupted it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub interruptions: Vec<Interrupted>,
    /// Where it was called from, if that was asked for and the wait was late enough.
    #[serde(default, skip_serializing_if = "Stack::is_empty")]
    pub stack: Stack,
    /// What its thread did since its wait before, if that was seen. It is in no file.
    #[serde(skip)]
    pub before: Option<Between>,
    /// The task in whose time the thread was woken, if its timer didn't do that. It is in no file.
    #[serde(skip)]
    pub woken_by: String,
    /// The timer's period, and how many expirations were missed since it last woke somebody. They are in no file.
    #[serde(skip)]
    pub timer_period: Option<(u64, u64)>,
    /// The stack as addresses, until their names are known. It is in no file.
    #[serde(skip)]
    pub frames: Frames,
}

impl Wait {
    /// Whether every nanosecond of its lateness is attributed.
    pub fn is_attributed(&self) -> bool {
        self.parts.unattributed == 0
    }

    /// The same wait for a program that intended to wait `want_ns` from the entry into the call, whatever it passed to
    /// the call. What its runtime added becomes part of `api`.
    pub fn wanting(mut self, want_ns: u64) -> Wait {
        let Some(entered) = self.marks.entered.filter(|_| self.request == Request::Span) else {
            return self;
        };
        let deadline = entered.saturating_add(want_ns);
        let added = signed(self.deadline).saturating_sub(signed(deadline));
        if added > 0 {
            let wanted = Segment { part: Part::Api, from_ns: signed(deadline), to_ns: signed(self.deadline) };
            self.segments.insert(0, wanted);
        }
        self.deadline = deadline;
        self.parts.api = self.parts.api.saturating_add(added);
        self.lateness_ns = self.lateness_ns.saturating_add(added);
        self
    }
}

/// A time as a signed number, saturated at 292 years.
pub fn signed(t: u64) -> i64 {
    i64::try_from(t).unwrap_or(i64::MAX)
}
