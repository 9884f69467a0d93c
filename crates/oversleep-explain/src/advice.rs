//! Advice: a remedy beside what it gained when it was tried here, or why it was not.

use oversleep_record::conditions::Outcome;
use oversleep_record::finding::{Advice, Tried};
use oversleep_record::series::{Quantity, Status};
use oversleep_record::stats::{VALUES_MIN, share_of_rounds_lower};
use oversleep_record::trial::TrialPair;
use oversleep_record::{ExperimentId, Nanos, ResultFile, Series, Trial};

use super::entry::Conclusion;
use super::read::{COMMON_REQUEST, judge, median_of, sleeps_of, values, wait_series, waits_of};
use super::remedies::{self, Harmless, RemedyEntry};
use super::text::{counted, list};

/// Share of the pairs of rounds that must agree before a remedy is said to help.
const ROUNDS_AGREE_MIN: f64 = 0.75;
/// Smallest gain worth a change, as a share of the lateness without it.
const GAIN_SHARE_MIN: f64 = 0.1;
/// Smallest gain worth a change.
const GAIN_MIN: Nanos = Nanos(1_000);

/// The advice of those remedies for this result, without those of other systems.
pub(super) fn advise(file: &ResultFile, ids: &[&str]) -> Vec<Advice> {
    let entries = ids.iter().filter_map(|id| remedies::get(id));
    entries.filter(|entry| entry.scope.covers(file)).map(|entry| advice(file, entry)).collect()
}

fn advice(file: &ResultFile, entry: &RemedyEntry) -> Advice {
    Advice {
        remedy: entry.id.to_owned(),
        sentence: entry.how.to_owned(),
        example: entry.example.map(str::to_owned),
        tried: tried(file, entry),
    }
}

/// What came of a remedy in this run.
pub(super) fn tried(file: &ResultFile, entry: &RemedyEntry) -> Tried {
    if let Some(trial) = file.trials.iter().find(|trial| trial.remedy == entry.id) {
        return of_trial(file, trial);
    }
    if let Some(tried) = entry.compare.and_then(|compare| compare(file)) {
        return tried;
    }
    Tried::NotTried {
        why: match entry.harmless {
            Harmless::TryHere(_) => "this run did not try it".to_owned(),
            Harmless::NotTriedBecause(why) => why.to_owned(),
            Harmless::MeasuredBy(experiment, waits) => not_compared(file, experiment, waits),
        },
    }
}

/// Why the series of an experiment that measures a remedy can't be compared: it did not run, or what came of it.
fn not_compared(file: &ResultFile, experiment: ExperimentId, waits: &[&str]) -> String {
    if file.experiment(experiment).next().is_none() {
        return format!("experiment {experiment} measures it; it did not run here");
    }
    let of_it = file
        .experiment(experiment)
        .filter(|series| series.quantity == Quantity::Lateness && waits.contains(&series.subject.as_str()));
    let Some(best) = of_it.max_by_key(|series| values(series).count()) else {
        return format!("experiment {experiment} measures it; this run measured no {} in it", waits[0]);
    };
    match judge(best).err().and_then(Conclusion::into_parts) {
        Some((_, statement)) => statement.sentence,
        None => format!("nothing that could be compared with it was measured beside {}", best.key),
    }
}

/// The series of a trial's pair, those of the plainest sleep first: every report names the plainest wait where it can.
fn pairs<'a>(file: &'a ResultFile, trial: &'a Trial) -> Vec<(&'a Series, &'a Series)> {
    let both = |pair: &TrialPair| Some((file.series(&pair.before)?, file.series(&pair.after)?));
    let mut pairs: Vec<(&Series, &Series)> = trial.pairs.iter().filter_map(both).collect();
    pairs.sort_by_key(|(before, _)| before.subject != sleeps_of(file)[0]);
    pairs
}

fn of_trial(file: &ResultFile, trial: &Trial) -> Tried {
    let pairs = pairs(file, trial);
    if let Some(why) = pairs.iter().find_map(|(_, after)| refusal(after)) {
        return Tried::Refused { why };
    }
    let enough = |series: &Series| values(series).count() >= VALUES_MIN;
    match pairs.iter().find(|(before, after)| enough(before) && enough(after)) {
        Some((before, after)) => measured(before, after),
        None => Tried::NotTried { why: not_measured(&pairs) },
    }
}

