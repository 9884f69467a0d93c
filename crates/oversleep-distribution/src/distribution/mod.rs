//! A whole distribution of signed values: two HDR histograms, one of them for negative values, and exact extremes.
//!
//! HdrHistogram holds no negative values. Early wake-ups are therefore kept in a histogram of their own instead of
//! being clamped to zero. Quantiles run over both, the most negative value first.

mod beyond;
mod buckets;
mod codec;
#[cfg(any(test, feature = "testing"))]
mod few;
mod figures;
mod form;
mod growing;
mod histogram;
mod payload;

use buckets::bounds;
use histogram::Histogram;

pub use beyond::Beyond;
pub(crate) use codec::{number, push};
pub use payload::PayloadError;

/// The most values that the correction for omission fills in, bucket by bucket: about two seconds.
const OMISSION_FILLS_MAX: u128 = 20_000_000;

/// A distribution of signed whole numbers in the unit of the series that owns it.
#[derive(Clone, Debug, PartialEq)]
pub struct Distribution {
    /// Values of zero and above.
    positive: Histogram,
    /// Magnitudes of the negative values; `None` until there is one.
    negative: Option<Histogram>,
    min: i64,
    max: i64,
    /// Exact sum, for the mean.
    sum: i128,
    /// Values above all others whose size isn't known. The owner keeps them in its file.
    beyond: Option<Beyond>,
}

/// Without values, and without memory for them: it grows with its values.
impl Default for Distribution {
    fn default() -> Self {
        Distribution {
            positive: Histogram::empty(),
            negative: None,
            min: i64::MAX,
            max: i64::MIN,
            sum: 0,
            beyond: None,
        }
    }
}

impl Distribution {
    /// An empty distribution. It allocates all the memory for non-negative values, so that recording doesn't allocate.
    pub fn new() -> Distribution {
        Distribution { positive: Histogram::ready(), ..Distribution::default() }
    }

    /// An empty distribution whose memory grows with its values, for one of many.
    pub fn growing() -> Distribution {
        Distribution { positive: Histogram::growing(), ..Distribution::default() }
    }

    /// Takes all the memory that recording values of zero and above needs.
    pub fn prepare(&mut self) {
        self.positive.prepare();
    }

    /// Adds one value. About 10 ns where all memory was taken before, which then allocates only at the first negative value;
    /// about 50 ns otherwise.
    pub fn record(&mut self, value: i64) {
        self.record_times(value, 1);
    }

    /// Adds a value `count` times.
    pub fn record_times(&mut self, value: i64, count: u64) {
        if count == 0 {
            return;
        }
        if value >= 0 {
            self.positive.record(value as u64, count);
        } else {
            let empty = || if self.positive.is_growing() { Histogram::growing() } else { Histogram::ready() };
            self.negative.get_or_insert_with(empty).record(value.unsigned_abs(), count);
        }
        self.min = self.min.min(value);
        self.max = self.max.max(value);
        self.sum = self.sum.saturating_add(i128::from(value).saturating_mul(i128::from(count)));
    }

    /// A distribution of one value, `count` times.
    pub fn of_equal(value: i64, count: u64) -> Distribution {
        let (mut all, mut some) = (Distribution::new(), Distribution::new());
        some.record(value);
        for bit in 0..u64::BITS - count.leading_zeros() {
            if count >> bit & 1 == 1 {
                all.merge(&some);
            }
            let same = some.clone();
            some.merge(&same);
        }
        all
    }

    /// All values of `other` as well.
    pub fn merge(&mut self, other: &Distribution) {
        self.positive.add(&other.positive);
        if let Some(negative) = &other.negative {
            let empty = if self.positive.is_growing() { Histogram::growing } else { Histogram::empty };
            self.negative.get_or_insert_with(empty).add(negative);
        }
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
        self.sum = self.sum.saturating_add(other.sum);
        if let Some(beyond) = other.beyond {
            self.add_beyond(beyond);
        }
    }

