//! Whether a series has enough rounds: its rounds agree, and its median is known.

use oversleep_record::quantile_interval::of_quantile;
use oversleep_record::stats::{ROUNDS_MIN, SPREAD_FLOOR, SPREAD_MAX, VALUES_MIN};
use oversleep_record::{Nanos, Series};

/// Half of the median's 99 % interval may be this share of the median.
const INTERVAL_MAX: f64 = 0.1;
/// The median of each round may differ from that of all by this share of it: half of what makes a series too disturbed.
const APART_MAX: f64 = SPREAD_MAX / 2.0;

/// Whether further rounds would change no conclusion. A difference below the floor comes from the granularity of the clock
/// and the scheduler.
pub(crate) fn is_settled(series: &Series) -> bool {
    let values = &series.distribution;
    let medians = || series.rounds.iter().filter_map(|round| round.median);
    if medians().count() < ROUNDS_MIN || values.count() < VALUES_MIN {
        return false;
    }
    let Some((p50, within)) = values.p50().zip(of_quantile(values, 0.5, 0)) else { return false };
    let allowed = |share: f64| (p50.unsigned_abs() as f64 * share).max(SPREAD_FLOOR);
    let half_width = within.high.saturating_sub(within.low) as f64 / 2.0;
    half_width <= allowed(INTERVAL_MAX)
        && medians().all(|median| median.saturating_sub(p50).unsigned_abs() as f64 <= allowed(APART_MAX))
}

/// Whether every value is within that distance of the median, in at least three rounds: enough where a conclusion rests on
/// the shape of many series rather than on the figures of one.
pub(crate) fn is_narrow(series: &Series, width: Nanos) -> bool {
    let values = &series.distribution;
    let rounds = series.rounds.iter().filter(|round| round.median.is_some()).count();
    let ends = values.min().zip(values.max());
    rounds >= ROUNDS_MIN && ends.is_some_and(|(min, max)| max.saturating_sub(min) <= width.0)
}

#[cfg(test)]
mod tests {
    use oversleep_record::testing::rounds;

    use super::*;

    #[test]
    fn three_rounds_that_agree_on_a_median_that_is_known_suffice() {
        let of = |medians: &[i64], count| is_settled(&rounds("B5/nanosleep/1ms", medians, count));
        assert!(of(&[66_000, 66_500, 65_800], 13));
        assert!(!of(&[66_000, 66_500], 40), "two rounds");
        assert!(!of(&[66_000, 66_500, 65_800], 9), "27 values");
        assert!(of(&[66_000, 66_500, 76_000], 13), "a busier round");
        assert!(!of(&[66_000, 66_500, 90_000], 13), "a round that disagrees");
        assert!(of(&[100, 900, 2_000], 13), "differences that the clock and the scheduler make");
    }

    #[test]
    fn a_median_between_two_peaks_is_not_known() {
        let mut series = rounds("B5/nanosleep/1ms", &[60_000, 60_000, 60_000], 13);
        (0..32).for_each(|_| series.distribution.record(90_000));
        assert!(!is_settled(&series));
    }

    #[test]
    fn a_sweep_is_narrow_if_all_passes_agree() {
        let width = Nanos(200_000);
        assert!(is_narrow(&rounds("B2/nanosleep/5ms", &[5_066_000, 5_070_000, 5_100_000], 1), width));
        assert!(!is_narrow(&rounds("B2/nanosleep/5ms", &[5_066_000, 5_070_000], 1), width));
        assert!(!is_narrow(&rounds("B2/nanosleep/5ms", &[5_066_000, 5_070_000, 9_000_000], 1), width));
    }
}