fn not_measured(pairs: &[(&Series, &Series)]) -> String {
    match pairs.first() {
        None => "the trial holds no series".to_owned(),
        Some((before, after)) => match [before, after].map(|series| &series.status) {
            [Status::Unavailable { reason }, _] | [_, Status::Unavailable { reason }] => reason.to_string(),
            _ => {
                let fewest = values(before).count().min(values(after).count());
                format!("the trial holds only {}; {VALUES_MIN} are needed", counted(fewest, "value"))
            }
        },
    }
}

/// Why the system refused what a series was to be measured under.
fn refusal(series: &Series) -> Option<String> {
    let denied: Vec<String> = series
        .conditions
        .outcomes
        .values()
        .filter_map(|outcome| match outcome {
            Outcome::Denied { why } => Some(why.to_string()),
            _ => None,
        })
        .collect();
    (!denied.is_empty()).then(|| list(&denied))
}

/// Before and after as figures, and whether the rounds agree that it helped.
pub(super) fn measured(before: &Series, after: &Series) -> Tried {
    let p99 = |series: &Series| values(series).safe_quantile(0.99);
    Tried::Measured {
        subject: after.subject.clone(),
        instead_of: (before.subject != after.subject).then(|| before.subject.clone()),
        requested_ns: after.requested_ns.filter(|_| before.requested_ns == after.requested_ns),
        before_p50_ns: median_of(before),
        after_p50_ns: median_of(after),
        before_p99_ns: p99(before),
        after_p99_ns: p99(after),
        helped: helped(before, after),
    }
}

/// Whether the lateness fell by enough to matter, and did so round by round.
pub(super) fn helped(before: &Series, after: &Series) -> bool {
    let (before_p50, after_p50) = (median_of(before), median_of(after));
    let gain = before_p50.saturating_sub(after_p50);
    let large = gain >= GAIN_MIN.0 && gain as f64 >= before_p50.unsigned_abs() as f64 * GAIN_SHARE_MIN;
    large && share_of_rounds_lower(before, after).is_some_and(|share| share >= ROUNDS_AGREE_MIN)
}

/// The plainest pair of a remedy's trial that was measured as asked: without it and with it.
pub(super) fn trial_pair<'a>(file: &'a ResultFile, remedy: &str) -> Option<(&'a Series, &'a Series)> {
    let trial = file.trials.iter().find(|trial| trial.remedy == remedy)?;
    pairs(file, trial)
        .into_iter()
        .find(|(before, after)| before.has_values() && after.has_values() && refusal(after).is_none())
}

/// Every pair of a remedy's trial that can carry a conclusion.
pub(super) fn sound_pairs<'a>(file: &'a ResultFile, remedy: &str) -> Vec<(&'a Series, &'a Series)> {
    let Some(trial) = file.trials.iter().find(|trial| trial.remedy == remedy) else { return Vec::new() };
    let sound = |series: &Series| judge(series).is_ok() && refusal(series).is_none();
    pairs(file, trial).into_iter().filter(|(before, after)| sound(before) && sound(after)).collect()
}

/// A wait of experiment B5 at 1 ms (or near it) that can carry a conclusion.
pub(super) fn wait_named<'a>(file: &'a ResultFile, wait: &'a str) -> Option<&'a Series> {
    wait_series(file, wait).filter(|series| judge(series).is_ok())
}

/// Of these waits the first that was measured at 1 ms.
pub(super) fn first_wait<'a>(file: &'a ResultFile, waits: &'a [&'a str]) -> Option<&'a Series> {
    let mut comparable = waits.iter().filter_map(|wait| wait_named(file, wait));
    comparable.find(|series| series.requested_ns == Some(COMMON_REQUEST))
}

