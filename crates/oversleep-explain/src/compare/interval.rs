//! The uncertainty of a quantile: its 99 % confidence interval.
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

pub(super) use oversleep_record::quantile_interval::of_quantile;

/// Student's t for 1 to 20 degrees of freedom; beyond them the last one, which is too wide rather than too narrow.
const STUDENT: [f64; 20] = [
    63.657, 9.925, 5.841, 4.604, 4.032, 3.707, 3.499, 3.355, 3.250, 3.169, 3.106, 3.055, 3.012, 2.977, 2.947, 2.921,
    2.898, 2.878, 2.861, 2.845,
];

/// Fewest rounds for which a median has an interval. The binomial needs eight values.
const ROUNDS_MIN: usize = 2;

/// The median's interval, from the values and the medians of their rounds. `None` with fewer than eight values or two
/// rounds.
pub fn of_median(values: &Distribution, rounds: &[i64], step: i64) -> Option<Interval> {
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

/// Half the width of the Student interval of these medians' mean.
fn half_width(rounds: &[i64]) -> i64 {
    let count = rounds.len() as f64;
    let mean = rounds.iter().map(|&median| median as f64).sum::<f64>() / count;
    let squares: f64 = rounds.iter().map(|&median| (median as f64 - mean).powi(2)).sum();
    let deviation = (squares / (count - 1.0)).sqrt();
    let student = STUDENT.get(rounds.len() - 2).copied().unwrap_or(STUDENT[STUDENT.len() - 1]);
    (student * deviation / count.sqrt()).ceil() as i64
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
        // Two rounds that far apart leave a very wide interval: 63.657 · 14.14 / √2 = 636.6
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
}
