//! Which series of several results measured the same thing.

use std::collections::BTreeMap;

use oversleep_record::series::{Pace, Quantity, Unit};
use oversleep_record::{Nanos, ResultFile, Series, SeriesKey};

/// Series that measured the same thing: one at most of each result.
pub(super) struct Group<'a> {
    /// With the place of its result, in the results' order.
    pub members: Vec<(usize, &'a Series)>,
}

/// Everything that tells one measurement from another. What the machine made of it (rounding, refusals) is not part of it.
#[derive(PartialEq)]
struct Identity<'a> {
    key: &'a SeriesKey,
    quantity: Quantity,
    unit: Unit,
    requested_ns: Option<Nanos>,
    pace: Option<Pace>,
    labels: BTreeMap<&'a str, String>,
}

impl<'a> Identity<'a> {
    fn of(series: &'a Series) -> Identity<'a> {
        Identity {
            key: &series.key,
            quantity: series.quantity,
            unit: series.unit,
            requested_ns: series.requested_ns,
            pace: series.pace,
            labels: series.labels.iter().map(|(name, value)| (name, meant(name, value))).collect(),
        }
    }
}

/// A label as it was meant: work is calibrated on each machine and comes out a few ns off the request, so its length counts
/// to two digits.
fn meant(name: &str, value: &str) -> String {
    match value.parse::<f64>() {
        Ok(span) if name.ends_with("_ns") => format!("{span:.1e}"),
        _ => value.to_owned(),
    }
}

/// Every series once, in the order of the results.
pub(super) fn groups(results: &[ResultFile]) -> Vec<Group<'_>> {
    let mut groups: Vec<Group> = Vec::new();
    let mut by_key: BTreeMap<&SeriesKey, Vec<usize>> = BTreeMap::new();
    for (index, file) in results.iter().enumerate() {
        for series in &file.series {
            let of_key = by_key.entry(&series.key).or_default();
            let same = of_key.iter().copied().find(|&at| is_same(groups[at].members[0].1, series));
            match same {
                Some(at) => groups[at].members.push((index, series)),
                None => {
                    of_key.push(groups.len());
                    groups.push(Group { members: vec![(index, series)] });
                }
            }
        }
    }
    groups
}

fn is_same(one: &Series, other: &Series) -> bool {
    Identity::of(one) == Identity::of(other) && one.conditions.same_request(&other.conditions)
}

#[cfg(test)]
mod tests {
    use oversleep_record::conditions::{Conditions, Setting};
    use oversleep_record::label;

    use super::*;
    use crate::compare::testing::{Sheet, waits};

    fn together(one: Series, other: Series) -> bool {
        let results = [Sheet::linux().series(one).file, Sheet::linux().series(other).file];
        groups(&results).len() == 1
    }

    #[test]
    fn what_was_measured_otherwise_is_another_group() {
        let plain = || waits("B5/nanosleep/1ms", &[66_000; 4]);
        assert!(together(plain(), waits("B5/nanosleep/1ms", &[90_000; 2])));
        assert!(!together(plain(), waits("B5/nanosleep/5ms", &[66_000; 4])));
        let mut paced = plain();
        paced.pace = Some(Pace::BackToBack);
        assert!(!together(plain(), paced));
        let mut with_slack = plain();
        with_slack.conditions = Conditions::as_found().with("slack", Setting::Nanos(Nanos(1)));
        assert!(!together(plain(), with_slack));
        let mut rounded = plain();
        rounded.rounded_ns = Some(Nanos::from_millis(2));
        assert!(together(plain(), rounded), "how a call rounds its request is part of what is compared");
    }

    #[test]
    fn calibrated_work_is_the_same_work() {
        let work = |ns, threads| {
            let mut series = waits("D1/blocked/precise", &[24_000_000; 4]);
            series.labels = series.labels.with(label::WORK, Nanos(ns)).with(label::THREADS, threads);
            series
        };
        assert!(together(work(23_999_997, 8), work(24_010_000, 8)));
        assert!(!together(work(23_999_997, 8), work(11_999_997, 8)));
        assert!(!together(work(23_999_997, 8), work(23_999_997, 4)));
    }
}