    /// Adds buckets as [`buckets`](Distribution::buckets) gives them, with the extremes and the sum of their values. About
    /// 3 ns a bucket where the distribution has all its memory.
    pub fn add_buckets(&mut self, buckets: impl IntoIterator<Item = (i64, u64)>, min: i64, max: i64, sum: i128) {
        let mut negative = Vec::new();
        let at_least_zero = buckets.into_iter().filter(|&(highest, count)| {
            if highest < 0 {
                negative.push((highest.unsigned_abs(), count));
            }
            highest >= 0
        });
        self.positive.add_values(at_least_zero.map(|(highest, count)| (highest.unsigned_abs(), count)));
        if !negative.is_empty() {
            let empty = || if self.positive.is_growing() { Histogram::growing() } else { Histogram::ready() };
            self.negative.get_or_insert_with(empty).add_values(negative.into_iter());
        }
        self.min = self.min.min(min);
        self.max = self.max.max(max);
        self.sum = self.sum.saturating_add(sum);
    }

    /// Adds values above all others whose size isn't known to those that there are.
    pub fn add_beyond(&mut self, more: Beyond) {
        self.beyond = match self.beyond {
            Some(one) => {
                let max = one.max.zip(more.max).map(|(one, two)| one.max(two));
                Some(Beyond { count: one.count.saturating_add(more.count), from: one.from.min(more.from), max })
            }
            None => Some(more),
        };
    }

    /// Adds values above all others whose size isn't known. They are not in the count, but in the rank of each quantile. The
    /// mean isn't known with them.
    pub fn set_beyond(&mut self, beyond: Option<Beyond>) {
        self.beyond = beyond.filter(|beyond| beyond.count > 0);
    }

    /// Values above all others whose size isn't known.
    pub fn beyond(&self) -> Option<Beyond> {
        self.beyond
    }

    /// The number of values.
    pub fn count(&self) -> u64 {
        self.positive.len().saturating_add(self.early_count())
    }

    /// Whether there are no values.
    pub fn is_empty(&self) -> bool {
        self.count() == 0
    }

    /// The number of values below zero.
    pub fn early_count(&self) -> u64 {
        self.negative.as_ref().map_or(0, Histogram::len)
    }

    /// Whether its extremes lie between those of another.
    pub fn is_within(&self, other: &Distribution) -> bool {
        self.is_empty() || other.min() <= self.min() && self.recorded_max() <= other.recorded_max()
    }

    /// The smallest value, exactly.
    pub fn min(&self) -> Option<i64> {
        (!self.is_empty()).then_some(self.min)
    }

    /// The largest value, exactly; `None` if there are no values, or it isn't known.
    pub fn max(&self) -> Option<i64> {
        match self.beyond {
            None => self.recorded_max(),
            Some(beyond) => beyond.max.max(beyond.max.and(self.recorded_max())),
        }
    }

    /// The largest value of known size.
    pub fn recorded_max(&self) -> Option<i64> {
        (!self.is_empty()).then_some(self.max)
    }

    /// The exact sum of all values.
    pub fn sum(&self) -> i128 {
        self.sum
    }

    /// The mean; `None` if there are no values, or some of unknown size.
    pub fn mean(&self) -> Option<f64> {
        self.beyond.is_none().then(|| self.recorded_mean()).flatten()
    }

    fn recorded_mean(&self) -> Option<f64> {
        (!self.is_empty()).then(|| self.sum as f64 / self.count() as f64)
    }

    /// The smallest value that at least the share `quantile` (0 to 1) of all values doesn't exceed, within 0.1 %.
    ///
    /// `None` if there are no values, or it is one of unknown size.
    pub fn quantile(&self, quantile: f64) -> Option<i64> {
        self.quantile_of(quantile, self.total())
    }

    /// All values, with those of unknown size.
    fn total(&self) -> u64 {
        self.count().saturating_add(self.beyond.map_or(0, |beyond| beyond.count))
    }

    /// The quantile of that many values, of which the first are known.
    fn quantile_of(&self, quantile: f64, total: u64) -> Option<i64> {
        let rank = ((quantile.clamp(0.0, 1.0) * total as f64).ceil() as u64).clamp(1, total.max(1));
        if rank > self.count() {
            return None;
        }
        let early_count = self.early_count();
        let value = if rank <= early_count {
            // The earliest have the largest magnitude: count from the top.
            let negative = self.negative.as_ref().expect("there are early values");
            -(negative.value_at_rank(early_count - rank + 1) as i64)
        } else {
            self.positive.value_at_rank(rank - early_count) as i64
        };
        // Where some of unknown size begin, the order isn't known any more.
        let value = value.clamp(self.min, self.max);
        self.beyond.is_none_or(|beyond| total == self.count() || value < beyond.from).then_some(value)
    }

