//! Machines learned from a result: as late as the original, and under the rules of its system once a setting changes.

use oversleep_measure::{Amount, Plan, Silent, StopFlag, WaitProbe, experiment};
use oversleep_model::MachineError;
use oversleep_record::conditions::Setting;
use oversleep_record::series::Pace;
use oversleep_record::{CommandName, Conditions, ExperimentId, FactName, Nanos, ResultFile, label};

use super::*;
use super::{MS, check, holding, mean_us, near, platform, run, series};
use crate::session::Request;

#[test]
fn a_machine_is_learned_from_a_result() {
    let mut real = check("linux-hz1000", &[ExperimentId::A1, ExperimentId::A4, ExperimentId::B5]);
    assert!(matches!(like(&real, &[], 1), Err(MachineError::NothingToLearn { .. })), "a model is not a real machine");
    real.platform.modelled = None;
    let request = Request {
        command: CommandName::Waits,
        experiments: vec![
            experiment(ExperimentId::A1).unwrap(),
            experiment(ExperimentId::A4).unwrap(),
            experiment(ExperimentId::B5).unwrap(),
        ],
        plan: Plan::default(),
        name: None,
        try_remedies: false,
    };
    let again = like(&real, &[], 3).unwrap().run(&request, &StopFlag::new(), &mut Silent).unwrap();
    for key in ["B5/nanosleep/1ms", "B5/nanosleep/300us", "B5/timerfd/1ms", "B5/poll/1ms", "A1/tsc"] {
        let p50 = |file: &ResultFile| file.series(key).expect(key).distribution.p50().unwrap() as f64;
        let (was, is) = (p50(&real), p50(&again));
        assert!((was - is).abs() <= was * 0.05, "{key}: {was} and {is}");
    }
    assert_eq!(again.environment.text(FactName::KernelRelease), Some("6.14"));
    assert_eq!(again.environment.integer(FactName::TimerHz), Some(1_000));
    let sharper = like(&real, &["slack=1ns".to_owned()], 3).unwrap();
    let sharp = sharper.run(&request, &StopFlag::new(), &mut Silent).unwrap();
    let p50 = |file: &ResultFile| file.series("B5/nanosleep/1ms").unwrap().distribution.p50().unwrap();
    assert!(p50(&again) - p50(&sharp) > 45_000, "slack is not part of the machine's own lateness");
    real.platform.os = "plan9".to_owned();
    assert!(matches!(like(&real, &[], 1), Err(MachineError::NothingToLearn { .. })));
}

/// The result of a (modelled) machine, and a model learned from it.
fn relearned(name: &str) -> SharedPlatform {
    let mut real = check(name, &[ExperimentId::A1, ExperimentId::A4, ExperimentId::B5]);
    real.platform.modelled = None;
    like(&real, &[], 3).unwrap().platform
}

#[test]
fn the_rules_of_a_learned_windows_hold() {
    let found = Conditions::as_found;
    let newer = relearned("windows-10-2004");
    near(mean_us(&newer, "sleep", MS, found()), 15_625.0);
    near(mean_us(&newer, "sleep", MS, holding(Nanos(507_000))), 1_012.5);
    let phased = |platform: &SharedPlatform| {
        let amount = Amount { count: 400, time: Nanos::MAX, rounds: 1 };
        let probe = WaitProbe::new(&**platform, ExperimentId::B5, "sleep", MS, amount).paced(Pace::RandomPhase);
        run(platform, vec![probe.boxed()]).series.remove(0).distribution.min().unwrap()
    };
    let least = phased(&newer);
    assert!(least < 3_000_000, "a call in the middle of a tick waits for less than a whole one: {least}");
    let older = relearned("windows-10-1909");
    let neighbour = older.neighbour(Some(&Setting::Nanos(Nanos::from_millis(2)))).unwrap();
    near(mean_us(&older, "sleep", MS, found()), 2_000.0);
    let stated = older.clock("interrupt-time").unwrap().stated_step_ns();
    assert!(stated <= Some(Nanos::from_millis(2)), "{stated:?}");
    drop(neighbour);
    near(mean_us(&older, "sleep", MS, found()), 15_625.0);
}

