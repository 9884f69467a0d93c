//! What one burst reports.

use oversleep_record::Nanos;
use oversleep_system::CounterReading;

/// Which of the two waits of a burst.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// One of the short waits in a row: the processor is warm.
    Burst,
    /// The long wait between bursts: idle states are deep, and the tick may be off.
    Pause,
}

impl Kind {
    /// Both.
    pub const ALL: [Kind; 2] = [Kind::Burst, Kind::Pause];
}

/// How a wait ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// By its timer.
    TimedOut,
    /// Its deadline had passed before the call could be made.
    Missed,
    /// By a signal.
    Interrupted,
    /// The clock went backward meanwhile, so its lateness isn't known.
    Backward,
}

/// One wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait {
    /// Which one.
    pub kind: Kind,
    /// What was requested.
    pub requested: Nanos,
    /// When it ended, since the run's origin.
    pub end: Nanos,
    /// End minus deadline; below zero if it ended early.
    pub lateness: Nanos,
    /// How it ended.
    pub ended: Ended,
    /// How long the thread was runnable and waited for a CPU meanwhile; `None` where it isn't known.
    pub run_delay: Option<Nanos>,
}

/// The waits of a burst, or a pause, or both, and the counters after it.
#[derive(Clone, Debug)]
pub struct Burst {
    /// In the order of time.
    pub waits: Vec<Wait>,
    /// The counters after the last one.
    pub after: CounterReading,
    /// The wall clock then, in seconds since 1970; `None` where there is none.
    pub unix_s: Option<i64>,
}