    /// The quantile, or `None` if fewer than ten values lie beyond it: p99 needs 1,000 values, p50 twenty.
    pub fn safe_quantile(&self, quantile: f64) -> Option<i64> {
        let beyond = self.total() as f64 * (1.0 - quantile).min(quantile);
        if beyond + 1e-9 >= 10.0 { self.quantile(quantile) } else { None }
    }

    /// Median.
    pub fn p50(&self) -> Option<i64> {
        self.quantile(0.5)
    }

    /// 99th percentile.
    pub fn p99(&self) -> Option<i64> {
        self.quantile(0.99)
    }

    /// How many values are greater than `bound` (to the histogram's resolution); at least so many if the
    /// size of some isn't known.
    pub fn count_above(&self, bound: i64) -> u64 {
        let unknown = self.beyond.filter(|beyond| beyond.from > bound).map_or(0, |beyond| beyond.count);
        self.buckets().filter(|&(value, _)| value > bound).fold(unknown, |sum, (_, count)| sum.saturating_add(count))
    }

    /// Every filled bucket in ascending order: its highest equivalent value and its count.
    pub fn buckets(&self) -> impl Iterator<Item = (i64, u64)> + '_ {
        let highest = |(bucket, count): (usize, u64)| (bounds(bucket).1 as i64, count);
        let negative: Vec<(i64, u64)> = self.negative.iter().flat_map(Histogram::filled).map(highest).collect();
        let negative = negative.into_iter().rev().map(|(value, count)| (-value, count));
        negative.chain(self.positive.filled().map(highest))
    }

    /// The view corrected for coordinated omission: for each value of `interval` and above, the values that a schedule
    /// of that interval would have seen meanwhile are added: value − interval, value − 2·interval … down to the last
    /// deadline that had passed (value mod interval).
    ///
    /// Meant for series that issue the next request only after the last one ended. A series on absolute deadlines
    /// holds those values already.
    ///
    /// `None` if the interval is not above zero, or so short compared with the values that filling them in would take
    /// more than a few seconds.
    pub fn corrected_for_omission(&self, interval: i64) -> Option<Distribution> {
        let step = u64::try_from(interval).ok().filter(|&step| step > 0)?;
        // The middle of a bucket, not its end: a value just below a multiple of the interval must not gain a deadline.
        let within = |value: u64| value.clamp(self.min.max(0).unsigned_abs(), self.max.max(0).unsigned_abs());
        let middle = |(low, high): (u64, u64)| low + (high - low).div_ceil(2);
        let positive: Vec<(u64, u64)> =
            self.positive.filled().map(|(bucket, count)| (within(middle(bounds(bucket))), count)).collect();
        if positive.iter().map(|&(value, _)| u128::from(value / step)).sum::<u128>() > OMISSION_FILLS_MAX {
            return None;
        }
        let mut corrected = self.clone();
        for (value, count) in positive {
            let mut missed = value;
            while missed >= step {
                missed -= step;
                corrected.record_many(missed, count);
            }
        }
        Some(corrected)
    }

    /// Adds a value of zero or above that many times.
    fn record_many(&mut self, value: u64, count: u64) {
        self.positive.record(value, count);
        let value = i64::try_from(value).unwrap_or(i64::MAX);
        self.min = self.min.min(value);
        self.max = self.max.max(value);
        self.sum = self.sum.saturating_add(i128::from(value) * i128::from(count));
    }

    /// Values of zero and above, and the magnitudes of those below, as compressed payloads of HdrHistogram in base64.
    pub fn payloads(&self) -> (String, Option<String>) {
        (self.positive.encoded(), self.negative.as_ref().map(Histogram::encoded))
    }

    /// The memory that the counts take, in bytes: 262 KB in a distribution that is ready to record, and at most some KB in
    /// others.
    pub fn heap_bytes(&self) -> usize {
        self.positive.bytes() + self.negative.as_ref().map_or(0, Histogram::bytes)
    }

    /// Gives back the memory that only recording needs; recording more takes it again.
    pub fn shrink(&mut self) {
        self.positive.shrink();
        self.negative.iter_mut().for_each(Histogram::shrink);
    }
}

#[cfg(test)]
mod tests;
