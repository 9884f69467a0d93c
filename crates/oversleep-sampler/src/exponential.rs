//! Distributions as exponential histograms: what Prometheus calls native ones, and OpenTelemetry exponential ones.
//!
//! A bucket of schema 4 is 4.4 % wide. Values of one bucket of a distribution (0.1 % wide) all count where the bucket's
//! upper end lies. That depends on nothing else, so a count never falls while values are added. So a value that is less than
//! 0.1 % below the end of its bucket may count in the next one: quantiles are too high by 0.1 % at most, which comes on top
//! of what the buckets' width does. Classic buckets have the same error: of values up to 1 ms, those above 0.999 ms may
//! count as later.

use oversleep_record::Distribution;

/// The schema: 2^4 buckets for each power of two.
pub const SCHEMA: i32 = 4;
/// Values up to this, in seconds, are zero.
pub const ZERO_THRESHOLD_S: f64 = 1e-9;

/// Counts by bucket. Bucket `i` has the magnitudes above 2^((i−1)/16) and up to 2^(i/16) seconds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Exponential {
    /// The number of values.
    pub count: u64,
    /// Their sum in seconds.
    pub sum_s: f64,
    /// Values of zero, to the nanosecond.
    pub zero_count: u64,
    /// Filled buckets of values above zero, ascending.
    pub positive: Vec<(i32, u64)>,
    /// Filled buckets of magnitudes of values below zero, ascending.
    pub negative: Vec<(i32, u64)>,
}

/// The bucket of a magnitude of at least 2 ns.
fn index(nanos: u64) -> i32 {
    let exact = (nanos as f64 * 1e-9).log2() * f64::from(1_u32 << SCHEMA);
    exact.ceil() as i32
}

impl Exponential {
    /// That of a distribution of nanoseconds.
    pub fn of(values: &Distribution) -> Exponential {
        let mut all =
            Exponential { count: values.count(), sum_s: values.sum() as f64 * 1e-9, ..Exponential::default() };
        let add = |buckets: &mut Vec<(i32, u64)>, index: i32, count: u64| match buckets.last_mut() {
            Some((last, sum)) if *last == index => *sum += count,
            _ => buckets.push((index, count)),
        };
        for (value, count) in values.buckets() {
            let nanos = value.unsigned_abs();
            match value {
                _ if nanos <= 1 => all.zero_count += count,
                0.. => add(&mut all.positive, index(nanos), count),
                _ => add(&mut all.negative, index(nanos), count),
            }
        }
        // They came from the largest magnitude to the smallest.
        all.negative.reverse();
        all
    }

    /// How many values are at most each of these bounds, in nanoseconds: classic buckets.
    pub fn cumulative(values: &Distribution, bounds: &[i64]) -> Vec<u64> {
        let mut counts = vec![0; bounds.len()];
        for (value, count) in values.buckets() {
            let first = bounds.partition_point(|bound| *bound < value);
            if let Some(bucket) = counts.get_mut(first) {
                *bucket += count;
            }
        }
        let mut sum = 0;
        counts.iter_mut().for_each(|count| {
            sum += *count;
            *count = sum;
        });
        counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: impl IntoIterator<Item = i64>) -> Distribution {
        let mut all = Distribution::growing();
        values.into_iter().for_each(|value| all.record(value));
        all
    }

    #[test]
    fn a_bucket_holds_its_upper_bound_and_not_its_lower() {
        // 2^-10 s is 976,562.5 ns: bucket −160 ends there.
        assert_eq!([index(976_562), index(976_563), index(1_000_000)], [-160, -159, -159]);
        assert_eq!(index(1_000_000_000), 0, "1 s is the end of bucket 0");
        assert_eq!(index(1_000_000_001), 1);
        for nanos in [2, 3, 1_000, 83_600, 1_400_000, 3_600_000_000_000] {
            let (bucket, value) = (f64::from(index(nanos)), nanos as f64 * 1e-9);
            assert!(value <= 2_f64.powf(bucket / 16.0) * (1.0 + 1e-12), "{nanos}");
            assert!(value > 2_f64.powf((bucket - 1.0) / 16.0) * (1.0 - 1e-12), "{nanos}");
        }
    }

    #[test]
    fn every_value_counts_once_early_ones_apart() {
        let all = Exponential::of(&of([0, 1, -1, 60_000, 60_001, 2_000_000, -5_000, -70_000]));
        assert_eq!((all.count, all.zero_count), (8, 3));
        assert_eq!(all.positive.iter().map(|(_, count)| count).sum::<u64>(), 3);
        assert_eq!(all.negative, [(index(5_000), 1), (index(70_000), 1)]);
        assert!((all.sum_s - 2_045_001e-9).abs() < 1e-12, "{}", all.sum_s);
    }

    #[test]
    fn no_count_of_a_bucket_falls_while_values_are_added() {
        let mut values = Distribution::growing();
        let mut before = Exponential::default();
        for step in 0..3_000_i64 {
            values.record((step * 7_919) % 1_500_000 - 20_000);
            let now = Exponential::of(&values);
            for (index, count) in &before.positive {
                assert!(now.positive.iter().any(|(same, more)| same == index && more >= count), "{step}");
            }
            before = now;
        }
    }

    #[test]
    fn classic_buckets_are_cumulative_and_leave_out_what_is_larger() {
        let values = of([-5, 100, 101, 1_000, 5_000_000_000]);
        assert_eq!(Exponential::cumulative(&values, &[0, 100, 1_000, 1_000_000]), [1, 2, 4, 4]);
    }
}
