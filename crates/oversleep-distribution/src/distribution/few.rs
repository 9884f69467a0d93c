//! Distributions of few values, for tests. They have no counter for each bucket, which took most of the time of a small
//! result.

use std::collections::BTreeMap;

use super::Distribution;
use super::buckets::bucket;
use super::codec;
use super::histogram::Histogram;

impl Distribution {
    /// A distribution of these values, each repeated that many times.
    pub fn of_counts(values: impl IntoIterator<Item = (i64, u64)>) -> Distribution {
        let mut made = Distribution::default();
        let (mut positive, mut negative) = (BTreeMap::new(), BTreeMap::new());
        for (value, count) in values.into_iter().filter(|&(_, count)| count > 0) {
            let counts = if value < 0 { &mut negative } else { &mut positive };
            let counter: &mut u64 = counts.entry(bucket(value.unsigned_abs())).or_default();
            *counter = counter.saturating_add(count);
            made.min = made.min.min(value);
            made.max = made.max.max(value);
            made.sum = made.sum.saturating_add(i128::from(value) * i128::from(count));
        }
        let of = |counts: BTreeMap<usize, u64>| {
            let total = counts.values().fold(0_u64, |sum, &count| sum.saturating_add(count));
            Histogram::of_coded(codec::encode(counts.into_iter()), total)
        };
        made.negative = (!negative.is_empty()).then(|| of(negative));
        if !positive.is_empty() {
            made.positive = of(positive);
        }
        made
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn values_counted_are_values_recorded(
            values in proptest::collection::vec((proptest::prelude::any::<i64>(), 0_u32..64, 0_u64..4), 0..20),
        ) {
            let values: Vec<(i64, u64)> = values.into_iter().map(|(value, shift, count)| (value >> shift, count)).collect();
            let mut recorded = Distribution::new();
            for &(value, count) in &values {
                (0..count).for_each(|_| recorded.record(value));
            }
            proptest::prop_assert!(Distribution::of_counts(values) == recorded);
        }
    }
}
