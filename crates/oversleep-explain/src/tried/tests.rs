//! What remedies gained in results with known figures, and which are tried.

use oversleep_record::conditions::Outcome;
use oversleep_record::{FactName, Unavailable};

use super::*;
use crate::registry::{advise, remedies_to_try, remedy};
use crate::remedies;
use crate::testing::{Explained, Sheet, good_clock, rounds};

fn slack_trial(sheet: &Sheet) -> Tried {
    tried(&sheet.file, &remedies::linux::LOWER_TIMER_SLACK)
}

fn not_tried(why: &str) -> Tried {
    Tried::NotTried { why: why.into() }
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
fn a_refusal_says_why() {
    let mut sheet = Sheet::linux().trial("lower-timer-slack", "nanosleep", 66_100, 66_000);
    let why = Unavailable::not_permitted("prctl", "allow it in the seccomp profile");
    let after = sheet.file.series.last_mut().unwrap();
    after.conditions.outcomes.insert("slack".into(), Outcome::Denied { why });
    assert_eq!(
        slack_trial(&sheet),
        Tried::Refused { why: "prctl is not permitted (allow it in the seccomp profile)".into() }
    );
}

#[test]
fn what_was_not_tried_says_why() {
    assert_eq!(slack_trial(&Sheet::linux()), not_tried("this run did not try it"));
    let mut sheet = Sheet::linux().trial("lower-timer-slack", "nanosleep", 66_100, 14_200);
    for series in &mut sheet.file.series {
        *series = rounds(&series.key, &[1; 3], 3);
    }
    assert_eq!(slack_trial(&sheet), not_tried("the trial has only 9 values and needs 30. Use --thorough"));
    let root = tried(&sheet.file, &remedies::machine::PERFORMANCE_GOVERNOR);
    assert_eq!(root, not_tried("it changes the whole machine and needs root"));
}

#[test]
fn what_could_not_be_compared_says_why_it_could_not() {
    let why = |sheet: &Sheet| match tried(&sheet.file, &remedies::windows::USE_HIGH_RESOLUTION_TIMER) {
        Tried::NotTried { why } => why,
        other => panic!("{other:?}"),
    };
    let key = "B5/waitable-timer-high-resolution/1ms";
    assert_eq!(why(&Sheet::windows()), "experiment B5 measures it and was not run. Run `oversleep check --only B5`");
    let without = || Sheet::windows().steady("B5/sleep/1ms", 14_600_000);
    assert_eq!(
        why(&without()),
        "experiment B5 measures it, but did not include waitable-timer-high-resolution in this run"
    );
    let few = without().series(rounds(key, &[500_000; 3], 4));
    assert!(why(&few).starts_with(&format!("{key} has 12 values and a conclusion needs 30")), "{}", why(&few));
    let missing = without().unavailable(key, Unavailable::NotMeasured);
    assert!(why(&missing).starts_with(&format!("{key} is not available: ")), "{}", why(&missing));
    let alone = Sheet::windows().steady(key, 500_000);
    assert_eq!(
        why(&alone),
        format!(
            "{key} was measured, but no conclusive wait without the remedy. Run `oversleep check --only B5 --thorough`"
        )
    );
}

#[test]
fn a_call_the_system_is_too_old_for_is_not_advised() {
    let is_advised = |sheet: &Sheet| !advise(&sheet.file, &[&remedies::windows::USE_HIGH_RESOLUTION_TIMER]).is_empty();
    let missing = |wait: &str, reason: Unavailable| Sheet::windows().unavailable(format!("B5/{wait}/1ms"), reason);
    let too_old = || Unavailable::TooOld { needs: "Windows 10 1803".to_owned() };
    assert!(is_advised(&Sheet::windows()), "nothing is known against it");
    assert!(is_advised(&missing("wait-on-address", too_old())), "another wait is missing");
    assert!(!is_advised(&missing("waitable-timer-high-resolution", too_old())));
    let refused = Unavailable::not_permitted("CreateWaitableTimerExW", "allow it");
    assert!(is_advised(&missing("waitable-timer-high-resolution", refused)), "a refusal is no age");
    assert!(
        !is_advised(&Sheet::windows().flag(FactName::TimerHighResolution, false)),
        "the fact says so without a series"
    );
}

#[test]
fn a_clock_the_system_is_too_old_for_is_not_advised() {
    let mut precise = good_clock("system-time-precise");
    precise.call = "GetSystemTimePreciseAsFileTime".to_owned();
    let advised = |clock| {
        let advice =
            advise(&Sheet::windows().clock(clock).file, &[&remedies::windows::USE_PRECISE_SYSTEM_CLOCK]).remove(0);
        advice.sentence + &advice.example.unwrap_or_default()
    };
    assert!(advised(precise.clone()).contains(&precise.call));
    precise.unavailable = Some(Unavailable::TooOld { needs: "Windows 8".to_owned() });
    let old = advised(precise.clone());
    assert!(old.starts_with("Measure durations with QueryPerformanceCounter") && !old.contains(&precise.call), "{old}");
    assert!(!old.contains("FILETIME"), "{old}");
}

#[test]
fn what_the_experiments_measured_anyway_needs_no_trial() {
    let sheet = Sheet::linux().steady("B5/nanosleep/1ms", 66_100).steady("B5/timerfd/1ms", 14_900);
    let tried = tried(&sheet.file, &remedies::linux::CHOOSE_EXACT_PRIMITIVE);
    assert!(matches!(tried, Tried::Measured { after_p50_ns: 14_900, helped: true, .. }), "{tried:?}");
}

/// Java's two waits in a run of one round.
fn quick(slow: &[i64], fast: &[i64]) -> Tried {
    let one_round = |wait: &str, late: &[i64]| {
        let mut series = rounds(format!("R1/{wait}/300us/java-17"), &late[..1], 1);
        late[1..].iter().for_each(|&value| series.distribution.record(value));
        series.rounds[0].count = late.len() as u64;
        series
    };
    let sheet = Sheet::linux();
    let sheet = sheet.series(one_round("Thread.sleep(ms,ns)", slow)).of_runtime("java", "17.0.15");
    let sheet = sheet.series(one_round("LockSupport.parkNanos", fast)).of_runtime("java", "17.0.15");
    tried(&sheet.file, &remedies::runtimes::PARK_NANOS)
}

#[test]
fn one_round_shows_a_gain_if_its_values_lie_apart() {
    let does_it_help = |slow: &[i64], fast: &[i64]| match quick(slow, fast) {
        Tried::Measured { helped, .. } => helped,
        other => panic!("{other:?}"),
    };
    let late =
        |mean: i64, step: i64, count: i64| (0..count).map(|at| mean + (at - count / 2) * step).collect::<Vec<_>>();
    assert!(does_it_help(&late(790_000, 1_000, 10), &late(74_000, 1_000, 10)), "apart");
    assert!(
        does_it_help(&late(790_000, 1_000, 10), &[&late(74_000, 1_000, 10)[1..], &[900_000]].concat()),
        "one stall"
    );
    assert!(!does_it_help(&late(790_000, 200_000, 10), &late(490_000, 100_000, 10)), "they overlap");
    assert!(!does_it_help(&late(790_000, 1_000, 4), &late(74_000, 1_000, 4)), "too few");
    assert!(!does_it_help(&late(79_000, 10, 10), &late(78_000, 10, 10)), "too small");
}

fn to_try(sheet: &Sheet) -> Vec<(&'static str, String, String)> {
    let specs = remedies_to_try(&sheet.file);
    specs.into_iter().map(|spec| (spec.remedy, spec.conditions.to_string(), spec.waits.join(" "))).collect()
}

fn trial(remedy: &'static str, conditions: &str, waits: &str) -> (&'static str, String, String) {
    (remedy, conditions.to_owned(), waits.to_owned())
}

#[test]
fn tries_what_the_machine_gives_reason_to() {
    let sheet = Sheet::linux()
        .span(FactName::TimerSlack, 50_000)
        .flag(FactName::SchedRtPermitted, true)
        .list(FactName::CpuidleStates, &["C1 2us", "C6 133us"])
        .span(FactName::CpuidleDeepestExitLatency, 133_000)
        .steady("B5/clock-nanosleep/1ms", 66_000)
        .steady("B5/futex/1ms", 66_000)
        .steady("B5/poll/1ms", 66_000);
    assert_eq!(
        to_try(&sheet),
        [
            trial("lower-timer-slack", "slack=1 ns", "clock-nanosleep futex poll"),
            trial("real-time-policy", "policy=fifo:1", "clock-nanosleep"),
        ],
        "idle states are the whole machine's, not oversleep's"
    );
}

#[test]
fn nothing_of_a_linux_kernel_is_tried_or_advised_where_windows_translates_the_calls() {
    let linux = || Sheet::linux().span(FactName::TimerSlack, 50_000).steady("B5/nanosleep/1ms", 66_000);
    assert_eq!(to_try(&linux().text(FactName::VirtualisationWsl, "wsl2")).len(), 1, "WSL 2 runs a Linux kernel");
    let wsl1 = linux().text(FactName::VirtualisationWsl, "wsl1").flag(FactName::SchedRtPermitted, true);
    assert!(to_try(&wsl1).is_empty());
    let kernel = ["lower-timer-slack", "real-time-policy", "use-tsc-clocksource", "performance-governor"];
    assert!(kernel.iter().all(|id| !remedy(id).unwrap().scope.covers(&wsl1.file)));
}

#[test]
fn tries_nothing_without_a_reason() {
    let exact = Sheet::linux()
        .span(FactName::TimerSlack, 1)
        .flag(FactName::SchedRtPermitted, false)
        .list(FactName::CpuidleStates, &[])
        .steady("B5/nanosleep/1ms", 14_000);
    assert_eq!(to_try(&exact), []);
    let real_time = Sheet::linux()
        .span(FactName::TimerSlack, 50_000)
        .text(FactName::SchedPolicy, "fifo:80")
        .flag(FactName::SchedRtPermitted, true)
        .steady("B5/nanosleep/1ms", 14_000);
    assert_eq!(to_try(&real_time), []);
    assert_eq!(to_try(&Sheet::linux().span(FactName::TimerSlack, 50_000)), [], "no wait was measured");
}

#[test]
fn other_systems_are_tried_with_their_own_remedies() {
    let windows = || Sheet::windows().steady("B5/sleep/1ms", 14_600_000);
    assert_eq!(to_try(&windows()), [trial("request-timer-resolution", "resolution=1 ms", "sleep")]);
    assert_eq!(to_try(&windows().text(FactName::OsWineVersion, "8.0")), []);
    let macos = Sheet::macos().steady("B5/nanosleep/1ms", 265_000);
    assert_eq!(to_try(&macos), [trial("time-constraint-policy", "policy=time-constraint", "nanosleep")]);
    assert_eq!(to_try(&Sheet::on("haiku").steady("B5/nanosleep/1ms", 265_000)), []);
}

#[test]
fn what_is_in_force_already_is_not_advised() {
    let is_offered = |sheet: &Sheet, id: &str| remedy(id).unwrap().scope.covers(&sheet.file);
    let plain = Sheet::linux().text(FactName::SchedPolicy, "other").span(FactName::TimerSlack, 50_000);
    let exact = Sheet::linux().text(FactName::SchedPolicy, "other").span(FactName::TimerSlack, 1);
    let fifo = Sheet::linux().text(FactName::SchedPolicy, "fifo").span(FactName::TimerSlack, 0);
    for (sheet, slack, real_time) in [(plain, true, true), (exact, false, true), (fifo, false, false)] {
        assert_eq!(is_offered(&sheet, "lower-timer-slack"), slack);
        assert_eq!(is_offered(&sheet, "real-time-policy"), real_time);
    }
}