#[test]
fn a_learned_windows_that_keeps_to_no_rule_is_as_late_as_it_was() {
    let mut real = check("windows-10-2004", &[ExperimentId::B5]);
    real.platform.modelled = None;
    for series in real.series.iter_mut().filter(|series| series.subject == "sleep") {
        series.distribution = oversleep_record::Distribution::new();
        (0..40).for_each(|_| series.distribution.record(7_000_000));
    }
    let odd = like(&real, &[], 3).unwrap().platform;
    near(mean_us(&odd, "sleep", MS, Conditions::as_found()), 8_000.0);
    near(mean_us(&odd, "sleep", MS, holding(Nanos(507_000))), 1_012.5);
    let rule = |conditions: Conditions| {
        let held: Vec<_> =
            conditions.requested.iter().map(|(name, to)| odd.tunable(name).unwrap().apply(to).1).collect();
        let rule = odd.wait("sleep").unwrap().rule(MS).unwrap();
        drop(held);
        rule
    };
    assert!(rule(Conditions::as_found()).contains("learned from"));
    assert!(rule(holding(MS)).contains("interrupts come every"), "what was learned no longer holds");
}

/// Series beside neighbours are of another machine than the one found.
#[test]
fn what_neighbours_held_is_no_part_of_a_learned_machine() {
    let mut real = check("windows-10-1909", &[ExperimentId::A1, ExperimentId::C3, ExperimentId::C4]);
    real.platform.modelled = None;
    let beside = |series: &&Series| series.labels.get(label::NEIGHBOUR).is_some() && series.has_values();
    assert!(real.series.iter().filter(beside).count() > 10);
    let learned = like(&real, &[], 3).unwrap().platform;
    near(mean_us(&learned, "sleep", MS, Conditions::as_found()), 15_625.0);
    near(mean_us(&learned, "sleep", MS, holding(MS)), 2_000.0);
}

/// A CPU that is busy, or that a program keeps awake, is in no idle state.
#[test]
fn a_learned_wait_leaves_no_idle_state_where_the_cpu_is_in_none() {
    let (own, learned) = (platform("linux-hz1000", &[]), relearned("linux-hz1000"));
    let found = Conditions::as_found;
    let fifo = || found().with("policy", Setting::Policy { policy: "fifo".to_owned(), priority: 5 });
    let awake = found().with("dma-latency", Setting::Nanos(Nanos::ZERO));
    let busy = fifo().with_load("spin", 16);
    for (what, conditions) in [("found", found()), ("fifo", fifo()), ("awake", awake), ("busy", busy)] {
        let late = |platform| mean_us(platform, "nanosleep", MS, conditions.clone()) - 1_000.0;
        let (was, is) = (late(&own), late(&learned));
        assert!((was - is).abs() <= 4.0, "{what}: {was} and {is} us late");
    }
}

/// What ends on a grid does so for other spans than the measured ones, too.
#[test]
fn a_learned_wsl_1_keeps_to_the_ticks_of_its_host() {
    let (own, learned) = (platform("wsl1", &[]), relearned("wsl1"));
    for (wait, ms) in [("futex", 1), ("futex", 7), ("cond-timedwait", 40), ("nanosleep", 7)] {
        let mean = |platform| mean_us(platform, wait, Nanos::from_millis(ms), Conditions::as_found());
        let (was, is) = (mean(&own), mean(&learned));
        assert!((was - is).abs() <= was * 0.01, "{wait} {ms} ms: {was} and {is}");
    }
}

