//! Where a wait's lateness comes from, in adjacent parts that add up to the total.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::distribution::Distribution;
#[cfg(feature = "schema")]
use crate::map_schema::by_word;
use crate::part::{Part, Parts};
use crate::units::Nanos;

/// The three-way split an unprivileged process can make of its own waits.
///
/// With D the deadline, R the switch-in, q the run-queue delay just before it and E the program's own clock read after
/// the wait: (R − q − D) + q + (E − R) = E − D exactly, sample by sample.
///
/// If a wait wakes before its deadline and spins until then, none of its lateness comes from the timer or the run queue.
/// Where R < D ≤ E, all of E − D is the return, and D − R is recorded separately as time awake before the deadline.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LatenessSplit {
    /// Waits with all parts observed.
    pub attributed_count: u64,
    /// Waits that slept but whose switch-in or delay was not observed. Their parts are never guessed.
    pub unattributed_count: u64,
    /// Total lateness of the attributed waits, in ns.
    pub total: Distribution,
    /// Rounding, slack, timer and waking: from the deadline until the thread was runnable (R − q − D), in ns.
    pub timer: Distribution,
    /// Runnable and waiting for a CPU (q), in ns.
    pub run_queue: Distribution,
    /// From the switch-in (the deadline, where the thread was awake by then) to the program's own clock read, in ns.
    pub wake_return: Distribution,
    /// Time awake before the deadline (D − R), in ns, of waits that end by spinning. It isn't part of the lateness.
    #[serde(default)]
    pub awake_before: Distribution,
    /// The method of observation.
    pub method: String,
}

impl LatenessSplit {
    /// All of its distributions.
    pub(crate) fn parts_mut(&mut self) -> impl Iterator<Item = &mut Distribution> {
        [&mut self.total, &mut self.timer, &mut self.run_queue, &mut self.wake_return, &mut self.awake_before]
            .into_iter()
    }

    /// Adds one wait with all parts observed: its deadline, its switch-in and the run-queue delay before it, and the
    /// program's clock read after it.
    pub fn record(&mut self, deadline: Nanos, switch_in: Nanos, run_queue_delay: Nanos, end: Nanos) {
        let late = end - deadline;
        let (timer, run_queue, wake_return) = if switch_in < deadline && deadline <= end {
            self.awake_before.record((deadline - switch_in).0);
            (Nanos::ZERO, Nanos::ZERO, late)
        } else {
            (switch_in - run_queue_delay - deadline, run_queue_delay, end - switch_in)
        };
        self.attributed_count += 1;
        self.total.record(late.0);
        self.timer.record(timer.0);
        self.run_queue.record(run_queue.0);
        self.wake_return.record(wake_return.0);
    }
}

/// The method of observation.
pub const WHY_METHOD: &str = "an eBPF program on the kernel's tracepoints, in rounds of their own";

/// A split into every part that the kernel shows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PartSplit {
    /// Waits with every part observed.
    pub attributed_count: u64,
    /// Waits with a part that was not observed. It is the part `unattributed` of the split; in results before version 3, no
    /// figure includes these waits.
    pub unattributed_count: u64,
    /// Total lateness of the split waits, in ns. Absent where these are the waits of the series: its distribution is that
    /// of the lateness.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<Distribution>,
    /// Each part of it, in ns; parts that were always 0 are missing.
    #[cfg_attr(feature = "schema", schemars(schema_with = "by_word::<Part, Distribution>"))]
    pub parts: BTreeMap<Part, Distribution>,
    /// The method of observation; empty where the result states it for all series.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub method: String,
}

impl PartSplit {
    /// An empty split of waits that are not those of the series.
    pub fn apart(method: &str) -> PartSplit {
        PartSplit { total: Some(Distribution::growing()), method: method.to_owned(), ..PartSplit::default() }
    }

    /// All of its distributions.
    pub(crate) fn parts_mut(&mut self) -> impl Iterator<Item = &mut Distribution> {
        self.total.iter_mut().chain(self.parts.values_mut())
    }

    /// Number of waits.
    pub fn count(&self) -> u64 {
        self.attributed_count.saturating_add(self.unattributed_count)
    }

    /// Adds one wait.
    pub fn record(&mut self, parts: &Parts) {
        let before = self.count();
        match parts.unattributed {
            0 => self.attributed_count += 1,
            _ => self.unattributed_count += 1,
        }
        if let Some(total) = &mut self.total {
            total.record(parts.sum());
        }
        for (&part, values) in &mut self.parts {
            values.record(parts.get(part));
        }
        for (part, ns) in parts.iter().filter(|&(_, ns)| ns != 0) {
            // A part that appears later was 0 before. There may be hundreds of splits with a dozen parts each, so their
            // memory grows with their values.
            self.parts.entry(part).or_insert_with(|| {
                let mut values = Distribution::growing();
                values.record_times(0, before);
                values.record(ns);
                values
            });
        }
    }

