//! How often a program's loop comes, and of what its periods consist.

use oversleep_record::finding::Severity;
use oversleep_record::part::Part;
use oversleep_record::words::percent;
use oversleep_record::{Nanos, ResultFile};

use super::ordinary::is_ordinary;
use super::share::{in_words, named};
use super::{Cause, Share, all_lateness, nanos, parts_of, pooled};
use crate::findings::observed::drift::DRIFTS;
use crate::findings::observed::drift::{in_milliseconds, per_second};
use crate::findings::observed::period::{HELD_UP, HELD_UP_BY_WORK, asleep_in, faults};
use crate::observed::Kind;
use crate::observed::period::{Loop, loops};

/// A part of the median period is named from this share on: 1 in so many.
const NAMED_OF: i64 = 100;
/// A drift of the period is worth a hint from this share of it on: 1 in so many.
const HINTED_OF: i64 = 20;

/// The sentence about the loop that something holds up, or else of the thread that is named like the only program, or the
/// one that is delayed most.
pub(super) fn pace(file: &ResultFile, held: Option<&Cause>) -> Option<String> {
    let (of, most) = &main_loop(file, held)?;
    let most = most.map(|count| format!(", the most delayed of {count},")).unwrap_or_default();
    let rate = per_second(of.rate()?);
    let p50 = Nanos(of.lengths.p50()?);
    let Some(intended) = of.periods.intended_ns.filter(|intended| intended.0 > 0) else {
        let (name, parts) = (of.name(), parts(of));
        let drift = of.drift().filter(|drift| drift.0.saturating_mul(NAMED_OF) >= p50.0);
        let drift = drift.map(|drift| format!(", {drift} longer than the span that it requests")).unwrap_or_default();
        let hint = if held.is_none() { hint(of) } else { String::new() };
        return Some(format!(
            "The loop of {name}{most} comes {rate} times per second on average; its median period is {p50}{drift}: {parts}.{hint}"
        ));
    };
    let wanted = per_second(1e9 / intended.0 as f64);
    let rate = if rate == wanted { "as often".to_owned() } else { format!("{rate} times") };
    Some(format!(
        "The loop of {}{most} is meant to come {wanted} times per second and comes {rate} on average; at the median: {}.",
        of.name(),
        parts(of)
    ))
}

/// The loop, and among how many it is the one that is delayed most, if that is why.
fn main_loop<'a>(file: &'a ResultFile, held: Option<&Cause>) -> Option<(Loop<'a>, Option<usize>)> {
    let mut loops = loops(file);
    loops.retain(|of| !of.is_moved());
    let is_held = |of: &Loop<'_>| held.is_some_and(|cause| cause.finding.instance.as_deref() == Some(&of.name()));
    let is_main = |of: &Loop<'_>| of.identity.thread == of.identity.program;
    // Of many programs, a helper's thread may be the only one with the name of its program.
    let is_one = loops.iter().all(|of| of.identity.program == loops[0].identity.program);
    let main = loops.iter().position(is_held).or_else(|| loops.iter().position(is_main).filter(|_| is_one));
    let most = (0..loops.len()).rev().max_by_key(|&at| delay(&loops[at])).filter(|&at| delay(&loops[at]) > 0);
    let count = Some(loops.len()).filter(|&count| main.is_none() && most.is_some() && count > 1);
    let at = main.or(most).unwrap_or(0);
    (at < loops.len()).then(|| (loops.swap_remove(at), count))
}

/// What all periods of a loop lost to others.
fn delay(of: &Loop<'_>) -> i128 {
    let parts = [Part::Late, Part::Runq, Part::Quota, Part::Stop, Part::Fault];
    parts.into_iter().map(|part| of.periods.split.sum(part).max(0)).sum()
}

/// Whether what makes the periods of the loop longer than its requests, which may be meant, takes more than all waits are
/// late together.
pub(super) fn outweighs(file: &ResultFile, kinds: &[Kind<'_>]) -> bool {
    let more = |of: &Loop<'_>| {
        let split = &of.periods.split;
        let longer = split.sum(Part::Work).saturating_add(split.sum(Part::Blocked));
        !hint(of).is_empty() && longer > all_lateness(&parts_of(kinds))
    };
    main_loop(file, None).is_some_and(|(of, _)| more(&of))
}

