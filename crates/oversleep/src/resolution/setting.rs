//! The settings that a request can contain, with their values.

use std::fmt;
use std::time::Duration;

use crate::outcome::Outcome;
use crate::scheduling::Scheduling;

/// A requested setting and its outcome. Displays as a sentence.
///
/// ```
/// let held = oversleep::Resolution::harmless().hold();
/// let setting = &held.settings()[0];
/// println!("{}: {}", setting.what, setting.outcome);
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Setting {
    /// Which setting.
    pub what: What,
    /// The outcome of the request.
    pub outcome: Outcome<Value>,
}

impl Setting {
    pub(super) fn new(what: What, outcome: Outcome<Value>) -> Self {
        Self { what, outcome }
    }
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.what, self.outcome)
    }
}

/// The settings that a [`Resolution`](crate::Resolution) can request.
///
/// ```
/// assert_eq!(oversleep::resolution::What::Timer.to_string(), "timer resolution");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum What {
    /// The thread's timer slack.
    TimerSlack,
    /// The thread's time slice.
    TimeSlice,
    /// The process's timer resolution.
    Timer,
    /// The thread's scheduling policy.
    RealTime,
    /// The thread's multimedia class.
    Multimedia,
    /// The machine's limit on how long a processor takes to wake up.
    CpuLatency,
}

impl fmt::Display for What {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TimerSlack => "timer slack",
            Self::TimeSlice => "time slice",
            Self::Timer => "timer resolution",
            Self::RealTime => "real-time scheduling",
            Self::Multimedia => "multimedia scheduling",
            Self::CpuLatency => "CPU wake-up latency",
        })
    }
}

/// The value of a setting.
///
/// ```
/// use oversleep::resolution::Value;
///
/// let unlimited = Value::Time(std::time::Duration::MAX);
/// assert_eq!(format!("{unlimited:?}"), "unlimited");
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Value {
    /// A duration; [`Duration::MAX`] stands for no limit.
    Time(Duration),
    /// A scheduling policy.
    Scheduling(Scheduling),
}

impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Time(Duration::MAX) => f.write_str("unlimited"),
            Self::Time(time) => time.fmt(f),
            Self::Scheduling(scheduling) => scheduling.fmt(f),
        }
    }
}
