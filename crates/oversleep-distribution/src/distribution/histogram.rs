//! Counts per bucket. One that was prepared has a counter for each bucket (262 KB), so that recording neither searches nor
//! allocates. One that wasn't holds only the filled buckets and the newest values (`growing`). A histogram read from a file
//! keeps only the filled buckets, coded as in the file (`codec`): a few KB.

use std::borrow::Cow;

use super::buckets::{BUCKETS, bounds, bucket};
use super::codec::{self, Filled};
use super::growing::Growing;
use super::payload::{self, PayloadError};

/// How the counts are held.
#[derive(Clone, Debug)]
enum Counts {
    /// A counter for each bucket.
    Dense(Box<[u64]>),
    /// The filled buckets, coded, and values that are not among them yet.
    Growing(Growing),
    /// The filled buckets, coded.
    Coded(Box<[u8]>),
    /// The filled buckets, coded and compressed: otherwise a few MB of file could become a few GB of memory.
    Compressed(Box<[u8]>),
}

/// Counts per bucket.
#[derive(Clone, Debug)]
pub struct Histogram {
    counts: Counts,
    /// The sum of the counts; saturates.
    total: u64,
}

/// The size of a memory page at most.
const PAGE: usize = 4_096;

impl Histogram {
    /// A histogram without values and without memory for them.
    pub fn empty() -> Histogram {
        Histogram { counts: Counts::Coded(Box::default()), total: 0 }
    }

    /// A histogram without values, with all the memory that recording needs.
    pub fn ready() -> Histogram {
        Histogram { counts: Counts::Dense(vec![0; BUCKETS].into_boxed_slice()), total: 0 }
    }

    /// A histogram without values, for one of many: recording takes 50 ns and a few KB.
    pub fn growing() -> Histogram {
        Histogram { counts: Counts::Growing(Growing::default()), total: 0 }
    }

    /// A histogram of coded counts that `codec::check` accepted, with their total.
    pub(super) fn of_coded(coded: Vec<u8>, total: u64) -> Histogram {
        Histogram { counts: Counts::Coded(coded.into_boxed_slice()), total }
    }

    /// Keeps the compressed form of the counts instead of the counts, if that is much shorter.
    pub(super) fn hold(&mut self, compressed: Vec<u8>) {
        if matches!(&self.counts, Counts::Coded(coded) if coded.len() > compressed.len() + compressed.len() / 2 + 64) {
            self.counts = Counts::Compressed(compressed.into_boxed_slice());
        }
    }

    /// Counts a value `count` times. Counts saturate.
    pub fn record(&mut self, value: u64, count: u64) {
        match &mut self.counts {
            Counts::Dense(counts) => {
                let counter = &mut counts[bucket(value)];
                *counter = counter.saturating_add(count);
            }
            Counts::Growing(growing) => growing.record(bucket(value), count),
            Counts::Coded(_) | Counts::Compressed(_) => {
                let mut growing = Growing::of_coded(self.coded());
                growing.record(bucket(value), count);
                self.counts = Counts::Growing(growing);
            }
        }
        self.total = self.total.saturating_add(count);
    }

    /// Counts each of these values as often as stated.
    pub fn add_values(&mut self, values: impl Iterator<Item = (u64, u64)>) {
        let mut total = self.total;
        if let Counts::Growing(growing) = &mut self.counts {
            // Each addition encodes all buckets again, so there is one for all values.
            let mut filled: Vec<(usize, u64)> = values.map(|(value, count)| (bucket(value), count)).collect();
            filled.sort_unstable();
            total = filled.iter().fold(total, |total, (_, count)| total.saturating_add(*count));
            let same = filled.chunk_by(|a, b| a.0 == b.0);
            growing.add(same.map(|same| (same[0].0, same.iter().fold(0, |sum: u64, one| sum.saturating_add(one.1)))));
        } else {
            let counts = self.dense();
            for (value, count) in values {
                let counter = &mut counts[bucket(value)];
                *counter = counter.saturating_add(count);
                total = total.saturating_add(count);
            }
        }
        self.total = total;
    }

    /// Whether its memory grows with the recorded values.
    pub fn is_growing(&self) -> bool {
        matches!(self.counts, Counts::Growing(_))
    }

    /// The memory that the counts take.
    pub fn bytes(&self) -> usize {
        match &self.counts {
            Counts::Dense(counts) => size_of_val(&**counts),
            Counts::Growing(growing) => growing.bytes(),
            Counts::Coded(coded) | Counts::Compressed(coded) => coded.len(),
        }
    }

    /// Adds all counts of another.
    pub fn add(&mut self, other: &Histogram) {
        if other.total == 0 {
            return;
        }
        if let Counts::Growing(growing) = &mut self.counts {
            growing.add(other.filled());
            self.total = self.total.saturating_add(other.total);
            return;
        }
        if self.total == 0 {
            *self = other.clone();
            return;
        }
        let counts = self.dense();
        for (bucket, count) in other.filled() {
            counts[bucket] = counts[bucket].saturating_add(count);
        }
        self.total = self.total.saturating_add(other.total);
    }

    /// The number of values.
    pub fn len(&self) -> u64 {
        self.total
    }

