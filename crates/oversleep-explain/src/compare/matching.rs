//! Which series of several results measured the same thing.

use std::collections::BTreeMap;

use oversleep_record::comparison::SeriesComparison;
use oversleep_record::series::{Pace, Quantity, Unit};
use oversleep_record::{Conditions, Labels, Nanos, Series, SeriesKey};

/// Groups of series that measured the same thing, by their place among the comparisons.
#[derive(Debug, Default)]
pub(super) struct Groups {
    by_key: BTreeMap<SeriesKey, Vec<usize>>,
    /// The place in the base of each series that the base has; these are the first groups.
    of_base: Vec<usize>,
}

impl Groups {
    /// The place of a series' group, which is new where no series like it was there.
    pub fn place_of(&mut self, series: &Series, all: &mut Vec<SeriesComparison>) -> usize {
        let of_key = self.by_key.entry(series.key.clone()).or_default();
        if let Some(&at) = of_key.iter().find(|&&at| is_same(&all[at], series)) {
            return at;
        }
        of_key.push(all.len());
        all.push(SeriesComparison {
            key: series.key.clone(),
            experiment: series.experiment,
            subject: series.subject.clone(),
            runtime: series.runtime.clone(),
            quantity: series.quantity,
            unit: series.unit,
            requested_ns: series.requested_ns,
            pace: series.pace,
            conditions: Conditions { outcomes: BTreeMap::new(), ..series.conditions.clone() },
            labels: series.labels.clone(),
            sides: Vec::new(),
        });
        all.len() - 1
    }

    /// Says that the group there is new and of that series of the base.
    pub fn is_of_base(&mut self, at: usize, place: usize) {
        if at == self.of_base.len() {
            self.of_base.push(place);
        }
    }

    /// The place in the base of a group's series.
    pub fn in_base(&self, at: usize) -> Option<usize> {
        self.of_base.get(at).copied()
    }
}

/// Everything that tells one measurement from another but its key and conditions. What the machine made of it (rounding,
/// refusals) is not part of it.
#[derive(PartialEq)]
struct Identity<'a> {
    quantity: Quantity,
    unit: Unit,
    requested_ns: Option<Nanos>,
    pace: Option<Pace>,
    labels: BTreeMap<&'a str, String>,
}

/// A label as it was meant: work is calibrated on each machine and comes out a few ns off the request, so its length counts
/// to two digits.
fn meant(name: &str, value: &str) -> String {
    match value.parse::<f64>() {
        Ok(span) if name.ends_with("_ns") => format!("{span:.1e}"),
        _ => value.to_owned(),
    }
}

fn meant_labels(labels: &Labels) -> BTreeMap<&str, String> {
    labels.iter().map(|(name, value)| (name, meant(name, value))).collect()
}

/// Whether a series of the group's key measured the same thing.
fn is_same(group: &SeriesComparison, series: &Series) -> bool {
    let SeriesComparison { quantity, unit, requested_ns, pace, .. } = *group;
    let known = Identity { quantity, unit, requested_ns, pace, labels: meant_labels(&group.labels) };
    let Series { quantity, unit, requested_ns, pace, .. } = *series;
    let new = Identity { quantity, unit, requested_ns, pace, labels: meant_labels(&series.labels) };
    known == new && group.conditions.same_request(&series.conditions)
}

#[cfg(test)]
mod tests {
    use oversleep_record::conditions::Setting;
    use oversleep_record::label;

    use super::*;
    use crate::compare::testing::waits;

    fn together(one: Series, other: Series) -> bool {
        let (mut groups, mut all) = (Groups::default(), Vec::new());
        groups.place_of(&one, &mut all) == groups.place_of(&other, &mut all)
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
