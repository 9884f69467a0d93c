//! For how long somebody kept threads from their CPU.

use std::fmt;

use oversleep_record::Nanos;
use oversleep_record::words::counted;

use super::culprit;
use crate::observed::{Cause, Kind};

/// For how long a culprit kept waits from their CPU.
pub(super) struct Kept {
    pub count: u64,
    total_ns: u64,
    max_ns: u64,
}

impl Kept {
    pub fn of(kinds: &[&Kind<'_>], instance: &str) -> Kept {
        let blames =
            kinds.iter().flat_map(|kind| kind.waits.blames.iter().filter(|other| culprit(kind, other) == instance));
        let none = Kept { count: 0, total_ns: 0, max_ns: 0 };
        blames.fold(none, |kept, blame| Kept {
            count: kept.count.saturating_add(blame.count),
            total_ns: kept.total_ns.saturating_add(blame.total_ns),
            max_ns: kept.max_ns.max(blame.max_ns),
        })
    }

    pub fn total(&self) -> Nanos {
        Nanos(i64::try_from(self.total_ns).unwrap_or(i64::MAX))
    }

    /// What it comes to with the other kinds of waits of that cause.
    pub fn in_all(&self, cause: &Cause<'_, '_>) -> String {
        match cause.kinds.len() {
            1 => String::new(),
            _ => format!(": {} in {} in all", self.total(), counted(self.count, "wait")),
        }
    }
}

impl fmt::Display for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let max = Nanos(i64::try_from(self.max_ns).unwrap_or(i64::MAX));
        write!(f, "{} in {}, {max} at most", self.total(), counted(self.count, "wait"))
    }
}
