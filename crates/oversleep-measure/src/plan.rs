//! How much to measure, and under which conditions.

use std::sync::{Arc, OnceLock};

use oversleep_record::conditions::Setting;
use oversleep_record::series::Pace;
use oversleep_record::{Conditions, Nanos};
use oversleep_system::runtime_calls::Version;

pub use oversleep_record::Depth;

/// The user's limit for each series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// That many values.
    Count(u64),
    /// This duration, over all rounds together.
    Time(Nanos),
}

/// The span from which the work of each thread in a fork-join is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkSpan {
    /// The minimum, more than 0.
    pub min: Nanos,
    /// The maximum, at least `min`.
    pub max: Nanos,
}

/// The user's choices for the calls of runtimes that a model makes.
#[derive(Clone, Debug, Default)]
pub struct RuntimePlan {
    /// The version of the runtimes; `None` for every version with a record.
    pub version: Option<Version>,
    /// Only calls whose names contain one of these; empty for all.
    pub only: Vec<String>,
}

/// The user's choices for queues and idle strategies; `None` leaves it to the experiment.
#[derive(Clone, Debug, Default)]
pub struct IdlePlan {
    /// Idle turns that spin. This field and the next three define the user's own strategy.
    pub spins: Option<u64>,
    /// Idle turns that yield after these.
    pub yields: Option<u64>,
    /// The request of the first park.
    pub park_from: Option<Nanos>,
    /// The longest request of a park.
    pub park_to: Option<Nanos>,
    /// Registry name of the wait that parks.
    pub park: Option<String>,
    /// Items that each queue holds.
    pub queue: Option<u64>,
    /// Workers in a row.
    pub workers: Option<u32>,
    /// The work of each worker per item.
    pub item: Option<Nanos>,
    /// Items per second to send; empty for the experiment's own rates.
    pub rates: Vec<u64>,
}

/// The user's choices besides the experiments.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// How thorough.
    pub depth: Depth,
    /// Durations to request; empty for the experiment's own.
    pub requests: Vec<Nanos>,
    /// Values or time per series; `None` leaves it to the depth.
    pub limit: Option<Limit>,
    /// Reads of each clock whose cost is timed; `None` leaves it to the depth.
    pub reads: Option<u64>,
    /// The pace of waits; `None` for the natural pace of each wait.
    pub pace: Option<Pace>,
    /// Conditions for every series; experiments add their own.
    pub conditions: Conditions,
    /// Settings of the resolution tunable to compare; empty for the experiment's own.
    pub settings: Vec<Setting>,
    /// Registry names to measure; empty for all.
    pub subjects: Vec<String>,
    /// Which calls of runtimes a model makes.
    pub runtimes: RuntimePlan,
    /// Clock that takes timestamps; `None` for the reference clock.
    pub clock: Option<String>,
    /// Threads of a fork-join; `None` for the published number.
    pub threads: Option<u32>,
    /// The work of each of them; `None` leaves it to the depth.
    pub work: Option<WorkSpan>,
    /// Queues and idle strategies.
    pub idle: IdlePlan,
    /// Units of work per millisecond of this machine. The first experiment that needs it calibrates it, and the others
    /// do the same work.
    pub work_units: Arc<OnceLock<u64>>,
}

impl Plan {
    /// Whether a subject is to be measured.
    pub fn wants(&self, subject: &str) -> bool {
        self.subjects.is_empty() || self.subjects.iter().any(|name| name == subject)
    }

    /// The longest time for everything; `None` if the user set a limit or chose the thorough run. It is slightly more
    /// than an idle machine needs, so that a busy one meets it, too.
    pub fn time_max(&self) -> Option<Nanos> {
        match (self.limit, self.depth) {
            _ if self.reads.is_some() => None,
            (None, Depth::Quick) => Some(Nanos::from_secs(6)),
            (None, Depth::Normal) => Some(Nanos::from_secs(17)),
            _ => None,
        }
    }

    /// The durations to request: the user's, or else these.
    pub fn requests_or(&self, own: &[Nanos]) -> Vec<Nanos> {
        if self.requests.is_empty() { own.to_vec() } else { self.requests.clone() }
    }

    /// The user's conditions and the experiment's own, which take precedence because the experiment is about them.
    pub fn conditions_and(&self, own: Conditions) -> Conditions {
        let mut conditions = self.conditions.clone();
        conditions.requested.extend(own.requested);
        conditions.load.extend(own.load);
        conditions
    }
}
