//! Verdicts about series with known figures.

use oversleep_record::comparison::CaveatKind;
use oversleep_record::conditions::{Conditions, Setting};
use oversleep_record::{Disturbance, FactName, Unavailable};

use super::*;
use crate::compare::compare;
use crate::compare::testing::{Sheet, of_rounds, spread, waits};

const KEY: &str = "B5/nanosleep/1ms";

/// The verdicts on the second series against the first.
fn judged(base: Series, other: Series) -> AgainstBase {
    let on = |series| Sheet::linux().integer(FactName::CpuCount, 2).series(series).file;
    against_base(on(base), on(other)).expect("both have it")
}

fn against_base(base: ResultFile, other: ResultFile) -> Option<AgainstBase> {
    compare(&[base, other], |_| Vec::new()).series[0].sides[1].against_base.clone()
}

fn why(verdict: &Verdict) -> &str {
    match verdict {
        Verdict::TooFew { why } | Verdict::TooDisturbed { why } | Verdict::NotComparable { why } => why,
        Verdict::Differs | Verdict::Overlap => panic!("{verdict:?} has no reason"),
    }
}

#[test]
fn what_lies_apart_differs() {
    let found = judged(waits(KEY, &[66_000; 4]), waits(KEY, &[132_000; 4])).p50;
    assert_eq!(found.verdict, Verdict::Differs);
    assert!(found.ratio.is_some_and(|ratio| (ratio - 2.0).abs() < 0.01), "{found:?}");
    let [least, most] = found.ratio_interval.expect("above zero");
    assert!(1.9 < least && least < 2.0 && 2.0 < most && most < 2.1, "{least} {most}");
    // The same for a decrease, and for early waits.
    assert_eq!(judged(waits(KEY, &[132_000; 4]), waits(KEY, &[66_000; 4])).p50.verdict, Verdict::Differs);
    let early = judged(waits(KEY, &[-500_000; 4]), waits(KEY, &[66_000; 4])).p50;
    assert_eq!((early.verdict, early.ratio, early.ratio_interval), (Verdict::Differs, None, None));
}

#[test]
fn figures_within_2_percent_are_the_same_wherever_they_stand() {
    let near = judged(waits(KEY, &[66_000; 4]), waits(KEY, &[66_900; 4])).p50;
    assert!(near.ratio.is_some_and(|ratio| ratio > 1.01 && ratio < 1.02), "{near:?}");
    assert_eq!(near.verdict, Verdict::Overlap);
    assert_eq!(judged(waits(KEY, &[66_000; 4]), waits(KEY, &[69_000; 4])).p50.verdict, Verdict::Differs);
}

#[test]
fn rounds_that_scatter_hide_a_difference_of_their_size() {
    let scattered = |centre: i64| waits(KEY, &[centre - 4_000, centre - 1_000, centre + 1_000, centre + 4_000]);
    // s = 3,367, t = 5.841: each median is uncertain by 9.8 µs.
    assert_eq!(judged(scattered(66_000), scattered(80_000)).p50.verdict, Verdict::Overlap);
    assert_eq!(judged(scattered(66_000), scattered(90_000)).p50.verdict, Verdict::Differs);
    // The same distance with quiet rounds.
    assert_eq!(judged(waits(KEY, &[66_000; 4]), waits(KEY, &[80_000; 4])).p50.verdict, Verdict::Differs);
}

#[test]
fn few_values_conclude_only_what_is_clear() {
    let two_rounds = |median: i64, apart: i64| of_rounds(KEY, &[spread(median, 5), spread(median + apart, 5)]);
    // The tick of Windows against a high-resolution timer: ten values in two rounds are enough.
    assert_eq!(judged(two_rounds(14_600_000, 10_000), waits(KEY, &[66_000; 4])).p50.verdict, Verdict::Differs);
    // Two rounds 2 µs apart leave the median uncertain by 64 µs.
    let vague = judged(two_rounds(66_000, 2_000), waits(KEY, &[80_000; 4])).p50.verdict;
    assert_eq!(why(&vague), "the base has only 10 values in 2 rounds");
    assert!(matches!(vague, Verdict::TooFew { .. }));
    let seven = of_rounds(KEY, &[spread(14_600_000, 4), spread(14_600_000, 3)]);
    assert_eq!(why(&judged(waits(KEY, &[66_000; 4]), seven).p50.verdict), "this result has only 7 values in 2 rounds");
    let one_round = of_rounds(KEY, &[spread(14_600_000, 100)]);
    assert_eq!(
        why(&judged(waits(KEY, &[66_000; 4]), one_round).p50.verdict),
        "this result has only 100 values in 1 round"
    );
    let none = judged(waits(KEY, &[66_000; 4]), waits(KEY, &[])).p50;
    assert_eq!((why(&none.verdict), none.ratio), ("this result has only 0 values in 0 rounds", None));
}

#[test]
fn rounds_that_disagree_conclude_nothing() {
    let wild = waits(KEY, &[66_000, 400_000, 9_000, 900_000]);
    let found = judged(waits(KEY, &[66_000; 4]), wild.clone()).p50.verdict;
    assert!(matches!(found, Verdict::TooDisturbed { .. }), "{found:?}");
    assert!(why(&found).starts_with("the rounds of this result disagree by "), "{found:?}");
    // Far apart as well: a disturbed series proves nothing.
    let found = judged(wild, waits(KEY, &[90_000_000; 4])).p50.verdict;
    assert!(why(&found).starts_with("the rounds of the base disagree by "), "{found:?}");
    // One round of four deviates: the series is steady by its median deviation, but its median is unreliable.
    let one_off = waits(KEY, &[66_000, 66_500, 67_000, 400_000]);
    let found = judged(waits(KEY, &[80_000; 4]), one_off).p50.verdict;
    assert_eq!(why(&found), "the rounds of this result leave its median uncertain by more than half");
}

