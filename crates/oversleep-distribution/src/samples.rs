//! Raw samples in columns, up to a cap. The distribution also contains those beyond the cap.

use serde::{Deserialize, Serialize};

use crate::column::Column;
use crate::runs::Runs;

/// Raw samples in the order they were taken.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Samples {
    /// When each began, in ns since the run's origin: the call's entry, or the deadline where no call was made.
    #[cfg_attr(feature = "schema", schemars(with = "Vec<i64>"))]
    pub start_ns: Column,
    /// The value of each, in the unit of the series.
    #[cfg_attr(feature = "schema", schemars(with = "Vec<i64>"))]
    pub value: Column,
    /// Runs of samples whose deadline had passed before the wait could be called: first index and length.
    #[serde(default, skip_serializing_if = "Runs::is_empty")]
    #[cfg_attr(feature = "schema", schemars(with = "Vec<[u64; 2]>"))]
    pub missed_runs: Runs,
    /// Number of samples beyond the cap; only the distribution holds them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub beyond_cap: u64,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl Samples {
    /// Columns with room for `cap` samples, so that recording does not allocate.
    pub fn with_capacity(cap: usize) -> Samples {
        let mut samples = Samples::default();
        samples.reserve(cap);
        samples
    }

    /// Reserves room for that many more samples.
    pub fn reserve(&mut self, count: usize) {
        self.start_ns.reserve(count);
        self.value.reserve(count);
    }

    /// Gives back unused room.
    pub fn shrink(&mut self) {
        self.start_ns.shrink();
        self.value.shrink();
        self.missed_runs.shrink();
    }

    /// Adds a sample, or only counts it once `cap` is reached.
    pub fn push(&mut self, cap: usize, start_ns: i64, value: i64, missed: bool) {
        if self.value.len() >= cap {
            self.beyond_cap += 1;
            return;
        }
        if missed {
            self.missed_runs.push_sample(self.value.len() as u64);
        }
        self.start_ns.push(start_ns);
        self.value.push(value);
    }

    /// Number of samples kept.
    pub fn len(&self) -> usize {
        self.value.len()
    }

    /// Whether none are kept.
    pub fn is_empty(&self) -> bool {
        self.value.is_empty()
    }

    /// The fault in the columns, if there is one; a reader checks this before it uses them.
    pub fn fault(&self) -> Option<String> {
        if self.start_ns.len() != self.value.len() {
            return Some(format!("{} start stamps for {} values", self.start_ns.len(), self.value.len()));
        }
        let mut end = 0;
        for [first, length] in self.missed_runs.iter() {
            let fits = first >= end && first.checked_add(length).is_some_and(|after| after <= self.value.len() as u64);
            if !fits {
                return Some(format!("missed run {first}+{length} is out of order or beyond the samples"));
            }
            end = first + length;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn caps_and_says_so() {
        let mut samples = Samples::with_capacity(2);
        for (index, missed) in [true, true, false].into_iter().enumerate() {
            samples.push(2, index as i64, 7, missed);
        }
        assert_eq!((samples.len(), samples.beyond_cap), (2, 1));
        assert_eq!(samples.missed_runs, [[0, 2]]);
        assert_eq!(samples.fault(), None);
    }

    #[test]
    fn notices_columns_that_do_not_fit() {
        let one = || Column::from_iter([1]);
        let short = Samples { start_ns: one(), ..Samples::default() };
        assert!(short.fault().is_some());
        let beyond = Samples { start_ns: one(), value: one(), missed_runs: Runs::from_iter([[0, 2]]), beyond_cap: 0 };
        assert!(beyond.fault().is_some());
        let huge =
            Samples { start_ns: one(), value: one(), missed_runs: Runs::from_iter([[0, u64::MAX]]), beyond_cap: 0 };
        assert!(huge.fault().is_some());
    }
}