/// The same wait asked for as long as `other` was.
pub(super) fn wait_like<'a>(file: &'a ResultFile, wait: &'a str, other: &Series) -> Option<&'a Series> {
    waits_of(file, wait).find(|series| series.requested_ns == other.requested_ns && judge(series).is_ok())
}

/// The plainest sleep of this system that can carry a conclusion.
pub(super) fn plain_sleep(file: &ResultFile) -> Option<&Series> {
    sleeps_of(file).iter().find_map(|wait| wait_named(file, wait))
}

/// The plainest sleep asked for as long as `other` was.
pub(super) fn sleep_like<'a>(file: &'a ResultFile, other: &Series) -> Option<&'a Series> {
    sleeps_of(file).iter().find_map(|wait| wait_like(file, wait, other))
}

/// The hybrid wait of experiment B12, at 1 ms where there is a choice.
pub(super) fn hybrid(file: &ResultFile) -> Option<&Series> {
    let distance =
        |series: &&Series| series.requested_ns.map_or(i64::MAX, |asked| (asked - COMMON_REQUEST).0.saturating_abs());
    file.experiment(ExperimentId::B12)
        .filter(|series| series.subject == "hybrid" && series.quantity == Quantity::Lateness && judge(series).is_ok())
        .min_by_key(distance)
}

fn common<'a>(file: &'a ResultFile, one: &'a str, other: &'a str) -> Vec<(&'a Series, &'a Series)> {
    let sound = waits_of(file, one).filter(|series| judge(series).is_ok());
    let mut both: Vec<_> = sound.filter_map(|series| Some((series, wait_like(file, other, series)?))).collect();
    both.sort_by_key(|(series, _)| series.requested_ns);
    both
}

/// Two waits at the shortest request both were measured at.
pub(super) fn shortest_common<'a>(
    file: &'a ResultFile,
    one: &'a str,
    other: &'a str,
) -> Option<(&'a Series, &'a Series)> {
    common(file, one, other).into_iter().next()
}

/// Two waits at the longest request both were measured at, from 20 ms on.
pub(super) fn longest_common<'a>(
    file: &'a ResultFile,
    one: &'a str,
    other: &'a str,
) -> Option<(&'a Series, &'a Series)> {
    let longest = common(file, one, other).into_iter().next_back()?;
    (longest.0.requested_ns? >= Nanos::from_millis(20)).then_some(longest)
}

#[cfg(test)]
mod tests {
    use oversleep_record::Unavailable;

    use super::super::testing::{Explained, Sheet, rounds};
    use super::*;
    use oversleep_record::FactName;

    fn slack_trial(sheet: &Sheet) -> Tried {
        tried(&sheet.file, remedies::get("lower-timer-slack").unwrap())
    }

    #[test]
    fn reports_before_and_after() {
        let sheet = Sheet::linux().trial("lower-timer-slack", "nanosleep", 66_100, 14_200);
        let Tried::Measured { subject, before_p50_ns, after_p50_ns, before_p99_ns, helped, .. } = slack_trial(&sheet)
        else {
            panic!("not measured")
        };
        assert_eq!((subject.as_str(), before_p50_ns, after_p50_ns, helped), ("nanosleep", 66_100, 14_200, true));
        assert_eq!(before_p99_ns, None, "80 values have no p99");
    }

    #[test]
    fn a_small_or_inconsistent_gain_is_no_help() {
        let steady = rounds("B5/nanosleep/1ms", &[66_000; 4], 20);
        assert!(!helped(&steady, &rounds("B5/nanosleep/1ms", &[65_200; 4], 20)), "under a microsecond");
        assert!(!helped(&steady, &rounds("B5/nanosleep/1ms", &[62_000; 4], 20)), "under a tenth");
        assert!(
            !helped(&steady, &rounds("B5/nanosleep/1ms", &[20_000, 20_000, 70_000, 70_000], 20)),
            "half the rounds"
        );
        assert!(helped(&steady, &rounds("B5/nanosleep/1ms", &[20_000, 20_000, 20_000, 70_000], 20)));
    }

