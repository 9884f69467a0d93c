//! What became of a change, as C can hold it.

use std::time::Duration;

use oversleep::Outcome as Became;
use oversleep::resolution::Value;

use crate::{UNKNOWN_NS, UNLIMITED_NS};

/// What became of a change that was asked of the operating system.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It was not asked for.
    NotAsked = 0,
    /// It is in effect, and is put back on release.
    Applied = 1,
    /// Nothing was changed: what is in effect is already as fine as what was asked.
    AlreadyFiner = 2,
    /// Nothing was changed: the system refused, or has no such thing. A text function says why, and how to allow it.
    Denied = 3,
}

/// What became of a change, with the values where they are times. A scheduling policy is not a time; the text names it.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    /// What became of it.
    pub outcome: Outcome,
    /// Zero.
    pub reserved: u32,
    /// The value before, in nanoseconds; `OVERSLEEP_UNKNOWN_NS` when it was denied or is not a time,
    /// `OVERSLEEP_UNLIMITED_NS` when there was no limit.
    pub was_ns: u64,
    /// The value in effect, in the same terms.
    pub now_ns: u64,
}

impl Change {
    pub(crate) fn of_time(became: &Became<Duration>) -> Self {
        Self::new(became, |&time| ns(time))
    }

    pub(crate) fn of_value(became: &Became<Value>) -> Self {
        Self::new(became, |value| match *value {
            Value::Time(time) => ns(time),
            _ => UNKNOWN_NS,
        })
    }

    fn new<T>(became: &Became<T>, time_ns: impl Fn(&T) -> u64) -> Self {
        let (outcome, was_ns, now_ns) = match became {
            Became::Applied { was, now } => (Outcome::Applied, time_ns(was), time_ns(now)),
            Became::AlreadyFiner { is } => (Outcome::AlreadyFiner, time_ns(is), time_ns(is)),
            Became::Denied(_) => (Outcome::Denied, UNKNOWN_NS, UNKNOWN_NS),
        };
        Self { outcome, reserved: 0, was_ns, now_ns }
    }
}

/// Nanoseconds as the interface shows them.
pub(crate) fn ns(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX).min(UNLIMITED_NS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use oversleep::{Denied, Scheduling, Why};

    #[test]
    fn unlimited_and_unknown_are_told_apart() {
        let limit = Became::Applied { was: Value::Time(Duration::MAX), now: Value::Time(Duration::ZERO) };
        let change = Change::of_value(&limit);
        assert_eq!((change.outcome, change.was_ns, change.now_ns), (Outcome::Applied, UNLIMITED_NS, 0));
        let policy = Became::AlreadyFiner { is: Value::Scheduling(Scheduling::Fifo(3)) };
        let change = Change::of_value(&policy);
        assert_eq!((change.outcome, change.was_ns, change.now_ns), (Outcome::AlreadyFiner, UNKNOWN_NS, UNKNOWN_NS));
        let denied = Became::Denied(Denied { why: Why::Unsupported { what: "timer slack" }, how: "run on Linux" });
        let change = Change::of_time(&denied);
        assert_eq!((change.outcome, change.was_ns, change.now_ns), (Outcome::Denied, UNKNOWN_NS, UNKNOWN_NS));
    }
}
