//! How late the waits of an observed program are, in figures.

use std::fmt;

use oversleep_record::Nanos;
use oversleep_record::words::counted;

use super::{all_lateness, is_of_wake_ups, nanos, parts_of, pooled};
use crate::observed::{Kind, WAITS_MIN};

/// A median of fewer values is marked.
const MEDIAN_MIN: u64 = 20;

/// How late the waits are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Figures {
    /// How many.
    pub count: u64,
    /// The median.
    pub p50: Nanos,
    /// The 99th percentile, where ten values lie beyond it.
    pub p99: Option<Nanos>,
    /// The largest.
    pub max: Nanos,
    /// All lateness together.
    pub late: Nanos,
    /// Only wake-ups were recorded: it is the time that threads then waited for a CPU.
    pub is_of_wake_ups: bool,
}

impl Figures {
    pub(super) fn of(kinds: &[Kind<'_>]) -> Option<Figures> {
        let all = pooled(kinds);
        if all.count() < WAITS_MIN {
            return None;
        }
        Some(Figures {
            count: all.count(),
            p50: Nanos(all.p50()?),
            p99: all.safe_quantile(0.99).map(Nanos),
            max: Nanos(all.max()?),
            late: nanos(all_lateness(&parts_of(kinds))),
            is_of_wake_ups: is_of_wake_ups(kinds),
        })
    }

    /// What is counted.
    pub fn what(&self) -> &'static str {
        if self.is_of_wake_ups { "wake-up" } else { "wait" }
    }

    /// The median, marked if it is of few values.
    pub fn median(&self) -> String {
        let mark = if self.count < MEDIAN_MIN { "~" } else { "" };
        format!("{mark}{}", self.p50)
    }

    /// What stands behind the median: `p99 2 ms, max 3.14 ms; 219 ms late in all`.
    pub fn beyond(&self) -> String {
        let p99 = self.p99.map(|p99| format!("p99 {p99}, ")).unwrap_or_default();
        let late = if self.is_of_wake_ups { "" } else { " late" };
        format!("{p99}max {}; {}{late} in all", self.max, self.late)
    }
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: p50 {}, {}", counted(self.count, self.what()), self.median(), self.beyond())
    }
}