/// What to look at if the loop should come more often, which nobody but its author knows.
fn hint(of: &Loop<'_>) -> String {
    let (p50, requested) = (of.lengths.p50().unwrap_or(0), Nanos(of.periods.split.p50(Part::Requested)));
    if of.periods.split.p50(Part::Blocked).saturating_mul(2) >= p50 {
        return " Unless it waits for work there, see whom it waits for.".to_owned();
    }
    // Where late waits make most of it, they are what to cure.
    let is_own = |drift: &Nanos| of.periods.split.p50(Part::Work).saturating_mul(2) >= drift.0;
    match of.drift().filter(is_own).filter(|drift| drift.0.saturating_mul(HINTED_OF) >= p50) {
        Some(_) => format!(" If a period of {requested} is meant, wait until the last deadline plus {requested}."),
        None => String::new(),
    }
}

/// Whether a finding is about what makes the periods of loops longer.
pub(super) fn is_about_pace(name: &str) -> bool {
    name.starts_with(HELD_UP) || name == DRIFTS
}

/// What holds a loop up between its waits for longer than all waits are late together.
pub(super) fn held_up<'a>(file: &ResultFile, kinds: &[Kind<'_>], causes: &'a [Cause]) -> Option<&'a Cause> {
    let all = all_lateness(&parts_of(kinds));
    let loops = loops(file);
    let of = |cause: &Cause| loops.iter().find(|of| cause.finding.instance.as_deref() == Some(&of.name()));
    // Who computes most of the time may mean to: where others are late, that comes first.
    let may_be_meant = |cause: &Cause| of(cause).is_some_and(Loop::is_mostly_work) && !is_ordinary(kinds);
    causes.iter().find(|cause| {
        let is_cost = cause.finding.severity != Severity::Note;
        let explained = cause.finding.explained_ns.map_or(0, |ns| i128::from(ns.0));
        let is_work = cause.finding.name == HELD_UP_BY_WORK;
        is_cost && is_about_pace(&cause.finding.name) && explained > all && !(is_work && may_be_meant(cause))
    })
}

