//! Checks a distribution's figures against its histograms. A file whose figures contradict them is damaged.

use super::Distribution;
use super::buckets::{HIGHEST, bounds, bucket};
use super::histogram::Histogram;

/// A distribution whose extremes and mean are only stated so far.
pub(super) struct Figures<'a> {
    stated: &'a Distribution,
    positive: Ends,
    negative: Ends,
}

/// The first and the last filled bucket, and whether the bucket of `HIGHEST` is filled, in which longer values count.
#[derive(Clone, Copy, Default)]
struct Ends {
    first_and_last: Option<(usize, usize)>,
    is_beyond_filled: bool,
}

impl Ends {
    fn of(histogram: &Histogram) -> Ends {
        let mut ends = Ends::default();
        for (filled, _) in histogram.filled() {
            let first = ends.first_and_last.map_or(filled, |(first, _)| first);
            ends.first_and_last = Some((first, filled));
            ends.is_beyond_filled |= filled == bucket(HIGHEST);
        }
        ends
    }

    /// Whether the largest magnitude can have this value.
    fn largest_is(self, magnitude: u64) -> bool {
        match bounds(bucket(magnitude)).1 < magnitude {
            true => self.is_beyond_filled,
            false => self.first_and_last.is_some_and(|(_, last)| last == bucket(magnitude)),
        }
    }

    /// Whether the smallest magnitude can have this value. Magnitudes above `HIGHEST` count in its bucket, below the last
    /// ones.
    fn smallest_is(self, magnitude: u64) -> bool {
        let is_beside_those_beyond = |first| bucket(magnitude) > bucket(HIGHEST) && first == bucket(HIGHEST);
        self.first_and_last.is_some_and(|(first, last)| {
            first == bucket(magnitude) || is_beside_those_beyond(first) && last >= bucket(magnitude)
        })
    }
}

impl<'a> Figures<'a> {
    pub fn of(stated: &'a Distribution) -> Figures<'a> {
        let negative = stated.negative.as_ref().map(Ends::of).unwrap_or_default();
        Figures { stated, positive: Ends::of(&stated.positive), negative }
    }

    /// The first figure that the histograms contradict, in a sentence: min, max, the mean, or one of the quantiles (name,
    /// share, value).
    pub fn contradiction(&self, mean: Option<f64>, quantiles: &[(&str, f64, Option<i64>)]) -> Option<String> {
        let Distribution { min, max, .. } = *self.stated;
        if self.negative.first_and_last.is_some_and(|(first, _)| first == 0) {
            return Some("negative_hdr_v2 holds zeros".to_owned());
        }
        if self.stated.is_empty() {
            let stated = quantiles.iter().find(|(_, _, value)| value.is_some()).map(|(name, _, _)| *name);
            return Some(format!("{} is stated, but there is no value", stated.or(mean.map(|_| "mean"))?));
        }
        if !self.min_fits(min) {
            return Some(format!("min is {min}, which is not in the lowest bucket of the histograms"));
        }
        if !self.max_fits(max) {
            return Some(format!("max is {max}, which is not in the highest bucket of the histograms"));
        }
        if let Some((mean, low, high)) = mean.and_then(|mean| self.mean_misfit(mean)) {
            return Some(format!("mean is {mean}, but by the histograms it lies between {low} and {high}"));
        }
        quantiles.iter().find_map(|(name, share, stated)| {
            let (stated, held) = ((*stated)?, self.stated.quantile(*share)?);
            let is_same = stated == held || place(stated) == place(held);
            (!is_same).then(|| format!("{name} is {stated}, but by the histograms it is {held}"))
        })
    }

    fn min_fits(&self, min: i64) -> bool {
        match self.negative.first_and_last {
            Some(_) => min < 0 && self.negative.largest_is(min.unsigned_abs()),
            None => min >= 0 && self.positive.smallest_is(min.unsigned_abs()),
        }
    }

    fn max_fits(&self, max: i64) -> bool {
        match self.positive.first_and_last {
            Some(_) => max >= 0 && self.positive.largest_is(max.unsigned_abs()),
            None => max < 0 && self.negative.smallest_is(max.unsigned_abs()),
        }
    }

    /// The mean with its smallest and largest possible values by the buckets, if it lies outside of them.
    fn mean_misfit(&self, mean: f64) -> Option<(f64, f64, f64)> {
        let Distribution { min, max, .. } = *self.stated;
        let within = |value: i64| value.clamp(min, max) as f64;
        let (mut low, mut high) = (0.0, 0.0);
        for (filled, count) in self.stated.positive.filled() {
            let (least, most) = bounds(filled);
            let most = if filled == bucket(HIGHEST) { i64::MAX } else { most as i64 };
            low += within(least as i64) * count as f64;
            high += within(most) * count as f64;
        }
        for (filled, count) in self.stated.negative.iter().flat_map(Histogram::filled) {
            let (least, most) = bounds(filled);
            let most = if filled == bucket(HIGHEST) { i64::MIN } else { -(most as i64) };
            low += within(most) * count as f64;
            high += within(-(least as i64)) * count as f64;
        }
        let count = self.stated.count() as f64;
        let (low, high) = (low / count, high / count);
        // The rounding of the mean, and that of the sums, which have the precision of their largest value.
        let grain = 1.0 + mean.abs() * 1e-9 + low.abs().max(high.abs()).max(min as f64).max(max as f64) * 1e-9;
        let fits = mean >= low - grain && mean <= high + grain;
        (!fits).then_some((mean, low, high))
    }
}

/// The place by which a histogram distinguishes values.
fn place(value: i64) -> (bool, usize) {
    (value < 0, bucket(value.unsigned_abs()))
}
