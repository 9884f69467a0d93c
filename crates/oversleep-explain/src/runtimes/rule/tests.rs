//! A rule is found from durations that follow it, and none from durations that follow none.

use super::*;

const REQUESTS: [i64; 9] = [1, 300_000, 999_000, 1_000_000, 1_100_000, 1_500_000, 1_999_000, 2_000_000, 5_000_000];

/// Waits that follow a rule, with remainders around 66 µs, and one that was disturbed.
fn following(rule: Rule) -> Vec<Point> {
    let waits = |&ns: &i64| {
        let due = rule.rounded(Nanos(ns)).0;
        Point::of(Nanos(ns), &[due + 62_000, due + 66_000, due + 71_000, due + 4_000_000])
    };
    REQUESTS.iter().map(waits).collect()
}

#[test]
fn each_rule_is_found_from_its_own_durations() {
    for rule in Rule::STEADY {
        let ruling = Ruling::of(&following(rule)).unwrap_or_else(|why| panic!("{rule}: {why}"));
        assert_eq!((ruling.rule, ruling.is_early()), (rule, false));
        assert_eq!((ruling.rest, ruling.spread), (Nanos(66_000), Nanos::ZERO));
    }
}

#[test]
fn waits_that_end_early_are_told_with_their_rule() {
    let early = |&ns: &i64| {
        let due = Rule::Truncates.rounded(Nanos(ns)).0;
        Point::of(Nanos(ns), &[(due - 20_000).max(100), (due - 2_000).max(100), due + 3_000, due + 8_000])
    };
    let ruling = Ruling::of(&REQUESTS.iter().map(early).collect::<Vec<_>>()).unwrap();
    assert_eq!(ruling.rule, Rule::Truncates);
    assert!(ruling.is_early() && ruling.earliest <= Nanos(-19_000), "{ruling:?}");
    assert_eq!(ruling.to_string(), "truncates to ms; 50 % end early");
}

/// After a late deadline the next interval is shorter, and the next deadline is not early.
#[test]
fn what_is_due_at_a_rate_is_early_by_its_deadline_alone() {
    // On time and up to a grid of milliseconds late.
    let on_time = |&ns: &i64| Point::of(Nanos(ns), &[ns + 3_100, ns + 743_000, ns + 1_900_000]);
    let ruling = |rule: Rule, due: Due, early: i64| {
        let shifted = |ns: &i64| Point { due, ..on_time(&(ns - early)) };
        let shifted = |ns: &i64| Point { requested: Nanos(*ns), ..shifted(ns) };
        Ruling::known(rule, &REQUESTS.iter().filter(|ns| **ns > 1).map(shifted).collect::<Vec<_>>())
    };
    assert!(ruling(Rule::RoundsUpToGrid, Due::ByRule, 0).is_early(), "300 µs that take as long are no millisecond");
    assert!(!ruling(Rule::RoundsUpToGrid, Due::ByDeadline, 0).is_early());
    assert!(ruling(Rule::RoundsUpToGrid, Due::ByDeadline, 20_000).is_early());
    assert!(!ruling(Rule::Truncates, Due::ByDeadline, 900_000).is_early(), "less than a millisecond is its rule");
    let unknown = ruling(Rule::Exact, Due::Unknown, 200_000);
    assert!(!unknown.is_early() && unknown.count > 0, "{unknown:?}");
}

#[test]
fn a_wait_on_a_grid_of_its_own_is_told() {
    let late = [70_000, 1_080_000, 1_090_000, 80_000, 1_070_000, 75_000];
    let points: Vec<Point> = [300_000, 999_000, 1_000_000, 1_100_000, 2_000_000, 5_000_000]
        .iter()
        .zip(late)
        .map(|(&ns, late)| Point::of(Nanos(ns), &[Rule::RoundsUp.rounded(Nanos(ns)).0 + late; 4]))
        .collect();
    assert_eq!(Ruling::of(&points).map(|ruling| ruling.rule), Ok(Rule::RoundsUpToGrid));
}

#[test]
fn what_can_not_be_told_is_not() {
    assert_eq!(Ruling::of(&following(Rule::Exact)[..4]), Err(NoRule::TooFew { requests: 3 }));
    let switching: Vec<Point> = REQUESTS.iter().map(|&ns| Point::of(Nanos(ns), &[6_100_000; 4])).collect();
    let constant = Err(NoRule::Constant { duration: Nanos(6_100_000) });
    assert_eq!(Ruling::of(&switching), constant, "a thread that waits for its turn");
    let tick: Vec<Point> = REQUESTS.iter().map(|&ns| Point::of(Nanos(ns), &[15_620_000, 15_630_000])).collect();
    assert_eq!(Ruling::of(&tick).unwrap_err().to_string(), "takes 15.6 ms whatever the request");
    let jumping = [300_000, 9_000_000, 2_000_000, 7_000_000, 1_500_000, 4_000_000, 11_000_000, 3_000_000];
    let jumping: Vec<Point> =
        REQUESTS[1..].iter().zip(jumping).map(|(&ns, late)| Point::of(Nanos(ns), &[ns + late])).collect();
    assert!(matches!(Ruling::of(&jumping), Err(NoRule::Unsteady { .. })));
    let whole: Vec<Point> = (1..9).map(|ms| Point::of(Nanos::from_millis(ms), &[ms * 1_000_000 + 60_000])).collect();
    let why = Ruling::of(&whole).map(|ruling| ruling.rule);
    assert_eq!(why, Err(NoRule::Indistinct), "whole milliseconds tell no rule");
}
