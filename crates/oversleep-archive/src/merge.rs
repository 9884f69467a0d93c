//! Rows that were added up.

use std::collections::BTreeSet;

use oversleep_record::Distribution;

use crate::row::Row;

/// Several rows as one: exact counts and quantiles.
#[derive(Clone, Debug)]
pub struct Merged {
    /// All values.
    pub values: Distribution,
    /// The number of rows.
    pub rows: u64,
    /// The number of rows whose median isn't the machine's own.
    pub disturbed: u64,
    /// The machines.
    pub sources: BTreeSet<String>,
    /// Deadlines that had passed before the call.
    pub missed: u64,
    /// The sum of all values, for the mean: rows hold it as a fraction.
    pub sum: f64,
    /// When the first of these results was taken, in µs since 1970.
    pub first_us: i64,
    /// When the last was taken.
    pub last_us: i64,
    /// The sum of the rows' shares of stolen time, each as often as it has seconds, and these seconds.
    steal: (f64, f64),
}

impl Merged {
    /// Nothing. One of few has all the memory that adding needs (262 KB), so that adding a row takes 1 µs; one of many grows
    /// with its values.
    pub fn new(is_one_of_few: bool) -> Merged {
        Merged {
            values: if is_one_of_few { Distribution::new() } else { Distribution::growing() },
            rows: 0,
            disturbed: 0,
            sources: BTreeSet::new(),
            missed: 0,
            sum: 0.0,
            first_us: i64::MAX,
            last_us: i64::MIN,
            steal: (0.0, 0.0),
        }
    }

    /// Adds a row.
    pub fn add(&mut self, row: &Row) {
        row.add_to(&mut self.values);
        self.rows += 1;
        self.disturbed += u64::from(row.disturbed);
        if !self.sources.contains(&row.source) {
            self.sources.insert(row.source.clone());
        }
        self.missed = self.missed.saturating_add(row.missed.max(0).unsigned_abs());
        self.sum += row.sum;
        self.first_us = self.first_us.min(row.taken_us);
        self.last_us = self.last_us.max(row.taken_us);
        if let Some(share) = row.steal_share {
            self.steal = (self.steal.0 + share * row.seconds, self.steal.1 + row.seconds);
        }
    }

    /// The number of values, with those of unknown size.
    pub fn count(&self) -> u64 {
        self.values.count().saturating_add(self.values.beyond().map_or(0, |beyond| beyond.count))
    }

    /// The mean; `None` without values, or with some of unknown size.
    pub fn mean(&self) -> Option<f64> {
        (!self.values.is_empty() && self.values.beyond().is_none()).then(|| self.sum / self.values.count() as f64)
    }

    /// The share of all CPUs' time that hypervisors gave to others, over the rows that know it; `None` if none does.
    pub fn steal_share(&self) -> Option<f64> {
        (self.steal.1 > 0.0).then(|| self.steal.0 / self.steal.1)
    }
}

#[cfg(test)]
mod tests {
    use oversleep_record::distribution::Beyond;

    use super::*;

    fn row(values: &Distribution) -> Row {
        let mut row = Row { source: "a".to_owned(), seconds: 1.0, ..Row::default() };
        row.set_values(values);
        row
    }

    fn of(values: impl IntoIterator<Item = i64>) -> Distribution {
        let mut all = Distribution::new();
        values.into_iter().for_each(|value| all.record(value));
        all
    }

    proptest::proptest! {
        #[test]
        fn rows_add_up_to_the_distribution_of_all_values(
            parts in proptest::collection::vec(
                proptest::collection::vec((proptest::prelude::any::<i64>(), 0_u32..64), 0..40),
                0..5,
            ),
            is_one_of_few in proptest::prelude::any::<bool>(),
        ) {
            let parts: Vec<Distribution> =
                parts.iter().map(|part| of(part.iter().map(|(value, shift)| value >> shift))).collect();
            let (mut merged, mut all) = (Merged::new(is_one_of_few), Distribution::new());
            for part in &parts {
                merged.add(&row(part));
                all.merge(part);
            }
            proptest::prop_assert_eq!(merged.count(), all.count());
            proptest::prop_assert!(merged.values.buckets().eq(all.buckets()));
            proptest::prop_assert_eq!(merged.values.min(), all.min());
            proptest::prop_assert_eq!(merged.values.early_count(), all.early_count());
            for quantile in [0.0, 0.01, 0.5, 0.99, 0.999] {
                proptest::prop_assert_eq!(merged.values.quantile(quantile), all.quantile(quantile));
            }
            proptest::prop_assert_eq!(merged.values.max(), all.max());
        }
    }

    #[test]
    fn values_of_unknown_size_are_counted_and_no_quantile_is_made_up_of_them() {
        let mut known = of(1..=98);
        known.set_beyond(Some(Beyond { count: 2, from: 1_000, max: None }));
        let row = row(&known);
        assert_eq!((row.count, row.hi.last(), row.n.last(), row.max), (100, Some(&i64::MAX), Some(&2), None));
        let mut merged = Merged::new(true);
        merged.add(&row);
        assert_eq!((merged.count(), merged.mean()), (100, None));
        assert_eq!((merged.values.quantile(0.98), merged.values.quantile(0.99)), (Some(98), None));
        assert_eq!(merged.values.beyond(), known.beyond());
    }

    #[test]
    fn counts_beyond_64_bits_stay_at_the_most() {
        let mut merged = Merged::new(true);
        for _ in 0..3 {
            merged.add(&row(&Distribution::of_equal(5, u64::MAX / 2)));
        }
        assert_eq!((merged.count(), merged.values.p50()), (u64::MAX, Some(5)));
    }

    #[test]
    fn an_empty_row_adds_no_values() {
        let mut merged = Merged::new(false);
        merged.add(&row(&Distribution::default()));
        assert_eq!((merged.rows, merged.count(), merged.values.min(), merged.mean()), (1, 0, None, None));
        assert_eq!(merged.steal_share(), None, "not zero");
    }
}
