//! How uncertain a quantile is: where it lies with 99 % confidence.
//!
//! There are two uncertainties, and the wider one holds. The first is that of few values: the ranks between which a
//! quantile lies whatever the distribution (binomial). It assumes independent values, which waits in a row are not. The
//! second is therefore that of the rounds, which are spread over the whole run: the Student interval of their medians. It
//! is wide for few rounds. Neither is narrower than the histogram's resolution or the clock's step.
//!
//! The confidence is 99 % because a comparison covers hundreds of series at once: for equal series, two intervals of 95 %
//! are apart by chance once in 200 comparisons, two of 99 % once in 4,000.

use oversleep_record::Distribution;
use oversleep_record::comparison::Interval;

/// The probability outside of an interval, on either side.
const TAIL: f64 = 0.005;
/// The normal distribution's quantile for that.
const NORMAL: f64 = 2.575_829;
/// Student's, for 1 to 20 degrees of freedom; beyond them the last, which is too wide rather than too narrow.
const STUDENT: [f64; 20] = [
    63.657, 9.925, 5.841, 4.604, 4.032, 3.707, 3.499, 3.355, 3.250, 3.169, 3.106, 3.055, 3.012, 2.977, 2.947, 2.921,
    2.898, 2.878, 2.861, 2.845,
];
/// Variance from which the normal approximation of the binomial is good to a rank.
const NORMAL_VARIANCE: f64 = 25.0;
/// A histogram with three significant digits tells values apart by a thousandth.
const HISTOGRAM: i64 = 1_000;

/// Fewest rounds for which a median has an interval. The binomial needs eight values.
const ROUNDS_MIN: usize = 2;

/// The median's interval, from the values and the medians of their rounds. `None` with fewer than eight values or two
/// rounds.
pub(super) fn of_median(values: &Distribution, rounds: &[i64], step: i64) -> Option<Interval> {
    if rounds.len() < ROUNDS_MIN {
        return None;
    }
    let by_rank = of_quantile(values, 0.5, step)?;
    let half = half_width(rounds);
    let centre = values.p50()?;
    Some(Interval {
        low: by_rank.low.min(centre.saturating_sub(half)),
        high: by_rank.high.max(centre.saturating_add(half)),
    })
}

/// Any quantile's interval, from the values alone. `None` if too few lie beyond it.
pub(super) fn of_quantile(values: &Distribution, quantile: f64, step: i64) -> Option<Interval> {
    let (low, high) = ranks(values.count(), quantile)?;
    let at = |rank: u64| values.quantile((rank as f64 - 0.5) / values.count() as f64);
    let (low, high) = (at(low)?, at(high)?);
    let grain = |value: i64| (value.saturating_abs() / HISTOGRAM).saturating_add(step.max(0));
    Some(Interval { low: low.saturating_sub(grain(low)), high: high.saturating_add(grain(high)) })
}

/// Half the width of the Student interval of these medians' mean.
fn half_width(rounds: &[i64]) -> i64 {
    let count = rounds.len() as f64;
    let mean = rounds.iter().map(|&median| median as f64).sum::<f64>() / count;
    let squares: f64 = rounds.iter().map(|&median| (median as f64 - mean).powi(2)).sum();
    let deviation = (squares / (count - 1.0)).sqrt();
    let student = STUDENT.get(rounds.len() - 2).copied().unwrap_or(STUDENT[STUDENT.len() - 1]);
    (student * deviation / count.sqrt()).ceil() as i64
}

/// The ranks (from 1) of the values between which a quantile of at least one half lies.
fn ranks(count: u64, quantile: f64) -> Option<(u64, u64)> {
    // Counted from the top: how many values lie above the quantile is binomial with the smaller probability.
    let beyond = 1.0 - quantile;
    let least = highest_at_most(count, beyond, TAIL)?;
    let most = highest_at_most(count, beyond, 1.0 - TAIL).map_or(0, |below| below + 1);
    (most < count).then(|| (count - most, count - least))
}

/// The largest number of successes of which no more come with at most that probability.
fn highest_at_most(count: u64, chance: f64, probability: f64) -> Option<u64> {
    let (n, variance) = (count as f64, count as f64 * chance * (1.0 - chance));
    if variance >= NORMAL_VARIANCE {
        let normal = if probability < 0.5 { -NORMAL } else { NORMAL };
        return Some((n * chance + normal * variance.sqrt() - 0.5).floor().max(0.0) as u64);
    }
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
    fn few_values_and_few_rounds_have_no_interval() {
        assert_eq!(of_median(&of(0..7), &[3, 3, 3], 0), None);
        assert_eq!(of_median(&of(0..100), &[50], 0), None);
        assert_eq!(of_quantile(&of(0..500), 0.99, 0), None);
    }

    #[test]
    fn the_wider_uncertainty_holds() {
        let values = of((0..20).map(|value| 1_000 + value));
        let by_values = of_median(&values, &[1_009, 1_009, 1_009], 0).unwrap();
        assert_eq!(by_values, Interval { low: 1_003 - 1, high: 1_016 + 1 });
        // 9.925 · 10 / √3 = 57.3
        let by_rounds = of_median(&values, &[999, 1_009, 1_019], 0).unwrap();
        assert_eq!(by_rounds, Interval { low: 1_009 - 58, high: 1_009 + 58 });
        // Two rounds that far apart say next to nothing: 63.657 · 14.14 / √2 = 636.6
        let by_two = of_median(&values, &[999, 1_019], 0).unwrap();
        assert_eq!(by_two, Interval { low: 1_009 - 637, high: 1_009 + 637 });
    }

    #[test]
    fn nothing_is_finer_than_the_clock() {
        let same = of(std::iter::repeat_n(500, 40));
        assert_eq!(of_median(&same, &[500, 500], 100), Some(Interval { low: 400, high: 600 }));
    }

    #[test]
    fn the_ends_of_the_range_are_no_reason_to_panic() {
        for value in [i64::MIN, i64::MAX] {
            let ends = of(std::iter::repeat_n(value, 40));
            assert!(of_median(&ends, &[i64::MIN, i64::MAX], i64::MAX).is_some());
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
