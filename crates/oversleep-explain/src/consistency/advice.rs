//! The rules about what a report advises and calls its largest costs.

use std::collections::BTreeSet;

use oversleep_record::finding::{Advice, Finding, Severity, Tried, Verdict};
use oversleep_record::series::Quantity;
use oversleep_record::{Nanos, ResultFile};

use crate::costs::{Cost, Costs};
use crate::read::mentions;
use crate::read::{may_have, sleeps_of, wait_series};
use crate::tried::missing_clocks;

/// Notes the contradictions in these findings of a result.
pub(super) fn check(file: &ResultFile, all: &[Finding], wrong: &mut Vec<(String, String)>) {
    for finding in all.iter().filter(|finding| finding.verdict == Verdict::Found) {
        let mut note = |what: String| wrong.push((finding.name.clone(), what));
        unavailable(file, finding, &mut note);
        remedy_as_cost(finding, &mut note);
    }
    no_cost(file, all, wrong);
    largest_costs(file, all, wrong);
}

/// The largest costs of a result, by name or as `none`: each run of a machine must say the same.
pub fn largest_costs_by_name(file: &ResultFile, all: &[Finding]) -> Vec<(&'static str, String)> {
    let costs = Costs::of(file, all, sleeps_of(file).first().copied().unwrap_or_default());
    let named = [
        ("largest cost of a plain sleep", costs.of_plain_sleep),
        ("largest cost of any call measured", costs.of_any_call),
    ];
    let name = |cost: Option<Cost<'_>>| cost.map_or_else(|| "none".to_owned(), |cost| cost.finding.name.clone());
    named.into_iter().map(|(what, cost)| (what, name(cost))).collect()
}

/// Checks that no advice names a call that this system doesn't have.
fn unavailable(file: &ResultFile, finding: &Finding, note: &mut impl FnMut(String)) {
    let waits: BTreeSet<&str> =
        file.series.iter().filter(|one| one.quantity == Quantity::Lateness).map(|one| one.subject.as_str()).collect();
    for wait in waits.into_iter().filter(|wait| !may_have(file, wait)) {
        let call = wait.replace('-', "_");
        advised(finding, &call, note);
    }
    for call in missing_clocks(file) {
        advised(finding, &call, note);
    }
}

fn advised(finding: &Finding, call: &str, note: &mut impl FnMut(String)) {
    for advice in &finding.advice {
        if [Some(&advice.sentence), advice.example.as_ref()].into_iter().flatten().any(|text| mentions(text, call)) {
            note(format!("{} advises {call}, which isn't available here", advice.remedy));
        }
    }
}

/// Checks that what would help isn't listed as a cost: `high-resolution-timer` beside `use-high-resolution-timer`.
fn remedy_as_cost(finding: &Finding, note: &mut impl FnMut(String)) {
    let is_it = |remedy: &str| remedy.strip_prefix("use-") == Some(&finding.name);
    if finding.severity == Severity::Cost && finding.advice.iter().any(|advice| is_it(&advice.remedy)) {
        note("it is a remedy, and listed as a cost".to_owned());
    }
}

/// A wait that is this many times as late as another one of the same table, and later than a frame, costs something.
const FAR_LATER: i64 = 10;
const FRAME: Nanos = Nanos(16_666_667);

/// Checks that a cost was found if the plain sleep is far later than another wait at the same request.
fn no_cost(file: &ResultFile, all: &[Finding], wrong: &mut Vec<(String, String)>) {
    let is_cost = |one: &Finding| one.verdict == Verdict::Found && one.severity != Severity::Note;
    let Some(sleep) = sleeps_of(file).iter().find_map(|sleep| wait_series(file, sleep)) else { return };
    let waits = file.experiment(sleep.experiment).filter(|one| one.requested_ns == sleep.requested_ns);
    let other = waits.filter(|one| one.conditions.is_as_found()).filter_map(|one| Some((one.distribution.p50()?, one)));
    let Some((least, other)) = other.min_by_key(|(p50, _)| *p50) else { return };
    let late = sleep.distribution.p50().unwrap_or_default();
    if late > FRAME.0 && late > least.saturating_mul(FAR_LATER) && !all.iter().any(is_cost) {
        let what =
            format!("no cost was found, but {} is {} late, {} {}", sleep.key, Nanos(late), other.key, Nanos(least));
        wrong.push(("bottom line".to_owned(), what));
    }
}

