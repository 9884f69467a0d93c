//! Quantiles, extremes, and the view corrected for omission.

use super::*;

fn of(values: impl IntoIterator<Item = i64>) -> Distribution {
    let mut distribution = Distribution::new();
    values.into_iter().for_each(|value| distribution.record(value));
    distribution
}

#[test]
fn early_values_come_first_and_are_not_clamped() {
    let distribution = of([-500, -20, 0, 30, 1000]);
    assert_eq!(distribution.quantile(0.0), Some(-500));
    assert_eq!(distribution.quantile(0.4), Some(-20));
    assert_eq!(distribution.p50(), Some(0));
    assert_eq!(distribution.quantile(0.8), Some(30));
    assert_eq!(distribution.quantile(1.0), Some(1000));
    assert_eq!(distribution.early_count(), 2);
    assert_eq!(distribution.mean(), Some(102.0));
}

#[test]
fn nothing_is_not_zero() {
    let empty = Distribution::new();
    assert_eq!((empty.p50(), empty.mean(), empty.min(), empty.max()), (None, None, None, None));
}

#[test]
fn values_of_unknown_size_are_above_all_others() {
    let mut distribution = of(1..=990);
    let beyond = |count: u64, max: Option<i64>| Some(Beyond { count, from: 1_000, max });
    distribution.set_beyond(beyond(10, None));
    assert_eq!(
        (distribution.count(), distribution.p50(), distribution.safe_quantile(0.99)),
        (990, Some(500), Some(990))
    );
    assert_eq!((distribution.quantile(0.991), distribution.max(), distribution.mean()), (None, None, None));
    assert_eq!((distribution.recorded_max(), distribution.count_above(989)), (Some(990), 11));
    let mut both = distribution.clone();
    both.merge(&distribution);
    assert_eq!(both.beyond(), beyond(20, None));
    distribution.set_beyond(beyond(3, Some(1_500)));
    assert_eq!(distribution.max(), Some(1_500));
    distribution.set_beyond(beyond(0, None));
    assert_eq!(distribution.max(), Some(990));
}

#[test]
fn a_percentile_needs_ten_values_beyond_it() {
    assert_eq!(of(0..19).safe_quantile(0.5), None);
    assert_eq!(of(0..20).safe_quantile(0.5), Some(9));
    assert_eq!(of(0..999).safe_quantile(0.99), None);
    assert!(of(0..1000).safe_quantile(0.99).is_some());
}

#[test]
fn a_stall_of_500_periods_shows_as_500_late_values_after_correction() {
    let millisecond = 1_000_000;
    let mut recorded = of(std::iter::repeat_n(60_000, 4_500));
    recorded.record(500 * millisecond);
    let corrected = recorded.corrected_for_omission(millisecond).unwrap();
    assert_eq!(recorded.count_above(millisecond), 1);
    assert_eq!(corrected.count_above(millisecond / 2), 500);
    assert_eq!(corrected.count(), 4_501 + 500, "499 to 1 ms, and the deadline at the stall's very end");
}

#[test]
fn correcting_fills_down_to_the_last_deadline_that_had_passed() {
    let corrected = of([200, 3_300]).corrected_for_omission(1_000).unwrap();
    let values: Vec<i64> = corrected.buckets().map(|(value, _)| value).collect();
    let near = |value: i64, exact: i64| (value - exact).abs() * 1_000 <= exact;
    let exact = [200, 300, 1_300, 2_300, 3_300];
    assert!(values.len() == 5 && values.iter().zip(exact).all(|(&value, exact)| near(value, exact)), "{values:?}");
    let mean = corrected.mean().unwrap();
    assert!((mean - 1_480.0).abs() < 3.0, "{mean}");
    assert_eq!(of([900]).corrected_for_omission(1_000).unwrap(), of([900]), "nothing was missed");
}

#[test]
fn correcting_learns_a_new_least_value() {
    let corrected = of([2_050]).corrected_for_omission(1_000).unwrap();
    let near = |value: Option<i64>, exact: i64| value.is_some_and(|value| (value - exact).abs() <= 3);
    assert!(near(corrected.min(), 50) && near(corrected.quantile(0.1), 50), "{:?}", corrected.min());
    assert_eq!(corrected.max(), Some(2_050));
}

#[test]
fn correcting_gives_up_where_it_would_take_for_ever() {
    let stalled = of([3_000_000_000_000]);
    assert_eq!(stalled.corrected_for_omission(1), None);
    assert_eq!(stalled.corrected_for_omission(0), None);
    assert_eq!(of([i64::MAX]).corrected_for_omission(1_000_000), None, "beyond what a histogram tells apart");
    assert!(stalled.corrected_for_omission(1_000_000).is_some());
}

#[test]
fn counts_at_the_end_of_their_range_saturate() {
    let mut full = of([-7, 3_000, 9_000_000]);
    full.positive.record(1_000, u64::MAX - 3);
    let corrected = full.corrected_for_omission(2_000).unwrap();
    let mut twice = full.clone();
    twice.merge(&full);
    for distribution in [full, corrected, twice] {
        assert_eq!(distribution.count(), u64::MAX);
        assert_eq!(distribution.p50(), Some(1_000));
        assert!(distribution.quantile(1.0) >= Some(1_000));
        assert_eq!(distribution.count_above(-8), u64::MAX);
        assert!(distribution.mean().is_some_and(f64::is_finite));
    }
}

proptest::proptest! {
    #[test]
    fn quantiles_are_within_a_thousandth(
        mut values in proptest::collection::vec(-10_000_000_i64..10_000_000, 1..300),
        q in 0.0..1.0_f64,
    ) {
        let distribution = of(values.iter().copied());
        values.sort_unstable();
        let rank = ((q * values.len() as f64).ceil() as usize).clamp(1, values.len());
        let exact = values[rank - 1];
        let got = distribution.quantile(q).unwrap();
        proptest::prop_assert!((got - exact).abs() as f64 <= exact.abs() as f64 * 0.002 + 1.0, "{} {}", got, exact);
    }
}

proptest::proptest! {
    #[test]
    fn buckets_add_up_to_the_values_they_are_from(
        one in proptest::collection::vec((proptest::prelude::any::<i64>(), 0_u32..64, 1_u64..1_000), 0..60),
        other in proptest::collection::vec((proptest::prelude::any::<i64>(), 20_u32..64, 1_u64..1_000), 0..60),
    ) {
        let recorded = |values: &[(i64, u32, u64)]| {
            let mut recorded = Distribution::new();
            values.iter().for_each(|&(value, shift, count)| recorded.record_times(value >> shift, count));
            recorded
        };
        let (one, other) = (recorded(&one), recorded(&other));
        let mut merged = one.clone();
        merged.merge(&other);
        for mut empty in [Distribution::new(), Distribution::growing(), Distribution::default()] {
            for part in [&other, &one].into_iter().filter(|part| !part.is_empty()) {
                let (min, max) = (part.min().unwrap(), part.max().unwrap());
                empty.add_buckets(part.buckets(), min, max, part.sum());
            }
            proptest::prop_assert!(empty == merged);
            proptest::prop_assert_eq!(empty.count(), merged.count());
        }
    }
}
