//! The counts of one of many histograms: the filled buckets, coded as in the file, and a list of the newest values.
//! When the list is half as long as the filled buckets, it is sorted and merged into them. Zeros are only counted: most
//! parts of most waits are zero.

use std::borrow::Cow;

use super::codec::{self, Filled};

/// The shortest list of newest values that is merged: a quarter of a KB for one of many histograms.
const RECENT_MIN: usize = 128;

/// The counts; see the module.
#[derive(Clone, Debug, Default)]
pub struct Growing {
    coded: Vec<u8>,
    filled: usize,
    /// Values of zero that are not in `coded` yet.
    zeros: u64,
    /// Buckets of the newest values above zero.
    recent: Vec<u16>,
    /// Those that were counted several times at once, as the lines of a histogram are.
    counted: Vec<(u16, u64)>,
}

impl Growing {
    /// One that begins with coded counts.
    pub fn of_coded(coded: Vec<u8>) -> Growing {
        let filled = Filled::coded(Cow::Borrowed(&coded)).count();
        Growing { coded, filled, ..Growing::default() }
    }

    /// Counts a value of this bucket `count` times.
    pub fn record(&mut self, bucket: usize, count: u64) {
        if bucket == 0 {
            self.zeros = self.zeros.saturating_add(count);
            return;
        }
        match count {
            1 => self.recent.push(bucket as u16),
            _ => self.counted.push((bucket as u16, count)),
        }
        // Merging takes time for each filled bucket, so it waits for so many new values to share the cost.
        if self.recent.len() + self.counted.len() >= (self.filled / 2).max(RECENT_MIN) {
            let has_single = !self.recent.is_empty();
            self.add(std::iter::empty());
            if has_single {
                self.recent.reserve_exact((self.filled / 2).max(RECENT_MIN));
            }
        }
    }

    /// Adds these buckets with their counts, in ascending order.
    pub fn add(&mut self, filled: impl Iterator<Item = (usize, u64)>) {
        self.coded = codec::encode(Sum::of(self.merged(), filled));
        self.coded.shrink_to_fit();
        self.filled = Filled::coded(Cow::Borrowed(&self.coded)).count();
        self.zeros = 0;
        self.recent.clear();
        self.counted.clear();
    }

    /// All counts, coded.
    pub fn coded(&self) -> Cow<'_, [u8]> {
        if self.recent.is_empty() && self.counted.is_empty() && self.zeros == 0 {
            return Cow::Borrowed(&self.coded);
        }
        Cow::Owned(codec::encode(self.merged()))
    }

    /// The memory that the counts take.
    pub fn bytes(&self) -> usize {
        let listed = self.recent.capacity() * size_of::<u16>() + self.counted.capacity() * size_of::<(u16, u64)>();
        self.coded.capacity() + listed
    }

    fn merged(&self) -> impl Iterator<Item = (usize, u64)> {
        let mut recent = self.recent.clone();
        recent.sort_unstable();
        let zeros = (self.zeros > 0).then_some((0, self.zeros));
        let above: Vec<(usize, u64)> =
            recent.chunk_by(|a, b| a == b).map(|run| (usize::from(run[0]), run.len() as u64)).collect();
        let mut counted = self.counted.clone();
        counted.sort_unstable_by_key(|(bucket, _)| *bucket);
        let sum = |run: &[(u16, u64)]| run.iter().fold(0, |sum: u64, (_, count)| sum.saturating_add(*count));
        let counted: Vec<(usize, u64)> =
            counted.chunk_by(|a, b| a.0 == b.0).map(|run| (usize::from(run[0].0), sum(run))).collect();
        let listed = Sum::of(zeros.into_iter().chain(above), counted.into_iter());
        Sum::of(Filled::coded(Cow::Borrowed(&self.coded)), listed)
    }
}

/// Merges the counts of two histograms, in the order of their buckets.
struct Sum<A: Iterator, B: Iterator> {
    one: std::iter::Peekable<A>,
    other: std::iter::Peekable<B>,
}

impl<A: Iterator<Item = (usize, u64)>, B: Iterator<Item = (usize, u64)>> Sum<A, B> {
    fn of(one: A, other: B) -> Sum<A, B> {
        Sum { one: one.peekable(), other: other.peekable() }
    }
}

impl<A: Iterator<Item = (usize, u64)>, B: Iterator<Item = (usize, u64)>> Iterator for Sum<A, B> {
    type Item = (usize, u64);

    fn next(&mut self) -> Option<(usize, u64)> {
        match (self.one.peek(), self.other.peek()) {
            (Some((one, _)), Some((other, _))) if one == other => {
                let ((bucket, a), (_, b)) = (self.one.next()?, self.other.next()?);
                Some((bucket, a.saturating_add(b)))
            }
            (Some((one, _)), Some((other, _))) if one > other => self.other.next(),
            (Some(_), _) => self.one.next(),
            (None, _) => self.other.next(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Growing, RECENT_MIN};
    use crate::Distribution;

    /// A histogram of so many lines would take time for their square.
    #[test]
    fn counts_are_coded_together() {
        let mut growing = Growing::default();
        (1..RECENT_MIN).for_each(|bucket| growing.record(bucket, 7));
        assert!(growing.coded.is_empty());
        growing.record(1, 7);
        assert_eq!(growing.filled, RECENT_MIN - 1);
    }

    proptest::proptest! {
        #[test]
        fn it_counts_as_one_that_has_all_its_memory(
            values in proptest::collection::vec((proptest::prelude::any::<i64>(), 20_u32..64, 0_u64..4), 0..4_000),
            times in 0_u64..100,
            zeros in 0_usize..100,
        ) {
            let (mut growing, mut ready) = (Distribution::growing(), Distribution::new());
            growing.record_times(7, times);
            ready.record_times(7, times);
            for _ in 0..zeros {
                growing.record(0);
                ready.record(0);
            }
            for (value, shift, count) in values {
                growing.record_times(value >> shift, count);
                ready.record_times(value >> shift, count);
            }
            proptest::prop_assert!(growing == ready);
            proptest::prop_assert_eq!(growing.count(), ready.count());
            proptest::prop_assert_eq!(growing.p99(), ready.p99());
            let mut merged = Distribution::growing();
            merged.record(-3);
            merged.merge(&growing);
            merged.merge(&ready);
            let mut twice = Distribution::new();
            twice.record(-3);
            twice.merge(&ready);
            twice.merge(&ready);
            proptest::prop_assert!(merged == twice && merged.positive.is_growing());
            let mut small = growing.clone();
            small.shrink();
            proptest::prop_assert!(small == growing);
        }
    }
}