/// Checks that the largest cost of any call is no smaller than that of the plain sleep, nor than any other gain.
fn largest_costs(file: &ResultFile, all: &[Finding], wrong: &mut Vec<(String, String)>) {
    let plain = sleeps_of(file).first().copied().unwrap_or_default();
    let costs = Costs::of(file, all, plain);
    let any = costs.of_any_call.as_ref().map_or(Nanos::ZERO, |cost| cost.size);
    let is_cost = |one: &&Finding| one.verdict == Verdict::Found && one.severity != Severity::Note;
    let helped = |advice: &&Advice| matches!(advice.tried, Tried::Measured { helped: true, .. });
    let costs = all.iter().filter(is_cost).filter(|one| one.name != "cgroup-throttling");
    for advice in costs.filter_map(|one| one.advice.iter().find(helped)) {
        if let Tried::Measured { before_p50_ns, after_p50_ns, .. } = advice.tried
            && (before_p50_ns - after_p50_ns) / 10 * 9 > any.0
        {
            let gain = Nanos(before_p50_ns - after_p50_ns);
            wrong.push((
                "bottom line".to_owned(),
                format!("{} gained {gain}, the largest cost is {any}", advice.remedy),
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use oversleep_record::series::Status;
    use oversleep_record::{ClockResult, Unavailable};

    use super::*;
    use crate::testing::{Sheet, good_clock};

    /// Each rule with a result that broke it.
    #[test]
    fn advice_that_is_not_available_a_remedy_as_a_cost_and_no_cost_beside_a_late_sleep_are_contradictions() {
        let mut file = Sheet::linux().steady("B5/nanosleep/1ms", 66_000).file;
        let mut absent = Sheet::linux().steady("B5/epoll-pwait2/1ms", 1).file.series.remove(0);
        absent.status = Status::Unavailable { reason: Unavailable::TooOld { needs: "Linux 5.11".into() } };
        file.series.push(absent);
        let advice = |remedy: &str, sentence: &str| Advice {
            remedy: remedy.into(),
            sentence: sentence.into(),
            example: None,
            tried: Tried::NotTried { why: String::new() },
        };
        let finding = |name: &str, advice| Finding {
            id: "OVS-L004".into(),
            name: name.into(),
            instance: None,
            summary: String::new(),
            severity: Severity::Cost,
            verdict: Verdict::Found,
            sentence: String::new(),
            more: Vec::new(),
            explained_ns: None,
            evidence: Vec::new(),
            advice: vec![advice],
        };
        let mut wrong = Vec::new();
        let finer = finding("millisecond-timeout", advice("finer-timeout-call", "Call epoll_pwait2 instead."));
        unavailable(&file, &finer, &mut |what| wrong.push(what));
        let timer = finding("high-resolution-timer", advice("use-high-resolution-timer", "Use it."));
        remedy_as_cost(&timer, &mut |what| wrong.push(what));
        assert_eq!(
            wrong,
            [
                "finer-timeout-call advises epoll_pwait2, which isn't available here",
                "it is a remedy, and listed as a cost"
            ]
        );
        let clock = ClockResult {
            call: "GetSystemTimePreciseAsFileTime".into(),
            unavailable: Some(Unavailable::TooOld { needs: "Windows 8".into() }),
            ..good_clock("system-time-precise")
        };
        let old = Sheet::windows().clock(clock).file;
        let precise = advice("use-precise-system-clock", "For the time of day, call GetSystemTimePreciseAsFileTime.");
        let mut wrong = Vec::new();
        unavailable(&old, &finding("tick-count-step", precise), &mut |what| wrong.push(what));
        assert_eq!(
            wrong,
            ["use-precise-system-clock advises getsystemtimepreciseasfiletime, which isn't available here"]
        );
        let names = largest_costs_by_name(&old, &[]);
        assert!(names.iter().all(|(_, name)| name == "none"), "absence is a name, too: {names:?}");
        let napping =
            Sheet::macos().steady("B5/nanosleep/1ms", 10_000_000_000).steady("B5/kevent-timer-critical/1ms", 10_000);
        let mut wrong = Vec::new();
        no_cost(&napping.file, &[], &mut wrong);
        assert_eq!(
            wrong,
            [(
                "bottom line".to_owned(),
                "no cost was found, but B5/nanosleep/1ms is 10 s late, B5/kevent-timer-critical/1ms 10 µs".to_owned()
            )]
        );
    }
}