#[test]
fn what_the_machine_did_meanwhile_is_no_difference() {
    let disturbed = |change: fn(&mut Disturbance)| {
        let mut series = waits(KEY, &[86_000; 4]);
        series.rounds.iter_mut().for_each(|round| change(&mut round.disturbance));
        judged(waits(KEY, &[66_000; 4]), series).p50.verdict
    };
    // Twenty values per round, two CPUs: 400 µs of steal are 10 µs each, half of the 20 µs.
    let stolen = disturbed(|meanwhile| meanwhile.steal_ns = Some(Nanos(404_000)));
    assert_eq!(why(&stolen), "the hypervisor (steal) took 10.1 µs of each value of this result");
    assert_eq!(disturbed(|meanwhile| meanwhile.steal_ns = Some(Nanos(300_000))), Verdict::Differs);
    // A delay on an idle machine is part of waking up; beside other programs it is caused by them.
    assert_eq!(disturbed(|meanwhile| meanwhile.run_delay_ns = Some(Nanos(240_000))), Verdict::Differs);
    let delayed = disturbed(|meanwhile| {
        meanwhile.run_delay_ns = Some(Nanos(240_000));
        meanwhile.other_cpu_ns = Some(Nanos::from_millis(12));
    });
    assert_eq!(why(&delayed), "waiting for a CPU beside other programs took 12 µs of each value of this result");
}

#[test]
fn a_condition_that_was_refused_makes_another_measurement() {
    let with_outcome = |outcome| {
        let mut series = waits(KEY, &[66_000; 4]);
        series.conditions = Conditions::as_found().with("slack", Setting::Nanos(Nanos(1)));
        series.conditions.outcomes.insert("slack".into(), outcome);
        series
    };
    let granted = || with_outcome(Outcome::Applied { was: None, now: Setting::Nanos(Nanos(1)) });
    let refused = || with_outcome(Outcome::Denied { why: Unavailable::NotOnThisPlatform });
    assert_eq!(why(&judged(granted(), refused()).p50.verdict), "slack was refused in this result");
    assert_eq!(why(&judged(refused(), granted()).p50.verdict), "slack was refused in the base");
    assert_eq!(judged(refused(), refused()).p50.verdict, Verdict::Overlap);
    assert_eq!(judged(granted(), granted()).p50.verdict, Verdict::Overlap);
}

#[test]
fn what_could_not_be_measured_is_compared_with_nothing() {
    let mut gone = waits(KEY, &[]);
    gone.status = Status::Unavailable { reason: Unavailable::NotOnThisPlatform };
    let with = |series: Series| Sheet::linux().series(series).file;
    assert_eq!(against_base(with(waits(KEY, &[66_000; 4])), with(gone)), None);
}

/// Four rounds of 500 values at 66 µs with a share of late ones in each.
fn with_tail(late_per_round: [usize; 4]) -> Series {
    let round = |late: usize| {
        let mut values = vec![66_000; 500];
        values[..late].fill(400_000);
        values
    };
    of_rounds(KEY, &late_per_round.map(round))
}

#[test]
fn a_tail_differs_where_several_rounds_have_it() {
    let quiet = || with_tail([0; 4]);
    let found = judged(quiet(), with_tail([20; 4]));
    assert_eq!(found.p50.verdict, Verdict::Overlap);
    let p99 = found.p99.expect("2,000 values");
    assert_eq!(p99.verdict, Verdict::Differs);
    assert!(p99.ratio.is_some_and(|ratio| ratio > 6.0), "{p99:?}");
    assert!(found.max_ratio.is_some_and(|ratio| ratio > 6.0));
    let found = judged(quiet(), with_tail([0, 80, 0, 0])).p99.expect("2,000 values").verdict;
    assert_eq!(why(&found), "80 of the 80 late values of this result come from one of its 4 rounds");
    assert!(matches!(found, Verdict::TooDisturbed { .. }));
    let found = judged(quiet(), with_tail([3, 0, 0, 80])).p99.expect("2,000 values").verdict;
    assert_eq!(why(&found), "80 of the 83 late values of this result come from one of its 4 rounds");
    let found = judged(quiet(), with_tail([40, 40, 0, 0])).p99.expect("2,000 values").verdict;
    assert_eq!(found, Verdict::Differs, "one round has half of them and no more");
    // The same with the disturbed series as the base.
    let found = judged(with_tail([0, 80, 0, 0]), quiet()).p99.expect("2,000 values").verdict;
    assert!(matches!(found, Verdict::TooDisturbed { .. }));
    let few = judged(waits(KEY, &[66_000; 4]), with_tail([20; 4]));
    assert_eq!(few.p99, None, "80 values have no 99th percentile");
}

#[test]
fn deadlines_that_were_missed_are_in_no_figure() {
    let mut stalled = waits(KEY, &[66_000; 4]);
    stalled.calls_only = Some(stalled.distribution.clone());
    (0..400).for_each(|_| stalled.distribution.record(90_000_000));
    stalled.counts.missed = 400;
    let base = Sheet::linux().series(waits(KEY, &[66_000; 4])).file;
    let comparison = compare(&[base, Sheet::linux().series(stalled).file], |_| Vec::new());
    let side = &comparison.series[0].sides[1];
    assert_eq!((side.count, side.missed), (80, 400));
    assert_eq!(side.against_base.as_ref().map(|against| &against.p50.verdict), Some(&Verdict::Overlap));
    assert!(comparison.caveats.iter().all(|caveat| caveat.kind != CaveatKind::Busy));
}