    /// Adds the waits of another split.
    pub fn merge(&mut self, other: &PartSplit) {
        let (before, added) = (self.count(), other.count());
        self.attributed_count = self.attributed_count.saturating_add(other.attributed_count);
        self.unattributed_count = self.unattributed_count.saturating_add(other.unattributed_count);
        if let (Some(total), Some(others)) = (&mut self.total, &other.total) {
            total.merge(others);
        }
        // A part that one of the two lacks was 0 in all of its waits.
        for (part, values) in &mut self.parts {
            match other.parts.get(part) {
                Some(others) => values.merge(others),
                None => values.record_times(0, added),
            }
        }
        for (&part, others) in &other.parts {
            self.parts.entry(part).or_insert_with(|| {
                let mut values = Distribution::growing();
                values.record_times(0, before);
                values.merge(others);
                values
            });
        }
    }

    /// The sum of a part over all waits.
    pub fn sum(&self, part: Part) -> i128 {
        self.parts.get(&part).map_or(0, Distribution::sum)
    }

    /// A part's share of all lateness that is above zero.
    pub fn share(&self, part: Part) -> f64 {
        let above = |part: Part| self.sum(part).max(0) as f64;
        let all: f64 = Part::ALL.iter().map(|&part| above(part)).sum();
        if all == 0.0 { 0.0 } else { above(part) / all }
    }

    /// The mean of a part. The means add up to the mean of the total.
    pub fn mean(&self, part: Part) -> f64 {
        self.parts.get(&part).and_then(Distribution::mean).unwrap_or(0.0)
    }

    /// The median of a part.
    pub fn p50(&self, part: Part) -> i64 {
        self.parts.get(&part).and_then(Distribution::p50).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn medians(deadline: i64, switch_in: i64, delay: i64, end: i64) -> [Option<i64>; 5] {
        let mut split = LatenessSplit::default();
        split.record(Nanos(deadline), Nanos(switch_in), Nanos(delay), Nanos(end));
        [&split.total, &split.timer, &split.run_queue, &split.wake_return, &split.awake_before].map(Distribution::p50)
    }

    #[test]
    fn the_means_of_named_parts_add_up() {
        let mut split = PartSplit::apart("test");
        for n in 0..40 {
            split.record(&Parts { slack: 50_000, ret: 1_000 + n, runq: 9_000 * (n % 2), ..Parts::default() });
        }
        split.record(&Parts { unattributed: 5, ..Parts::default() });
        assert_eq!((split.attributed_count, split.unattributed_count, split.count()), (40, 1, 41));
        assert!(split.parts.values().all(|part| part.count() == 41), "a part that came later was 0 before");
        let sum: f64 = Part::ALL.iter().map(|&part| split.mean(part)).sum();
        assert!((sum - split.total.as_ref().and_then(Distribution::mean).unwrap()).abs() < 1e-6);
        assert_eq!((split.p50(Part::Slack), split.p50(Part::Irq), split.sum(Part::Unattributed)), (50_000, 0, 5));
        assert!((split.share(Part::Slack) - 2_000_000.0 / 2_220_785.0).abs() < 1e-9);
    }

    #[test]
    fn merged_splits_are_the_split_of_all_waits() {
        let waits = [
            Parts { slack: 50_000, ret: 1_000, ..Parts::default() },
            Parts { slack: 50_000, runq: 9_000, ..Parts::default() },
            Parts { unattributed: 5, ..Parts::default() },
        ];
        for at in 0..=waits.len() {
            let of = |waits: &[Parts]| {
                let mut split = PartSplit::apart("test");
                waits.iter().for_each(|parts| split.record(parts));
                split
            };
            let mut merged = of(&waits[..at]);
            merged.merge(&of(&waits[at..]));
            assert_eq!(merged, of(&waits), "{at}");
        }
    }

    #[test]
    fn a_sleep_s_parts_add_up_to_its_lateness() {
        assert_eq!(medians(1_000, 1_070, 10, 1_080), [Some(80), Some(60), Some(10), Some(10), None]);
    }

    #[test]
    fn spinning_before_the_deadline_is_no_part_of_the_lateness() {
        assert_eq!(medians(1_000, 520, 10, 1_040), [Some(40), Some(0), Some(0), Some(40), Some(480)]);
    }

    #[test]
    fn a_wait_that_ended_early_keeps_its_sign() {
        assert_eq!(medians(1_000, 950, 10, 970), [Some(-30), Some(-60), Some(10), Some(20), None]);
    }
}
