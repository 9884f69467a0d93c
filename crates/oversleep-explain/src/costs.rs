//! The largest costs of a result: of a plain sleep, and of any call that was measured.

use oversleep_record::finding::{Advice, Finding, Severity, Tried, Verdict};
use oversleep_record::series::Quantity;
use oversleep_record::{Nanos, ResultFile};

use crate::figures::p50;

/// The finding about the control group that a quota stopped: a setting, which comes before everything that it disturbs.
const THROTTLING: &str = "cgroup-throttling";
/// A cost whose remedy wasn't tried is known by the lateness of its waits, which has other causes, too. So it has to be this
/// many times as large as a gain that was measured.
const UNTRIED_FACTOR: i64 = 10;

/// Of costs whose remedies weren't tried, one is larger from this factor on.
const UNTRIED_TIE: i64 = 2;

/// What is said about the costs of a result.
#[derive(Clone, Debug, Default)]
pub struct Costs<'a> {
    /// The quota that stopped the control group meanwhile.
    pub quota: Option<&'a Finding>,
    /// The largest cost of the plain sleep.
    pub of_plain_sleep: Option<Cost<'a>>,
    /// The largest cost of any call that was measured.
    pub of_any_call: Option<Cost<'a>>,
}

/// A cost, with the call that pays it.
#[derive(Clone, Debug)]
pub struct Cost<'a> {
    /// The finding.
    pub finding: &'a Finding,
    /// The remedy: the first that helped, otherwise the first.
    pub advice: Option<&'a Advice>,
    /// The call.
    pub call: String,
    /// Its request.
    pub requested: Option<Nanos>,
    /// What the remedy gained, or how late the call is if none was tried.
    pub size: Nanos,
    /// Whether a remedy gained that here.
    pub is_gain: bool,
}

impl<'a> Costs<'a> {
    /// The costs among these findings of a result, whose plain sleep is `plain`.
    pub fn of(file: &ResultFile, findings: &'a [Finding], plain: &str) -> Costs<'a> {
        let is_cost = |finding: &&Finding| {
            finding.verdict == Verdict::Found && matches!(finding.severity, Severity::Fault | Severity::Cost)
        };
        let (quota, others): (Vec<_>, Vec<_>) = findings.iter().filter(is_cost).partition(|one| one.name == THROTTLING);
        let costs: Vec<Cost<'a>> = others.into_iter().flat_map(|finding| of_finding(file, finding)).collect();
        let of_plain_sleep = largest(costs.iter().filter(|cost| cost.call == plain));
        let of_any_call = largest(costs.iter());
        // Which of several calls that all end on the same tick is the latest differs from run to run.
        let is_as_large = |plain: &&Cost<'a>| {
            let any = of_any_call.as_ref();
            any.is_some_and(|any| any.finding.name == plain.finding.name && plain.size.0 >= any.size.0 / 10 * 9)
        };
        let of_any_call = of_plain_sleep.as_ref().filter(is_as_large).cloned().or(of_any_call.clone());
        Costs { quota: quota.first().copied(), of_plain_sleep, of_any_call }
    }
}

/// What a finding costs each call that it is about.
fn of_finding<'a>(file: &ResultFile, finding: &'a Finding) -> Vec<Cost<'a>> {
    let gains = finding.advice.iter().filter_map(|advice| match &advice.tried {
        Tried::Measured { subject, instead_of, requested_ns, before_p50_ns, after_p50_ns, helped: true, .. } => {
            // The wait without the remedy, which may be the same wait.
            let before = instead_of.as_deref().and_then(|other| other.split(' ').next());
            Some(Cost {
                finding,
                advice: Some(advice),
                call: before.unwrap_or(subject).to_owned(),
                requested: *requested_ns,
                size: Nanos(before_p50_ns.saturating_sub(*after_p50_ns)),
                is_gain: true,
            })
        }
        _ => None,
    });
    // A finding lists its own remedies first.
    let mut all: Vec<Cost<'a>> = Vec::new();
    for gain in gains {
        if all.iter().all(|known| known.call != gain.call) {
            all.push(gain);
        }
    }
    if !all.is_empty() || finding.severity == Severity::Fault {
        return all;
    }
    let sources = finding.evidence.iter().flat_map(|evidence| evidence.source.split(", "));
    let late = sources.filter_map(|key| file.series(key)).filter_map(|series| {
        let requested = series.requested_ns?;
        let size = match series.quantity {
            Quantity::Lateness => p50(series),
            Quantity::Duration => p50(series) - requested,
            _ => return None,
        };
        let (advice, call) = (finding.advice.first(), series.subject.clone());
        Some(Cost { finding, advice, call, requested: Some(requested), size, is_gain: false })
    });
    late.collect()
}