    #[test]
    fn a_refusal_says_why() {
        let mut sheet = Sheet::linux().trial("lower-timer-slack", "nanosleep", 66_100, 66_000);
        let why = Unavailable::not_permitted("prctl", "allow it in the seccomp profile");
        let after = sheet.file.series.last_mut().unwrap();
        after.conditions.outcomes.insert("slack".into(), Outcome::Denied { why });
        assert_eq!(
            slack_trial(&sheet),
            Tried::Refused { why: "prctl is not permitted here (allow it in the seccomp profile)".into() }
        );
    }

    #[test]
    fn what_was_not_tried_says_why() {
        let not_tried = |why: &str| Tried::NotTried { why: why.into() };
        assert_eq!(slack_trial(&Sheet::linux()), not_tried("this run did not try it"));
        let mut sheet = Sheet::linux().trial("lower-timer-slack", "nanosleep", 66_100, 14_200);
        for series in &mut sheet.file.series {
            *series = rounds(&series.key, &[1; 3], 3);
        }
        assert_eq!(slack_trial(&sheet), not_tried("the trial holds only 9 values; 30 are needed"));
        let root = tried(&sheet.file, remedies::get("performance-governor").unwrap());
        assert_eq!(root, not_tried("it changes the whole machine and needs root"));
    }

    #[test]
    fn what_could_not_be_compared_says_why_it_could_not() {
        let why = |sheet: &Sheet| match tried(&sheet.file, remedies::get("use-high-resolution-timer").unwrap()) {
            Tried::NotTried { why } => why,
            other => panic!("{other:?}"),
        };
        let key = "B5/waitable-timer-high-resolution/1ms";
        assert_eq!(why(&Sheet::windows()), "experiment B5 measures it; it did not run here");
        let without = || Sheet::windows().steady("B5/sleep/1ms", 14_600_000);
        assert_eq!(
            why(&without()),
            "experiment B5 measures it; this run measured no waitable-timer-high-resolution in it"
        );
        let few = without().series(rounds(key, &[500_000; 3], 4));
        assert_eq!(why(&few), format!("{key} holds 12 values; a conclusion needs 30"));
        let mut missing = without().series(rounds(key, &[500_000; 3], 4));
        let series = missing.file.series.last_mut().unwrap();
        *series = Series { status: Status::Unavailable { reason: Unavailable::NotAsked }, ..series.clone() };
        assert!(why(&missing).starts_with(&format!("{key} could not be measured: ")), "{}", why(&missing));
        let alone = Sheet::windows().steady(key, 500_000);
        assert_eq!(why(&alone), format!("nothing that could be compared with it was measured beside {key}"));
    }

    #[test]
    fn a_call_the_system_is_too_old_for_is_not_advised() {
        let advised = |sheet: &Sheet| !advise(&sheet.file, &["use-high-resolution-timer"]).is_empty();
        let missing = |wait: &str, reason: Unavailable| {
            let mut series = rounds(&format!("B5/{wait}/1ms"), &[1_000; 3], 10);
            series.status = Status::Unavailable { reason };
            Sheet::windows().series(series)
        };
        let too_old = || Unavailable::TooOld { needs: "Windows 10 1803".to_owned() };
        assert!(advised(&Sheet::windows()), "nothing is known against it");
        assert!(advised(&missing("wait-on-address", too_old())), "another wait is missing");
        assert!(!advised(&missing("waitable-timer-high-resolution", too_old())));
        let refused = Unavailable::not_permitted("CreateWaitableTimerExW", "allow it");
        assert!(advised(&missing("waitable-timer-high-resolution", refused)), "a refusal is no age");
        assert!(
            !advised(&Sheet::windows().flag(FactName::TimerHighResolution, false)),
            "the fact says so without a series"
        );
    }

    #[test]
    fn what_the_experiments_measured_anyway_needs_no_trial() {
        let sheet = Sheet::linux().steady("B5/nanosleep/1ms", 66_100).steady("B5/timerfd/1ms", 14_900);
        let tried = tried(&sheet.file, remedies::get("choose-exact-primitive").unwrap());
        assert!(matches!(tried, Tried::Measured { after_p50_ns: 14_900, helped: true, .. }), "{tried:?}");
    }
}
