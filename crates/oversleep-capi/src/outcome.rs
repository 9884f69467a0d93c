//! The outcome of a change, in types that C can hold.

use std::time::Duration;

use oversleep::resolution::Value;
use oversleep::{Denied, Outcome as LibraryOutcome};

use crate::boundary::growing;
use crate::status::Status;
use crate::{UNKNOWN_NS, UNLIMITED_NS};

/// The outcome of a change requested from the operating system.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It was not requested.
    NotAsked = 0,
    /// It is in effect, and the former value is restored on release.
    Applied = 1,
    /// Nothing was changed: the value in effect is already at least as fine as the requested one.
    AlreadyFiner = 2,
    /// Nothing was changed: the system refused or lacks the setting. A text function gives the reason and the next
    /// step.
    Denied = 3,
}

/// The outcome of a change, with its values if they are times. A scheduling policy is not a time; the text names it.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    /// `sizeof(oversleep_change)`; set it before the call.
    pub size: usize,
    /// The outcome.
    pub outcome: Outcome,
    /// Zero.
    pub reserved: u32,
    /// The value before the change, in nanoseconds; `OVERSLEEP_UNKNOWN_NS` if it was denied or is not a time,
    /// `OVERSLEEP_UNLIMITED_NS` if there was no limit.
    pub was_ns: u64,
    /// The value in effect now, with the same special values.
    pub now_ns: u64,
}

growing!(Change);

impl Change {
    pub(crate) fn of_time(outcome: &LibraryOutcome<Duration>) -> Self {
        Self::new(outcome, |&time| ns(time))
    }

    pub(crate) fn of_value(outcome: &LibraryOutcome<Value>) -> Self {
        Self::new(outcome, |value| match *value {
            Value::Time(time) => ns(time),
            _ => UNKNOWN_NS,
        })
    }

    fn new<T>(outcome: &LibraryOutcome<T>, time_ns: impl Fn(&T) -> u64) -> Self {
        let (outcome, was_ns, now_ns) = match outcome {
            LibraryOutcome::Applied { was, now } => (Outcome::Applied, time_ns(was), time_ns(now)),
            LibraryOutcome::AlreadyFiner { is } => (Outcome::AlreadyFiner, time_ns(is), time_ns(is)),
            LibraryOutcome::Denied(_) => (Outcome::Denied, UNKNOWN_NS, UNKNOWN_NS),
        };
        Self { size: size_of::<Self>(), outcome, reserved: 0, was_ns, now_ns }
    }
}

/// Nanoseconds as the interface represents them.
pub(crate) fn ns(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX).min(UNLIMITED_NS)
}

/// The value of a setting that was read.
pub(crate) fn current_ns(read: Result<Duration, Denied>) -> Result<u64, Status> {
    read.map(ns).map_err(|_| Status::Denied)
}

/// Why a setting couldn't be read.
pub(crate) fn why(read: Result<Duration, Denied>) -> Result<String, Status> {
    read.err().map(|denied| denied.to_string()).ok_or(Status::None)
}

#[cfg(test)]
mod tests {
    use oversleep::{Scheduling, Why};

    use super::*;

    #[test]
    fn unlimited_and_unknown_are_distinct() {
        let limit = LibraryOutcome::Applied { was: Value::Time(Duration::MAX), now: Value::Time(Duration::ZERO) };
        let change = Change::of_value(&limit);
        assert_eq!((change.outcome, change.was_ns, change.now_ns), (Outcome::Applied, UNLIMITED_NS, 0));
        let policy = LibraryOutcome::AlreadyFiner { is: Value::Scheduling(Scheduling::Fifo(3)) };
        let change = Change::of_value(&policy);
        assert_eq!((change.outcome, change.was_ns, change.now_ns), (Outcome::AlreadyFiner, UNKNOWN_NS, UNKNOWN_NS));
        let denied =
            LibraryOutcome::Denied(Denied { why: Why::Unsupported { what: "timer slack" }, how: "run on Linux" });
        let change = Change::of_time(&denied);
        assert_eq!((change.outcome, change.was_ns, change.now_ns), (Outcome::Denied, UNKNOWN_NS, UNKNOWN_NS));
    }
}
