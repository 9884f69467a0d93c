//! Distributions with two peaks, for which a median is meaningless: a wait that ends at one tick or at the next, a
//! yield that returns at once or after a whole time slice.

use std::fmt;

use crate::distribution::Distribution;
use crate::series::Unit;
use crate::words::{percent, value};

/// Fewest values that show two peaks.
const VALUES_MIN: u64 = 20;
/// The smallest share of the values that counts as a peak, in percent.
const SHARE_MIN: u32 = 10;
/// Half the share of the values that may lie between the peaks, in percent.
const BETWEEN: u32 = 2;
/// The peaks must be apart by at least this many times the lower one's value.
const APART_MIN: i64 = 3;
/// Differences below this many units are noise.
const NOISE: i64 = 1_000;

/// Two groups of values, far apart, with hardly any between them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TwoPeaks {
    /// The median of the lower group.
    pub low: i64,
    /// The median of the upper group.
    pub high: i64,
    /// The share of the values in the lower group.
    pub low_share: f64,
}

impl TwoPeaks {
    /// The two peaks of a distribution; `None` if it has one peak, many, or too few values.
    pub fn of(values: &Distribution) -> Option<TwoPeaks> {
        if values.count() < VALUES_MIN {
            return None;
        }
        let at = |per_cent: u32| values.quantile(f64::from(per_cent) / 100.0);
        let mut widest: Option<(i64, u32)> = None;
        for share in SHARE_MIN..=100 - SHARE_MIN {
            let (below, above) = (at(share - BETWEEN)?, at(share + BETWEEN)?);
            let gap = above.saturating_sub(below);
            let is_apart = gap >= below.saturating_abs().max(NOISE).saturating_mul(APART_MIN);
            if is_apart && widest.is_none_or(|(known, _)| gap > known) {
                widest = Some((gap, share));
            }
        }
        let (_, share) = widest?;
        let (low, high) = (at(share / 2)?, at(share + (100 - share) / 2)?);
        let middle = low.saturating_add(high.saturating_sub(low) / 2);
        let low_share = 1.0 - values.count_above(middle) as f64 / values.count() as f64;
        Some(TwoPeaks { low, high, low_share })
    }

    /// In words, in the unit of their series, with `beyond` added to each value: `66 % near 1.01 ms, 34 % near 2 ms`.
    pub fn words(self, unit: Unit, beyond: i64) -> impl fmt::Display {
        let near =
            |share: f64, peak: i64| format!("{} near {}", percent(share), value(unit, peak.saturating_add(beyond)));
        format!("{}, {}", near(self.low_share, self.low), near(1.0 - self.low_share, self.high))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(counts: &[(i64, u64)]) -> Option<TwoPeaks> {
        TwoPeaks::of(&Distribution::of_counts(counts.iter().copied()))
    }

    #[test]
    fn one_tick_or_the_next() {
        let peaks = of(&[(10_000, 32), (1_000_000, 68)]).expect("two");
        assert!((0.31..0.33).contains(&peaks.low_share), "{peaks:?}");
        assert_eq!(peaks.words(Unit::Ns, 1_000_000).to_string(), "32 % near 1.01 ms, 68 % near 2 ms");
        // A yield that returns at once or after a slice, with a few in between.
        let peaks = of(&[(1_000, 54), (1_100, 1), (400_000, 1), (1_000_000, 40), (1_200_000, 4)]).expect("two");
        assert_eq!(peaks.words(Unit::Ns, 0).to_string(), "56 % near 1 µs, 44 % near 1 ms");
    }

    #[test]
    fn one_peak_a_tail_or_a_slope_are_not_two() {
        assert_eq!(of(&[(66_000, 50), (70_000, 50)]), None, "close to each other");
        assert_eq!(of(&[(66_000, 95), (4_000_000, 5)]), None, "a tail");
        let slope: Vec<(i64, u64)> = (1..100).map(|step| (1_000 * step * step, 1)).collect();
        assert_eq!(of(&slope), None, "no gap");
        assert_eq!(of(&[(20, 60), (900, 40)]), None, "noise of a clock");
        assert_eq!(of(&[(10_000, 9), (1_000_000, 10)]), None, "too few");
        let ends = of(&[(i64::MIN, 50), (i64::MAX, 50)]).map(|peaks| peaks.words(Unit::Ns, i64::MAX).to_string());
        assert!(ends.is_none_or(|text| text.contains("50 %")), "no arithmetic goes beyond its ends");
    }
}
