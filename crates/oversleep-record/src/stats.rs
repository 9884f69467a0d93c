//! Statistics on rounds: whether a figure is steady enough for a conclusion.

use crate::series::Series;

/// How steady the rounds of a series are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Steadiness {
    /// Fewer than three rounds with values, or fewer than thirty values: inconclusive.
    TooFew,
    /// The rounds agree: the half-width of their spread around the median, relative to it.
    Steady(f64),
    /// The rounds disagree too much for a conclusion.
    Disturbed(f64),
}

/// The fewest values for a conclusion.
pub const VALUES_MIN: u64 = 30;
/// The fewest rounds for a conclusion.
pub const ROUNDS_MIN: usize = 3;
/// Spread of the round medians beyond which a series is too disturbed.
pub const SPREAD_MAX: f64 = 0.5;
/// A spread below this many units of the series comes from the granularity of the clock and the scheduler, not from
/// disturbance.
pub const SPREAD_FLOOR: f64 = 3_000.0;

/// The median of a list; `None` for an empty one.
pub fn median(values: &mut [i64]) -> Option<i64> {
    if values.is_empty() {
        return None;
    }
    let middle = (values.len() - 1) / 2;
    Some(*values.select_nth_unstable(middle).1)
}

/// A percentile of a round's values; `None` unless at least one value lies beyond it.
pub fn percentile_of_round(values: &mut [i64], percent: usize) -> Option<i64> {
    let beyond = values.len() * (100 - percent.min(100)) / 100;
    let place = (beyond > 0).then(|| values.len() - beyond - 1)?;
    Some(*values.select_nth_unstable(place).1)
}

/// Judges a series by the medians of its interleaved rounds: by the ratio of their median absolute deviation to their
/// median.
pub fn steadiness(series: &Series) -> Steadiness {
    let mut medians: Vec<i64> = series.rounds.iter().filter_map(|round| round.median).collect();
    if medians.len() < ROUNDS_MIN || series.distribution.count() < VALUES_MIN {
        return Steadiness::TooFew;
    }
    let Some(centre) = median(&mut medians) else { return Steadiness::TooFew };
    let mut deviations: Vec<i64> = medians.iter().map(|value| value.saturating_sub(centre).saturating_abs()).collect();
    let Some(deviation) = median(&mut deviations) else { return Steadiness::TooFew };
    let spread = deviation as f64 / (centre.unsigned_abs() as f64).max(1.0);
    if spread > SPREAD_MAX && deviation as f64 > SPREAD_FLOOR {
        Steadiness::Disturbed(spread)
    } else {
        Steadiness::Steady(spread)
    }
}

/// Share of the round pairs (taken in order, as they were interleaved) in which `after` has the lower median.
///
/// 0.5 is chance. `None` with fewer than three pairs.
pub fn share_of_rounds_lower(before: &Series, after: &Series) -> Option<f64> {
    let pairs: Vec<(i64, i64)> =
        before.rounds.iter().zip(&after.rounds).filter_map(|(b, a)| Some((b.median?, a.median?))).collect();
    (pairs.len() >= ROUNDS_MIN).then(|| pairs.iter().filter(|(b, a)| a < b).count() as f64 / pairs.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ExperimentId;
    use crate::disturbance::Disturbance;
    use crate::series::{Quantity, Round, Unit};
    use crate::units::Nanos;

    fn rounds_of(medians: &[i64]) -> Series {
        let mut series = Series::new(ExperimentId::B5, "nanosleep", Quantity::Lateness, Unit::Ns);
        for &value in medians {
            (0..20).for_each(|_| series.distribution.record(value));
            series.rounds.push(Round {
                start_ns: Nanos::ZERO,
                count: 20,
                median: Some(value),
                p90: None,
                p99: None,
                disturbance: Disturbance::default(),
            });
        }
        series
    }

    #[test]
    fn a_percentile_of_a_round_has_a_value_beyond_it() {
        let mut values: Vec<i64> = (1..=100).rev().collect();
        assert_eq!(percentile_of_round(&mut values, 90), Some(90));
        assert_eq!(percentile_of_round(&mut values, 99), Some(99));
        assert_eq!(percentile_of_round(&mut values[..99], 99), None);
        assert_eq!(percentile_of_round(&mut [], 90), None);
    }

    #[test]
    fn rounds_that_agree_are_steady() {
        assert!(matches!(steadiness(&rounds_of(&[66_000, 65_000, 67_000])), Steadiness::Steady(_)));
        assert!(matches!(steadiness(&rounds_of(&[66_000, 400_000, 9_000, 200_000])), Steadiness::Disturbed(_)));
        assert_eq!(steadiness(&rounds_of(&[66_000, 65_000])), Steadiness::TooFew);
        assert!(matches!(steadiness(&rounds_of(&[100, 900, 2_000])), Steadiness::Steady(_)), "grain, not disturbance");
    }

    #[test]
    fn medians_at_both_ends_of_the_range_are_disturbed() {
        let far_apart = rounds_of(&[1, i64::MAX, i64::MIN, i64::MAX]);
        assert!(matches!(steadiness(&far_apart), Steadiness::Disturbed(_)));
        assert!(matches!(steadiness(&rounds_of(&[i64::MIN; 3])), Steadiness::Steady(_)));
    }

    #[test]
    fn pairs_of_rounds_tell_an_effect_from_chance() {
        let (slow, fast) = (rounds_of(&[66, 67, 65, 66]), rounds_of(&[14, 15, 14, 70]));
        assert_eq!(share_of_rounds_lower(&slow, &fast), Some(0.75));
        assert_eq!(share_of_rounds_lower(&slow, &slow), Some(0.0), "equal medians are not lower");
        assert_eq!(share_of_rounds_lower(&slow, &rounds_of(&[1])), None);
    }
}
