//! How much is measured and under which conditions.

use std::sync::{Arc, OnceLock};

use oversleep_record::conditions::Setting;
use oversleep_record::series::Pace;
use oversleep_record::{Conditions, Nanos};

/// How long a run may take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Depth {
    /// About 5 s in all: enough for the large effects.
    Quick,
    /// Under 20 s.
    #[default]
    Normal,
    /// Minutes: enough values for p99.9.
    Thorough,
}

impl Depth {
    /// One of three values.
    pub fn pick<T>(self, quick: T, normal: T, thorough: T) -> T {
        match self {
            Depth::Quick => quick,
            Depth::Normal => normal,
            Depth::Thorough => thorough,
        }
    }
}

/// An explicit limit for each series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// That many values.
    Count(u64),
    /// That long, all rounds together.
    Time(Nanos),
}

/// What the user asked for beyond the choice of experiments.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// How long.
    pub depth: Depth,
    /// Requests to measure; empty is "the experiment's own".
    pub asks: Vec<Nanos>,
    /// Values or time per series; `None` is "as the depth says".
    pub limit: Option<Limit>,
    /// How waits follow one another; `None` is "as fits each wait".
    pub pace: Option<Pace>,
    /// Conditions for every series; experiments add their own to them.
    pub conditions: Conditions,
    /// Settings of the resolution tunable to compare; empty is the experiment's own.
    pub settings: Vec<Setting>,
    /// Registry names to measure; empty is "all".
    pub subjects: Vec<String>,
    /// Clock that stamps; `None` is the reference clock.
    pub clock: Option<String>,
    /// Units of work per millisecond of this machine, found by the first experiment that needs it: they all do the same
    /// work then.
    pub work_units: Arc<OnceLock<u64>>,
}

impl Plan {
    /// Whether a subject was asked for.
    pub fn wants(&self, subject: &str) -> bool {
        self.subjects.is_empty() || self.subjects.iter().any(|name| name == subject)
    }

    /// Longest time for one pass over everything; `None` where the user said how much, or took the thorough run. A
    /// little above what an idle machine needs, so that a busy one keeps the promise too.
    pub fn time_max(&self) -> Option<Nanos> {
        match (self.limit, self.depth) {
            (None, Depth::Quick) => Some(Nanos::from_secs(6)),
            (None, Depth::Normal) => Some(Nanos::from_secs(17)),
            _ => None,
        }
    }

    /// The requests to measure.
    pub fn asks_or(&self, own: &[Nanos]) -> Vec<Nanos> {
        if self.asks.is_empty() { own.to_vec() } else { self.asks.clone() }
    }

    /// The user's conditions and these: on a clash the experiment's own win, it is about them.
    pub fn conditions_and(&self, own: Conditions) -> Conditions {
        let mut conditions = self.conditions.clone();
        conditions.requested.extend(own.requested);
        conditions.load.extend(own.load);
        conditions
    }
}