/// How late the waits themselves are, beside what makes the periods longer.
pub(super) fn waits_alone(kinds: &[Kind<'_>], shares: &[Share]) -> String {
    let all = pooled(kinds);
    let p99 = all.safe_quantile(0.99).map(|p99| format!(", {} at p99", Nanos(p99))).unwrap_or_default();
    let largest = named(shares)[0];
    let (p50, share) = (Nanos(all.p50().unwrap_or(0)), percent(largest.share));
    let what = in_words(largest.part, largest.is_tick());
    format!("The waits themselves end {p50} late at the median{p99}; {share} of that is {what}.")
}

/// The shares of a loop's periods that their parts have.
pub(super) fn shares_of(file: &ResultFile, held: &Cause) -> Vec<Share> {
    let loops = loops(file);
    let held = loops.iter().find(|of| held.finding.instance.as_deref() == Some(&of.name()));
    let split = held.map(|of| &of.periods.split);
    let of = |part: Part| {
        let (share, total) = (split?.share(part), split?.sum(part));
        (share > 0.0).then(|| Share { part, total: nanos(total), share, tick: Nanos::ZERO })
    };
    Part::ALL.iter().filter_map(|&part| of(part)).collect()
}

/// `14 ms requested in whole milliseconds, 2.1 ms of its own work, 94 µs late`.
fn parts(of: &Loop<'_>) -> String {
    let split = &of.periods.split;
    let whole = if in_milliseconds(of) { " in whole milliseconds" } else { "" };
    let told = [
        (Part::Requested, format!("requested{whole}")),
        (Part::Work, format!("of its own work{}", faults(of))),
        (Part::Blocked, format!("asleep in other calls{}", asleep_in(of))),
        (Part::Fault, "in page faults".to_owned()),
        (Part::Stop, "stopped".to_owned()),
        (Part::Quota, "stopped by the quota".to_owned()),
        (Part::Runq, "waiting for a CPU".to_owned()),
        (Part::Late, "late".to_owned()),
        (Part::Unattributed, "not observed".to_owned()),
    ];
    let least = of.lengths.p50().unwrap_or(0) / NAMED_OF;
    let told = told.into_iter().map(|(part, words)| (split.p50(part), words));
    let told: Vec<String> =
        told.filter(|(ns, _)| *ns > 0 && *ns >= least).map(|(ns, words)| format!("{} {words}", Nanos(ns))).collect();
    told.join(", ")
}

#[cfg(test)]
mod tests {
    use oversleep_record::observed::Observation;
    use oversleep_record::part::Parts;
    use oversleep_record::testing::Sheet;

    use super::*;
    use crate::observed::testing::periods;

    #[test]
    fn what_makes_periods_longer_comes_first_if_it_outweighs_late_waits() {
        const MS: i64 = 1_000_000;
        let said = |work_ms: i64, late_ms: i64| {
            let of = Parts { requested: 14 * MS, work: work_ms * MS, late: late_ms * MS, ..Parts::default() };
            let mut series = periods(None, &[(100, of)]);
            let late = Parts { runq: late_ms * MS, ..Parts::default() };
            let waits = crate::observed::testing::waits(10, 101, late);
            (series.why, series.distribution) = (waits.why, waits.distribution);
            let mut file = Sheet::linux().file;
            (file.series, file.observation) = (vec![series], Some(Observation::default()));
            super::super::Verdict::of(&file).expect("it is observed")
        };
        let drifts = said(4, 2);
        assert!(drifts.sentence.starts_with("The loop of app comes 50.0 times"), "{}", drifts.sentence);
        assert!(
            drifts.sentence.contains("plus 14 ms. 100 % of its lateness is waiting for a CPU"),
            "{}",
            drifts.sentence
        );
        assert_eq!((drifts.pace, said(2, 4).pace.is_some()), (None, true));
        assert!(!said(2, 4).pace.unwrap_or_default().contains("is meant"), "late waits make most of it");
    }

    #[test]
    fn of_many_programs_the_loop_that_is_delayed_most_stands_first() {
        const MS: i64 = 1_000_000;
        let of = |program: &str, thread: &str, count: u64, late: i64| {
            let parts = Parts { requested: 10 * MS, late, ..Parts::default() };
            let mut series = periods(Some(10), &[(count, parts)]);
            let own = oversleep_record::Identity::of(&series).expect("it was observed");
            let identity = oversleep_record::Identity { program: program.into(), thread: thread.into(), ..own };
            series.labels = oversleep_record::Series::observed(
                &identity,
                oversleep_record::environment::Os::Linux,
                oversleep_record::Distribution::growing(),
            )
            .labels;
            series
        };
        let said = |series| {
            let mut file = Sheet::linux().file;
            (file.series, file.observation) = (series, Some(Observation::default()));
            pace(&file, None).expect("it has a loop")
        };
        let helper = || of("helper", "helper", 20, 100_000);
        let all = said(vec![of("app", "fast", 200, 10_000), helper(), of("app", "slow", 50, MS)]);
        assert!(all.starts_with("The loop of app (slow), the most delayed of 3, is meant to come 100"), "{all}");
        let one = said(vec![of("app", "fast", 200, MS), of("app", "app", 50, 1_000)]);
        assert!(one.starts_with("The loop of app is meant to come"), "{one}");
        let alone = said(vec![helper()]);
        assert!(alone.starts_with("The loop of helper is meant to come"), "{alone}");
    }

    #[test]
    fn a_loop_is_told_with_its_rate_and_what_fills_its_periods() {
        const MS: i64 = 1_000_000;
        let of = Parts { requested: 14 * MS, work: 2 * MS, late: MS / 4, runq: 9_000, ..Parts::default() };
        let said = |intended| {
            let mut file = Sheet::linux().file;
            (file.series, file.observation) = (vec![periods(intended, &[(100, of)])], Some(Observation::default()));
            pace(&file, None).expect("it has a loop")
        };
        let parts = "14 ms requested, 2 ms of its own work, 250 µs late.";
        assert_eq!(
            said(None),
            format!(
                "The loop of app comes 61.5 times per second on average; its median period is 16.3 ms, 2.26 ms longer than \
                 the span that it requests: {parts} If a period of 14 ms is meant, wait until the last deadline plus 14 ms."
            )
        );
        assert_eq!(
            said(Some(16)),
            format!(
                "The loop of app is meant to come 62.5 times per second and comes 61.5 times on average; at the median: {parts}"
            )
        );
    }
}