#[test]
fn service_classes_and_slack_reach_learned_waits() {
    let mac = relearned("macos-14-m1");
    let background =
        Conditions::as_found().with("qos", Setting::Policy { policy: "background".to_owned(), priority: 0 });
    // Learned from deadlines, where calls request the rest of a period and are delayed by a share of it.
    let found = mean_us(&mac, "usleep", MS, Conditions::as_found());
    assert!((1_200.0..1_265.0).contains(&found), "{found}");
    assert!(mean_us(&mac, "nanosleep", Nanos::from_millis(10), background) > 40_000.0);
    let linux = relearned("linux-hz250");
    let late = |wait: &str, conditions: Conditions| mean_us(&linux, wait, MS, conditions) - 1_000.0;
    let fifo = || Conditions::as_found().with("policy", Setting::Policy { policy: "fifo".to_owned(), priority: 1 });
    for wait in ["select", "epoll-wait", "nanosleep"] {
        let (was, sharp) = (
            late(wait, Conditions::as_found()),
            late(wait, Conditions::as_found().with("slack", Setting::Nanos(Nanos(1)))),
        );
        assert!((45.0..52.0).contains(&(was - sharp)), "{wait}: {was} and {sharp}");
        let real_time = late(wait, fifo());
        assert!(was - real_time > 45.0, "{wait}: {was} and {real_time} under fifo");
    }
}

#[test]
fn no_windows_is_learned_from_wine() {
    let mut wine = check("windows-10-2004", &[ExperimentId::B5]);
    wine.platform.modelled = None;
    wine.environment.set(
        FactName::OsWineVersion,
        oversleep_record::environment::FactValue::Text("8.0".to_owned()),
        "ntdll",
    );
    let refused = like(&wine, &[], 1).err().expect("Wine is no Windows").to_string();
    assert!(refused.contains("under Wine 8.0"), "{refused}");
}

#[test]
fn a_damaged_result_does_not_take_virtual_time_to_its_end() {
    let mut damaged = check("linux-hz250", &[ExperimentId::B5]);
    damaged.platform.modelled = None;
    for series in damaged.series.iter_mut().filter(|series| series.subject == "nanosleep") {
        series.distribution.record(i64::MAX);
        series.calls_only = None;
    }
    let platform = like(&damaged, &[], 1).unwrap().platform;
    let most = series(&platform, "nanosleep", MS, Conditions::as_found()).distribution.max().unwrap();
    assert!(most < 3_601_000_000_000, "{most}");
}

/// Waits that another interrupt ended before their slack was used up: only the used part of the slack is removed.
#[test]
fn no_learned_wait_of_linux_is_early_whatever_its_slack() {
    let mut real = check("linux-hz250", &[ExperimentId::B5]);
    real.platform.modelled = None;
    for series in real.series.iter_mut().filter(|series| series.subject == "nanosleep") {
        series.distribution = oversleep_record::Distribution::new();
        (0..40).for_each(|number| series.distribution.record(38_000 + 1_000 * number));
        series.calls_only = None;
    }
    let linux = like(&real, &[], 3).unwrap().platform;
    let least = |conditions: Conditions| series(&linux, "nanosleep", MS, conditions).distribution.min().unwrap();
    let sharp = Conditions::as_found().with("slack", Setting::Nanos(Nanos(1)));
    let fifo = Conditions::as_found().with("policy", Setting::Policy { policy: "fifo".to_owned(), priority: 5 });
    for conditions in [sharp, fifo] {
        let least = least(conditions);
        assert!((0..2_000).contains(&least), "{least}");
    }
    let found = least(Conditions::as_found());
    assert!((38_000..39_000).contains(&found), "as found it is as it was: {found}");
}

/// Requests beyond the measured ones follow the rule of the wait from there on.
#[test]
fn longer_requests_than_the_learned_ones_follow_the_rule() {
    let linux = relearned("linux-hz250");
    let own = platform("linux-hz250", &[]);
    let cases = [("select", 100, 0.1), ("poll", 500, 0.1), ("select", 500, 0.1), ("nanosleep", 100, 0.35)];
    for (wait, ms, share) in cases {
        let request = Nanos::from_millis(ms);
        let late = |platform| mean_us(platform, wait, request, Conditions::as_found()) - request.0 as f64 / 1e3;
        let (was, is) = (late(&own), late(&linux));
        assert!((was - is).abs() <= was * share, "{wait} {ms} ms: {was} and {is}");
    }
    near(mean_us(&linux, "so-rcvtimeo", Nanos::from_millis(300), Conditions::as_found()), 320_000.0);
}
