//! The 99 % confidence interval of a quantile, from the values alone: the ranks between which the quantile lies,
//! whatever the distribution (binomial). It assumes independent values.

use crate::comparison::Interval;
use crate::distribution::Distribution;

/// The probability beyond either end of an interval.
const TAIL: f64 = 0.005;
/// The corresponding quantile of the normal distribution.
pub const NORMAL: f64 = 2.575_829;
/// Variance from which the normal approximation of the binomial is good to a rank.
const NORMAL_VARIANCE: f64 = 25.0;
/// A histogram with three significant digits tells values apart by a thousandth.
const HISTOGRAM: i64 = 1_000;

/// The interval of any quantile, no narrower than the histogram's resolution or `step`. `None` if too few values lie beyond
/// it.
pub fn of_quantile(values: &Distribution, quantile: f64, step: i64) -> Option<Interval> {
    let (low, high) = ranks(values.count(), quantile)?;
    let at = |rank: u64| values.quantile((rank as f64 - 0.5) / values.count() as f64);
    let (low, high) = (at(low)?, at(high)?);
    let grain = |value: i64| (value.saturating_abs() / HISTOGRAM).saturating_add(step.max(0));
    Some(Interval { low: low.saturating_sub(grain(low)), high: high.saturating_add(grain(high)) })
}

/// The ranks (from 1) of the values between which a quantile of at least one half lies.
fn ranks(count: u64, quantile: f64) -> Option<(u64, u64)> {
    // Counted from the top: how many values lie above the quantile is binomial with the smaller probability.
    let beyond = 1.0 - quantile;
    let least = highest_at_most(count, beyond, TAIL)?;
    let most = highest_at_most(count, beyond, 1.0 - TAIL).map_or(0, |below| below + 1);
    (most < count).then(|| (count - most, count - least))
}

/// The largest number of successes such that the probability of at most that many does not exceed `probability`.
fn highest_at_most(count: u64, chance: f64, probability: f64) -> Option<u64> {
    let (n, variance) = (count as f64, count as f64 * chance * (1.0 - chance));
    if variance >= NORMAL_VARIANCE {
        let normal = if probability < 0.5 { -NORMAL } else { NORMAL };
        return Some((n * chance + normal * variance.sqrt() - 0.5).floor().max(0.0) as u64);
    }
    highest_exactly(count, chance, probability)
}

/// The highest rank by the sum of the probabilities, for any probability.
pub fn highest_exactly(count: u64, chance: f64, probability: f64) -> Option<u64> {
    let n = count as f64;
    let (mut each, mut sum, mut found) = ((1.0 - chance).powf(n), 0.0, None);
    for successes in 0..=count {
        sum += each;
        if sum > probability {
            break;
        }
        found = Some(successes);
        let done = successes as f64;
        each *= (n - done) / (done + 1.0) * chance / (1.0 - chance);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: impl IntoIterator<Item = i64>) -> Distribution {
        let mut distribution = Distribution::new();
        values.into_iter().for_each(|value| distribution.record(value));
        distribution
    }

    #[test]
    fn ranks_are_those_of_the_binomial() {
        // From the exact binomial sums with p = 1/2 and 1/100; the last from the normal approximation.
        for (count, quantile, found) in [
            (7, 0.5, None),
            (8, 0.5, Some((1, 8))),
            (10, 0.5, Some((1, 10))),
            (20, 0.5, Some((4, 17))),
            (100, 0.5, Some((37, 64))),
            (527, 0.99, None),
            (528, 0.99, Some((516, 528))),
            (1_000, 0.99, Some((981, 998))),
            (10_000, 0.99, Some((9_874, 9_927))),
        ] {
            assert_eq!(ranks(count, quantile), found, "{count} {quantile}");
        }
    }

    #[test]
    fn a_true_median_lies_outside_as_rarely_as_promised() {
        // 400 draws of 40 values from 0..10,000 by a linear congruential generator; the true median is 4,999.5.
        let mut state = 1_u64;
        let mut draw = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            ((state >> 33) % 10_000) as i64
        };
        let outside = (0..400)
            .filter(|_| {
                let interval = of_quantile(&of((0..40).map(|_| draw())), 0.5, 0).unwrap();
                interval.low > 4_999 || interval.high < 5_000
            })
            .count();
        assert!(outside <= 4, "{outside} of 400");
    }
}