/// The largest gain, unless something that wasn't cured is far larger. Of equal ones, the finding that comes first.
fn largest<'a, 'b>(costs: impl Iterator<Item = &'b Cost<'a>> + Clone) -> Option<Cost<'a>>
where
    'a: 'b,
{
    let most = |is_gain: bool| {
        costs.clone().filter(|cost| cost.is_gain == is_gain).reduce(|most, cost| {
            // How late a wait is differs from run to run: of two that are about as late, the finding that comes first.
            let least = if is_gain { most.size } else { most.size * UNTRIED_TIE };
            if cost.size > least { cost } else { most }
        })
    };
    match (most(true), most(false)) {
        (Some(gain), Some(untried)) if untried.size.0 / UNTRIED_FACTOR >= gain.size.0 => Some(untried.clone()),
        (gain, untried) => gain.or(untried).cloned(),
    }
}

#[cfg(test)]
mod tests {
    use oversleep_record::FactName;
    use oversleep_record::finding::Evidence;

    use super::*;
    use crate::registry::findings;
    use crate::testing::{Explained, Sheet, rounds};

    fn names(sheet: &Sheet) -> [Option<(String, String)>; 2] {
        let all = findings(&sheet.file);
        let costs = Costs::of(&sheet.file, &all, "nanosleep");
        [costs.of_plain_sleep, costs.of_any_call].map(|cost| cost.map(|cost| (cost.finding.name.clone(), cost.call)))
    }

    fn with_slack() -> Sheet {
        let sheet = Sheet::linux().span(FactName::TimerSlack, 50_000).integer(FactName::TimerHz, 250);
        let sheet = sheet.span(FactName::TimerCoarseStep, 4_000_000).steady("B5/nanosleep/1ms", 66_000);
        sheet.steady("C2/nanosleep/1ms/slack=1ns", 16_000).trial("lower-timer-slack", "nanosleep", 66_000, 16_000)
    }

    #[test]
    fn the_largest_of_a_plain_sleep_and_of_any_call_are_two() {
        let of = |name: &str, call: &str| Some((name.to_owned(), call.to_owned()));
        let slack = of("timer-slack", "nanosleep");
        assert_eq!(names(&with_slack()), [slack.clone(), slack.clone()]);
        let receive = crate::names::SOCKET_TIMEOUT;
        let sheet = with_slack().steady(format!("B5/{receive}/1ms"), 7_000_000).steady("B5/ppoll/1ms", 66_000);
        assert_eq!(names(&sheet), [slack, of("socket-timeout-tick", receive)]);
    }

    #[test]
    fn a_cost_without_a_trial_is_named_by_its_lateness() {
        let sheet = Sheet::windows().span(FactName::TimerPeriodDefault, 15_625_000).steady("B5/sleep/1ms", 14_600_000);
        let sheet = sheet.flag(FactName::TimerHighResolution, true);
        let all = findings(&sheet.steady("B5/waitable-timer-high-resolution/1ms", 520_000).file);
        assert!(
            all.iter().any(|one| one.name == "high-resolution-timer" && one.severity == Severity::Note),
            "a remedy"
        );
        let sheet = Sheet::windows().span(FactName::TimerPeriodDefault, 15_625_000).steady("B5/sleep/1ms", 14_600_000);
        let all = findings(&sheet.file);
        let cost = Costs::of(&sheet.file, &all, "sleep").of_plain_sleep.expect("it is late");
        assert_eq!((cost.finding.name.as_str(), cost.size, cost.is_gain), ("default-tick", Nanos(14_600_000), false));
        let sheet = sheet.steady("B5/sleep-ex/1ms", 14_610_000);
        let all = findings(&sheet.file);
        let any = Costs::of(&sheet.file, &all, "sleep").of_any_call.expect("it is late");
        assert_eq!(any.call, "sleep", "the other one is hardly later");
    }

