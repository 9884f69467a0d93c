//! Comparisons of observed programs: the verdicts, and the words for them.

use oversleep_record::ResultFile;
use oversleep_record::comparison::{CaveatKind, SeriesComparison, Verdict};
use oversleep_record::observed::By;
use oversleep_record::part::Part;

use crate::support::{compared, comparison, observation, recorded, renamed, report, result};

/// The text in small letters, with every run of white space as one blank.
fn joined(text: &str) -> String {
    text.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ")
}

fn only(results: &[ResultFile]) -> SeriesComparison {
    let mut series = compared(results).series;
    assert_eq!(series.len(), 1, "{series:#?}");
    series.remove(0)
}

#[test]
fn a_cure_shows_as_the_part_that_shrank() {
    let (before, after) = (recorded(), result("recorded-cured"));
    let series = only(&[before.clone(), after.clone()]);
    let side = |result: u32| series.side(result).expect("both have it");
    let p50 =
        |result: u32, part: Part| side(result).parts.iter().find(|of| of.part == part).map_or(0, |of| of.p50.value);
    let against = side(1).against_base.as_ref().expect("it is compared");
    let of = |part: Part| against.parts.iter().find(|of| of.part == part).expect("it is compared");
    assert_eq!((&of(Part::Runq).p50.verdict, p50(1, Part::Runq)), (&Verdict::Differs, 0));
    assert!(p50(0, Part::Runq) > 0);
    assert_eq!(of(Part::Slack).p50.verdict, Verdict::Overlap);
    for result in [0, 1] {
        let means: f64 = side(result).parts.iter().map(|of| of.mean_ns).sum();
        assert!((means - side(result).mean.expect("it has waits") as f64).abs() <= 1.0, "means add up");
    }
    let said = joined(&comparison(&[before.clone(), after.clone()]));
    assert!(said.contains("what shrank most: waiting for a cpu, by"), "{said}");
    let conclusion = said.split("conclusion").last().unwrap();
    assert!(
        !Part::ALL.iter().any(|part| conclusion.contains(&format!(" {} p", part.name()))),
        "names of fields: {said}"
    );
    let back = joined(&comparison(&[after, before]));
    assert!(back.contains("no part shrank. what grew: waiting for a cpu."), "{back}");
}

#[test]
fn of_many_kinds_of_waits_the_changed_ones_are_named_and_the_others_counted() {
    let (before, after) = (recorded(), result("recorded-cured"));
    let threads = |file: &ResultFile, all: std::ops::Range<u32>| {
        let of = |n: u32| renamed(&file.series[0], |identity| identity.thread = format!("t{n}"));
        all.map(of).collect::<Vec<_>>()
    };
    let base = ResultFile { series: threads(&before, 0..30), ..before.clone() };
    let mended = |count: u32| {
        let series = [threads(&after, 0..count), threads(&before, count..30)].concat();
        joined(&comparison(&[base.clone(), ResultFile { series, ..after.clone() }]))
    };
    let two = mended(2);
    assert_eq!(two.matches("what shrank most: waiting for a cpu, by").count(), 2, "{two}");
    assert!(two.contains("28 kinds of waits: no part differs by more than chance."), "{two}");
    let many = mended(20);
    assert_eq!(many.matches("what shrank most: waiting for a cpu, by").count(), 8, "{many}");
    assert!(many.contains("12 more kinds of waits changed less, below. 10 kinds of waits: no part"), "{many}");
    // Of three results, a kind of waits is compared twice.
    let twice = joined(&comparison(&[base.clone(), base.clone(), base.clone()]));
    assert!(twice.contains("60 comparisons of waits: no part differs by more than chance."), "{twice}");
}

#[test]
fn results_of_different_followers_are_compared_without_their_parts() {
    let mut other = recorded();
    observation(&mut other).by = By::Supervisor;
    let results = [recorded(), other.clone()];
    let against = only(&results).side(1).and_then(|side| side.against_base.clone()).expect("it is compared");
    assert!(against.parts.is_empty());
    assert!(compared(&results).caveats.iter().any(|caveat| caveat.kind == CaveatKind::OtherFollower));
    let said = joined(&comparison(&results));
    assert!(said.contains("taken in different ways") && said.contains("late on average instead of"), "{said}");
    assert!(!said.contains("no part"), "{said}");
    let results = [other.clone(), other];
    assert!(compared(&results).caveats.is_empty());
    let said = joined(&comparison(&results));
    assert!(said.contains("no part differs by more than chance.") && !said.contains("different ways"), "{said}");
}

#[test]
fn a_cure_that_is_another_call_is_compared_with_the_same_thread() {
    let before = recorded();
    let of_call = |call: &str| renamed(&before.series[0], |identity| identity.call = call.to_owned());
    let mut after = ResultFile { series: vec![of_call("epoll_pwait2")], ..before.clone() };
    let side = only(&[before.clone(), after.clone()]).side(1).cloned().expect("it is the same thread");
    assert_eq!(side.subject.as_deref(), Some("epoll_pwait2"));
    assert!(side.against_base.is_some());
    after.series.push(of_call("poll"));
    let sides: Vec<usize> = compared(&[before, after]).series.iter().map(|series| series.sides.len()).collect();
    assert_eq!(sides, [1, 1, 1], "which of them?");
}

#[test]
fn one_wait_is_not_said_as_several() {
    let one = result("recorded-one");
    let (said, alone) = (joined(&comparison(&[one.clone(), one.clone()])), joined(&report(&one)));
    assert!(alone.contains("1 wait ended by its timer") && alone.contains("1 wait was not selected."), "{alone}");
    assert!(alone.contains("the wait with the most lateness"), "{alone}");
    assert!(!format!("{said}{alone}").contains(" 1 waits"), "{said}{alone}");
}