    /// The filled buckets in ascending order, with their counts.
    pub fn filled(&self) -> Filled<'_> {
        match &self.counts {
            Counts::Dense(counts) => Filled::dense(counts),
            Counts::Growing(growing) => Filled::coded(growing.coded()),
            Counts::Coded(coded) => Filled::coded(Cow::Borrowed(coded)),
            Counts::Compressed(compressed) => Filled::coded(Cow::Owned(payload::decompressed_counts(compressed))),
        }
    }

    /// The largest value of the bucket that contains the value of this rank (from 1).
    pub fn value_at_rank(&self, rank: u64) -> u64 {
        let (mut seen, mut last) = (0_u64, 0);
        for (bucket, count) in self.filled() {
            seen = seen.saturating_add(count);
            last = bucket;
            if seen >= rank {
                break;
            }
        }
        bounds(last).1
    }

    /// The counts, coded as in the file.
    pub(super) fn coded(&self) -> Vec<u8> {
        codec::encode(self.filled())
    }

    /// The counts as a payload of HdrHistogram V2.
    pub fn encoded(&self) -> String {
        payload::encode(&self.coded())
    }

    /// Decodes a payload. Returns the histogram and the compressed form of its counts.
    ///
    /// # Errors
    /// The fault in the payload.
    pub fn decoded(text: &str) -> Result<(Histogram, Vec<u8>), PayloadError> {
        let payload::Decoded { counts, total, compressed } = payload::decode(text)?;
        Ok((Histogram::of_coded(counts, total), compressed))
    }

    /// Takes the memory that recording needs, and touches it: the system provides pages at their first use, which would
    /// otherwise be in the middle of a measurement.
    pub fn prepare(&mut self) {
        let counts = self.dense();
        for page in counts.chunks_mut(PAGE / size_of::<u64>()) {
            page[0] = std::hint::black_box(page[0]);
        }
    }

    /// Gives back the memory that only recording needs.
    pub fn shrink(&mut self) {
        if matches!(self.counts, Counts::Dense(_) | Counts::Growing(_)) {
            self.counts = Counts::Coded(self.coded().into_boxed_slice());
        }
    }

    /// A counter for each bucket.
    fn dense(&mut self) -> &mut [u64] {
        if !matches!(self.counts, Counts::Dense(_)) {
            let mut counts = vec![0; BUCKETS].into_boxed_slice();
            self.filled().for_each(|(bucket, count)| counts[bucket] = count);
            self.counts = Counts::Dense(counts);
        }
        match &mut self.counts {
            Counts::Dense(counts) => counts,
            _ => unreachable!("it was made so"),
        }
    }
}

/// Histograms are equal if their counts are, however these are held.
impl PartialEq for Histogram {
    fn eq(&self, other: &Histogram) -> bool {
        self.total == other.total && self.filled().eq(other.filled())
    }
}

#[cfg(test)]
mod tests {
    use super::super::buckets::{HIGHEST, SIGNIFICANT_DIGITS};
    use super::*;

    fn theirs() -> hdrhistogram::Histogram<u64> {
        hdrhistogram::Histogram::new_with_bounds(1, HIGHEST, SIGNIFICANT_DIGITS).unwrap()
    }

    #[test]
    fn buckets_are_those_of_hdr_histogram() {
        let reference = theirs();
        assert_eq!(BUCKETS, reference.distinct_values());
        let near_powers = (0..42).flat_map(|power| (-2..=2).map(move |near| (1_i64 << power) + near));
        for value in near_powers.filter(|&value| value >= 0).map(|value| value as u64).chain([HIGHEST, HIGHEST - 1]) {
            let (low, high) = bounds(bucket(value));
            assert_eq!(
                (low, high),
                (reference.lowest_equivalent(value), reference.highest_equivalent(value)),
                "{value}"
            );
        }
        for index in 0..BUCKETS {
            let (low, high) = bounds(index);
            assert_eq!((bucket(low), bucket(high)), (index, index));
        }
        for beyond in [1 << 42, 1 << 50, u64::MAX] {
            assert_eq!(bucket(beyond), bucket(HIGHEST));
        }
    }

    proptest::proptest! {
        #[test]
        fn values_count_where_hdr_histogram_counts_them(
            values in proptest::collection::vec((0_u32..64, proptest::prelude::any::<u64>(), 1_u64..1_000), 0..60),
        ) {
            let (mut ours, mut reference) = (Histogram::ready(), theirs());
            for (shift, value, count) in values {
                ours.record(value >> shift, count);
                reference.saturating_record_n(value >> shift, count);
            }
            let expected: Vec<(u64, u64)> =
                reference.iter_recorded().map(|step| (step.value_iterated_to(), step.count_at_value())).collect();
            let filled: Vec<(u64, u64)> = ours.filled().map(|(bucket, count)| (bounds(bucket).1, count)).collect();
            proptest::prop_assert_eq!(&filled, &expected);
            for rank in [1, ours.len() / 2, ours.len()].into_iter().filter(|&rank| rank > 0) {
                let share = (rank as f64 - 0.5) / ours.len() as f64;
                proptest::prop_assert_eq!(ours.value_at_rank(rank), reference.value_at_quantile(share));
            }
            let mut small = ours.clone();
            small.shrink();
            proptest::prop_assert!(small == ours && small.coded() == ours.coded());
            let mut both = small.clone();
            both.add(&ours);
            proptest::prop_assert_eq!(both.len(), 2 * ours.len());
        }
    }
}