    /// The same machine in three runs, whose sweep differed by chance.
    #[test]
    fn of_costs_about_as_large_the_first_is_named_in_every_run() {
        let file = Sheet::linux().steady("B5/nanosleep/1ms", 30_300_000).file;
        let finding = findings(&file).remove(0);
        let cost = |name: &str, size| {
            let finding = Finding { name: name.to_owned(), ..finding.clone() };
            (finding, Nanos(size))
        };
        for later in [29_000_000, 31_000_000, 53_300_000] {
            let both = [cost("oversubscription", 30_300_000), cost("sleep-grid", later)];
            let costs: Vec<Cost> = both
                .iter()
                .map(|(finding, size)| Cost {
                    finding,
                    advice: None,
                    call: "nanosleep".to_owned(),
                    requested: None,
                    size: *size,
                    is_gain: false,
                })
                .collect();
            let first = largest(costs.iter()).expect("there are two");
            assert_eq!(first.finding.name, "oversubscription", "{later}");
        }
    }

    #[test]
    fn the_cost_of_a_duration_is_what_exceeds_the_request() {
        let file = Sheet::linux().steady("B2/nanosleep/1ms", 1_066_000).steady("B5/poll/1ms", 67_000).file;
        let evidence = |source: &str| Evidence { source: source.to_owned(), text: String::new() };
        let mut finding = findings(&file).remove(0);
        (finding.severity, finding.advice) = (Severity::Cost, Vec::new());
        finding.evidence = vec![evidence("B2/nanosleep/1ms"), evidence("B5/poll/1ms")];
        let sizes: Vec<i64> = of_finding(&file, &finding).iter().map(|cost| cost.size.0).collect();
        assert_eq!(sizes, [66_000, 67_000]);
    }

    #[test]
    fn a_quota_comes_first_and_is_no_cost_of_a_call() {
        let mut series = rounds("B5/nanosleep/1ms", &[66_000; 4], 20);
        for round in &mut series.rounds {
            round.disturbance.throttled_ns = Some(Nanos(150_000_000));
            round.disturbance.throttled_periods = Some(2);
        }
        let sheet = Sheet::linux().series(series);
        let all = findings(&sheet.file);
        let costs = Costs::of(&sheet.file, &all, "nanosleep");
        assert_eq!(costs.quota.map(|finding| finding.name.as_str()), Some("cgroup-throttling"));
        assert!(costs.of_any_call.is_none(), "{costs:?}");
    }

    #[test]
    fn a_gain_is_credited_to_what_it_removed() {
        let busy = with_slack().integer(FactName::CpuCount, 2).text(FactName::SchedPolicy, "other");
        let mut sheet = busy.trial("real-time-policy", "nanosleep", 66_000, 14_000);
        for series in &mut sheet.file.series {
            for round in &mut series.rounds {
                round.disturbance.window_ns = Nanos(20_000_000);
                round.disturbance.other_cpu_ns = Some(Nanos(39_000_000));
            }
        }
        let all = findings(&sheet.file);
        let queueing = all.iter().find(|one| one.name == "oversubscription").expect("it is checked");
        assert_eq!(queueing.verdict, Verdict::Found, "{queueing:?}");
        let policy = queueing.advice.iter().find(|one| one.remedy == "real-time-policy").expect("it is advised");
        let Tried::Measured { before_p50_ns, after_p50_ns, .. } = policy.tried else { panic!("{policy:?}") };
        assert_eq!((before_p50_ns, after_p50_ns), (16_000, 14_000));
        let costs = Costs::of(&sheet.file, &all, "nanosleep");
        assert_eq!(costs.of_plain_sleep.map(|cost| cost.finding.name.as_str()), Some("timer-slack"));
        // Where most waits of the slack's trial were missed, nobody knows what of the gain it was.
        for series in &mut sheet.file.series {
            if series.key.as_str().starts_with("trial/lower-timer-slack/") {
                let rounds = rounds(&series.key, &[16_000; 2], 8);
                (series.distribution, series.calls_only) = (rounds.distribution, None);
            }
        }
        let all = findings(&sheet.file);
        let queueing = all.iter().find(|one| one.name == "oversubscription").expect("it is checked");
        let policy = queueing.advice.iter().find(|one| one.remedy == "real-time-policy").expect("it is advised");
        let Tried::NotTried { why } = &policy.tried else { panic!("{policy:?}") };
        assert!(why.starts_with("it also does what lower-timer-slack does"), "{why}");
    }
}
