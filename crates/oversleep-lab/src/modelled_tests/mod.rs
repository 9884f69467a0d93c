//! Modelled machines as a whole: their rules reproduce the published behaviour.

use oversleep_record::conditions::{Outcome, Setting};
use oversleep_record::series::Pace;
use oversleep_record::{CommandName, Conditions, ExperimentId, Nanos, ResultFile, Series};

mod clocks;
mod conclusions;
mod entries;
mod figures;
mod idle;
mod learned;
mod loads;
mod reads_back;
mod relations;
mod waits;

use oversleep_measure::{
    Amount, Bench, Depth, Measured, Plan, Probe, Silent, StopFlag, WaitProbe, experiment, measure,
};
use oversleep_model::names;
use oversleep_system::SharedPlatform;

use crate::machines::{SEED, describe, like, load};
use crate::session::{Laboratory, Request};

pub(super) fn platform(name: &str, overrides: &[&str]) -> SharedPlatform {
    let overrides: Vec<String> = overrides.iter().map(|&change| change.to_owned()).collect();
    oversleep_model::platform(name, &overrides, 1).unwrap_or_else(|error| panic!("{error}"))
}

pub(super) fn run(platform: &SharedPlatform, probes: Vec<Box<dyn Probe>>) -> Measured {
    let bench = Bench::new(platform.clone(), StopFlag::new(), None).unwrap();
    let mut measured = Measured::default();
    measure(&bench, probes, None, &mut Silent, &mut measured);
    measured
}

/// Lateness of 200 waits call by call.
pub(super) fn series(platform: &SharedPlatform, wait: &str, request: Nanos, conditions: Conditions) -> Series {
    let amount = Amount { count: 200, time: Nanos::MAX, rounds: 1 };
    let probe =
        WaitProbe::new(&**platform, ExperimentId::B5, wait, request, amount).paced(Pace::BackToBack).under(conditions);
    run(platform, vec![probe.boxed()]).series.remove(0)
}

/// The mean duration of such a wait, in us.
pub(super) fn mean_us(platform: &SharedPlatform, wait: &str, request: Nanos, conditions: Conditions) -> f64 {
    (series(platform, wait, request, conditions).distribution.mean().unwrap() + request.0 as f64) / 1e3
}

pub(super) const MS: Nanos = Nanos::from_millis(1);

pub(super) fn holding(resolution: Nanos) -> Conditions {
    Conditions::as_found().with("resolution", Setting::Nanos(resolution))
}

pub(super) fn near(value: f64, wanted: f64) {
    assert!((value - wanted).abs() <= wanted * 0.02, "{value}, not {wanted}");
}

#[test]
fn sleep_1_by_windows_version_and_resolution() {
    let found = Conditions::as_found;
    for name in ["windows-7", "windows-10-1909", "windows-10-2004", "windows-11", "windows-server-2022"] {
        near(mean_us(&platform(name, &[]), "sleep", MS, found()), 15_625.0);
    }
    near(mean_us(&platform("windows-7", &[]), "sleep", MS, holding(MS)), 1_000.0);
    near(mean_us(&platform("windows-10-1909", &[]), "sleep", MS, holding(MS)), 2_000.0);
    let mixed = platform("windows-10-1909", &["p_two_tick=0.68", "timer-hz=0"]);
    near(mean_us(&mixed, "wait-for-single-object", MS, holding(MS)), 1_680.0);
    let newer = platform("windows-10-2004", &[]);
    near(mean_us(&newer, "sleep", MS, holding(Nanos(507_000))), 1_012.5);
    near(mean_us(&newer, "sleep", MS, holding(Nanos(500_000))), 1_496.0);
    for name in ["get-queued-completion-status", "waitable-timer", "sleep-condition-variable-srw"] {
        near(mean_us(&newer, name, MS, found()), 15_625.0);
    }
    near(mean_us(&newer, "set-timer", MS, holding(MS)), 11_000.0);
    near(mean_us(&newer, "time-set-event", MS, found()), 2_000.0);
}

#[test]
fn a_neighbour_reaches_everyone_until_1909_and_nobody_since() {
    let beside = |name: &str, request: Nanos| {
        let platform = platform(name, &[]);
        let neighbour = platform.neighbour(Some(&Setting::Nanos(request))).unwrap();
        let Some(Outcome::Applied { now: Setting::Nanos(granted), .. }) = neighbour.outcome() else { panic!("held") };
        let reported = platform.resolution_tunable().unwrap().current().unwrap();
        assert_eq!(reported, Setting::Nanos(*granted), "the interrupt itself changes on every version");
        let mean = mean_us(&platform, "sleep", MS, Conditions::as_found());
        drop(neighbour);
        near(mean_us(&platform, "sleep", MS, Conditions::as_found()), 15_625.0);
        mean
    };
    near(beside("windows-10-1909", Nanos::from_millis(2)), 2_000.0);
    near(beside("windows-server-2022", Nanos::from_millis(2)), 2_000.0);
    near(beside("windows-10-2004", Nanos::from_millis(2)), 16_000.0);
    near(beside("windows-10-2004", Nanos(500_000)), 15_475.2);
    near(beside("windows-10-2004", Nanos::from_millis(9)), 9_000.0);
}

#[test]
fn windows_11_forgets_what_a_hidden_program_asked_for() {
    let hidden = platform("windows-11", &["window-hidden=true"]);
    near(mean_us(&hidden, "sleep", MS, holding(Nanos(500_000))), 15_625.0);
    let opted_out = holding(Nanos(500_000)).with("power-throttling", Setting::Flag(false));
    near(mean_us(&hidden, "sleep", MS, opted_out), 1_500.0);
}

#[test]
fn high_resolution_timers_ignore_the_tick_and_suffer_from_load() {
    let platform = platform("windows-10-2004", &[]);
    let wait = "waitable-timer-high-resolution";
    near(mean_us(&platform, wait, MS, Conditions::as_found()), 1_530.0);
    let series = series(&platform, wait, MS, Conditions::as_found().with_load("spin", 16));
    let (least, most) = (series.distribution.min().unwrap(), series.distribution.max().unwrap());
    assert!(least >= 0 && most > 10_000_000 && most < 32_000_000, "{least} to {most}");
}

#[test]
fn high_resolution_timers_are_never_early_on_any_build() {
    for name in ["windows-10-1909", "windows-10-2004", "windows-11", "windows-server-2022"] {
        let platform = platform(name, &[]);
        for us in [100, 499, 500, 501, 1_000, 1_499, 10_000, 20_000] {
            let series =
                series(&platform, "waitable-timer-high-resolution", Nanos::from_micros(us), Conditions::as_found());
            assert!(series.distribution.min().unwrap() >= 0, "{name}, {us} us");
        }
    }
}

#[test]
fn calls_newer_than_the_system_are_missing() {
    let waits = |name: &str, wait: &str| {
        let platform = platform(name, &[]);
        platform.wait(wait).unwrap().open(&platform).err().map(|reason| reason.to_string())
    };
    for (machine, wait) in [("wsl1", "epoll-pwait2"), ("wsl1", "io-uring"), ("wsl2", "epoll-pwait2")] {
        assert!(waits(machine, wait).expect(wait).contains("Linux 5."), "{machine} {wait}");
    }
    assert_eq!(waits("wsl2", "io-uring"), None);
    let seven = platform("windows-7", &[]);
    let opens = |name: &str| seven.handoffs().iter().find(|kind| kind.info().name == name).unwrap().open().is_ok();
    assert!(!opens("wait-on-address") && opens("event"));
}

#[test]
fn who_holds_nothing_is_served_at_once_on_a_server() {
    let server = platform("windows-server-2022", &[]);
    let _two = server.neighbour(Some(&Setting::Nanos(Nanos::from_millis(2)))).unwrap();
    near(mean_us(&server, "wait-for-single-object", MS, Conditions::as_found()), 2_000.0);
}

#[test]
fn a_changed_machine_says_so_in_its_name() {
    let changed = load("windows-11", &["tick=1ms".to_owned(), "count=2".to_owned()], 77).unwrap();
    assert_eq!(changed.platform_id().modelled.as_deref(), Some("windows-11 with tick=1ms, count=2, seed 77"));
    assert_eq!(load("windows-11", &[], SEED).unwrap().platform_id().modelled.as_deref(), Some("windows-11"));
}

#[test]
fn a_learned_windows_follows_a_request() {
    let mut real = check("windows-10-2004", &[ExperimentId::B5]);
    real.platform.modelled = None;
    let learned = || oversleep_model::like(&real, &[], 1, Vec::new()).unwrap();
    let platform: SharedPlatform = learned();
    near(mean_us(&platform, "sleep", MS, Conditions::as_found()), 15_625.0);
    near(mean_us(&platform, "sleep", MS, holding(Nanos(507_000))), 1_012.5);
    near(mean_us(&platform, "sleep", MS, Conditions::as_found()), 15_625.0);
}

#[test]
fn a_learned_poll_follows_the_slack() {
    let mut real = check("linux-hz250", &[ExperimentId::B5]);
    real.platform.modelled = None;
    let platform: SharedPlatform = oversleep_model::like(&real, &[], 1, Vec::new()).unwrap();
    let late = |conditions| series(&platform, "select", MS, conditions).distribution.p50().unwrap();
    let (found, sharp) =
        (late(Conditions::as_found()), late(Conditions::as_found().with("slack", Setting::Nanos(Nanos(1)))));
    assert!((48_000..50_000).contains(&(found - sharp)), "50 us of slack less 1 us of share: {found} {sharp}");
}

#[test]
fn clocks_of_windows_step_as_published() {
    let platform = platform("windows-10-2004", &[]);
    let steps = |name: &str| {
        let clock = platform.clock(name).unwrap();
        let mut steps: Vec<u64> = Vec::new();
        let mut last = clock.read();
        while steps.len() < 20 {
            platform.work(50);
            let now = clock.read();
            if now != last {
                steps.push(now - last);
            }
            last = now;
        }
        steps.sort_unstable();
        (steps[0], steps[19])
    };
    assert_eq!(steps("get-tick-count-64"), (15, 16));
    let resolution = platform.resolution_tunable().unwrap();
    let (_, held) = resolution.apply(&Setting::Nanos(Nanos::from_millis(2)));
    assert_eq!(steps("get-tick-count-64"), (15, 16), "whatever resolution is held");
    let (least, most) = steps("interrupt-time");
    assert!(least >= 19_990 && most <= 20_000, "{least} {most}");
    assert_eq!(steps("time-get-time").1, 2);
    drop(held);
    let (least, most) = steps("system-time");
    assert_eq!((least, most), (156_250, 156_250));
}

#[test]
fn lateness_on_linux_is_slack_and_wake_cost() {
    let found = Conditions::as_found;
    let linux = platform("linux-hz250", &[]);
    let p50 = |platform: &SharedPlatform, wait: &str, request: Nanos, conditions: Conditions| {
        series(platform, wait, request, conditions).distribution.p50().unwrap() as f64 / 1e3
    };
    let slack = Conditions::as_found().with("slack", Setting::Nanos(Nanos(1)));
    let policy = |name: &str, priority| {
        Conditions::as_found().with("policy", Setting::Policy { policy: name.to_owned(), priority })
    };
    near(p50(&linux, "nanosleep", Nanos(300_000), found()), 62.0);
    near(p50(&linux, "epoll-wait", MS, found()), 64.0);
    near(p50(&linux, "nanosleep", Nanos(300_000), slack.clone()), 12.0);
    near(p50(&linux, "futex", MS, slack), 14.0);
    near(p50(&linux, "select", Nanos::from_millis(100), policy("other", 5)), 529.0);
    near(p50(&linux, "poll", Nanos::from_millis(500), found()), 582.0);
    near(p50(&linux, "nanosleep", Nanos(300_000), policy("fifo", 1)), 7.5);
    near(p50(&platform("linux-fifo", &[]), "nanosleep", Nanos(300_000), found()), 7.5);
    // Until 6.12, a futex took its thread's slack under every policy.
    let older = platform("linux-hz250", &["facts.kernel.release=6.8"]);
    for (machine, futex) in [(&linux, 0.0), (&older, 50.0)] {
        let [futex_late, sleep_late] =
            ["futex-abs", "clock-nanosleep-abs"].map(|wait| p50(machine, wait, MS, policy("fifo", 1)));
        assert!((futex_late - sleep_late - futex).abs() < 8.0, "{futex}: {futex_late} and {sleep_late}");
    }
    near(p50(&linux, "timerfd", Nanos(300_000), found()), 12.0);
    let coarse = linux.clock("monotonic-coarse").unwrap().stated_step_ns();
    assert_eq!(coarse, Some(Nanos::from_millis(4)));
}

#[test]
fn macos_puts_timers_off_by_a_share_of_the_request() {
    let mac = platform("macos-14-m1", &[]);
    let tier = |name: &str, setting: &str| {
        Conditions::as_found().with(name, Setting::Policy { policy: setting.to_owned(), priority: 0 })
    };
    near(mean_us(&mac, "usleep", MS, Conditions::as_found()), 1_261.0);
    let late = |request: Nanos, conditions: Conditions| {
        series(&mac, "mach-wait-until", request, conditions).distribution.p50().unwrap() as f64 / 1e3
    };
    near(late(Nanos::from_millis(2), tier("latency", "tier-0")), 264.0);
    near(late(Nanos::from_millis(50), tier("latency", "tier-0")), 1_020.0);
    near(late(Nanos::from_millis(10), tier("qos", "background")), 40_015.0);
    assert!(
        late(
            MS,
            Conditions::as_found()
                .with("policy", Setting::Policy { policy: "time-constraint".to_owned(), priority: 0 })
        ) < 30.0
    );
}

#[test]
fn clock_is_cpu_time_on_wsl_and_wall_time_on_windows() {
    for (name, wall) in [("wsl2", false), ("wsl1", false), ("windows-11", true)] {
        let platform = platform(name, &[]);
        let clock = platform.clock("clock").unwrap();
        let per_ms = clock.stated_frequency_hz().unwrap() / 1_000;
        let before = clock.read();
        series(&platform, platform.waits()[0].info().name, Nanos::from_millis(100), Conditions::as_found());
        let shown_ms = (clock.read() - before) / per_ms;
        assert_eq!(shown_ms > 20_000, wall, "{name} showed {shown_ms} ms of 20 s");
    }
}

#[test]
fn a_fork_join_is_quantised_by_its_clock_and_by_a_polling_wait_alone() {
    let platform = platform("windows-11", &[]);
    let plan = Plan::default();
    let measured = run(&platform, (experiment(ExperimentId::D1).unwrap().probes)(&*platform, &plan));
    let values = |key: &str| &measured.series.iter().find(|series| series.key == key).expect(key).samples.value;
    assert!(values("D1/blocked/coarse").iter().all(|ns| [0, 15, 16, 31, 32].contains(&(ns / 1_000_000))));
    assert!(values("D1/blocked/precise").iter().all(|ns| ns < 3_000_000), "no portion is longer than 2 ms");
    // Each starts right after a tick and ends at one, except for the first of each round.
    let ticks = values("D1/polling/precise").iter().filter(|ns| (15_000_000..16_300_000).contains(ns)).count();
    assert!(ticks >= 26, "{ticks} of 30: a wait of 1 ms is a tick");
}

pub(super) fn check(name: &str, experiments: &[ExperimentId]) -> ResultFile {
    run_on(load(name, &[], 7).unwrap(), experiments, Plan { depth: Depth::Quick, ..Plan::default() })
}

#[test]
fn every_machine_runs_and_the_same_seed_writes_the_same_bytes() {
    for name in names() {
        let experiments = [
            ExperimentId::A1,
            ExperimentId::A4,
            ExperimentId::B1,
            ExperimentId::B5,
            ExperimentId::B9,
            ExperimentId::D1,
            ExperimentId::D4,
        ];
        let file = check(name, &experiments);
        assert_eq!(file.platform.modelled, Some(format!("{name} with seed 7")));
        assert!(file.series.iter().filter(|series| series.has_values()).count() > 20, "{name}");
        // One machine for each scheduler and each system; the digests of `tests/figures` cover all of them.
        if ["windows-11", "linux-hz250", "wsl2", "macos-14-m1"].contains(&name) {
            assert_eq!(file.write(), check(name, &experiments).write(), "{name}");
        }
    }
}

#[test]
fn names_descriptions_and_mistakes() {
    assert_eq!(names().len(), 44);
    for name in names() {
        let described = describe(name, &[]).unwrap();
        assert!(described.figures.iter().all(|figure| !figure.source.is_empty() && !figure.doc.is_empty()), "{name}");
    }
    let described = describe("windows-11", &["tick=1ms".to_owned()]).unwrap();
    let tick = described.figures.iter().find(|figure| figure.path == "timers.tick").unwrap();
    assert_eq!((tick.value.as_str(), tick.source.as_str()), ("1ms", "set by the user"));
    assert!(describe("windows-95", &[]).unwrap_err().to_string().contains("windows-10-1909"));
    for change in [
        "count=0",
        "count=65",
        "unit=0ns",
        "slice=0ms",
        "slice=1ns",
        "tick=10s",
        "policy=fifo:0",
        "os=linux",
        "timer-hz=10",
        "steps.qpc=1h",
        "costs.qpc=0ns",
        "steps.qpc=1s",
        "costs.qpc=0.01ns",
    ] {
        let error = load("windows-11", &[change.to_owned()], 0).err().unwrap_or_else(|| panic!("{change} is taken"));
        assert!(error.to_string().len() > 40, "{error}");
    }
    assert!(load("linux-hz250", &["policy=fifo:0".to_owned()], 0).is_err());
}

/// Experiments by id on a modelled machine, as the command runs them, with findings.
pub(super) fn explained(name: &str, experiments: &[ExperimentId]) -> ResultFile {
    looked_at(name, experiments, Depth::Normal)
}

pub(super) fn looked_at(name: &str, experiments: &[ExperimentId], depth: Depth) -> ResultFile {
    run_on(Laboratory::on(platform(name, &[])), experiments, Plan { depth, ..Plan::default() })
}

fn run_on(lab: Laboratory, experiments: &[ExperimentId], plan: Plan) -> ResultFile {
    let request = Request {
        command: CommandName::Check,
        experiments: experiments.iter().map(|&id| experiment(id).expect("a known id")).collect(),
        plan,
        name: None,
        try_remedies: false,
    };
    lab.run(&request, &StopFlag::new(), &mut Silent).expect("it runs")
}

#[test]
fn coarse_clocks_stay_coarse_beside_a_neighbour_that_holds_the_shortest_period() {
    let platform = platform("windows-11", &["timer-hz=24000000"]);
    let _neighbour = platform.neighbour(Some(&Setting::Nanos(Nanos(500_000)))).expect("a span");
    let stated = platform.clocks().iter().find(|clock| clock.info().name == "system-time").unwrap().stated_step_ns();
    assert!(stated < Some(Nanos(500_000)), "granted on the timer's grid: {stated:?}");
    let file = run_on(Laboratory::on(platform), &[ExperimentId::B3], Plan::default());
    for clock in ["interrupt-time", "unbiased-interrupt-time", "system-time"] {
        assert!(file.series(format!("B3/{clock}")).is_some_and(Series::has_values), "{clock}");
    }
}

#[test]
fn no_machine_lists_a_clock_its_processor_lacks() {
    let paths = |name: &str| -> Vec<String> {
        describe(name, &[]).unwrap().figures.into_iter().map(|figure| figure.path).collect()
    };
    let pi = paths("raspberry-pi-4");
    assert!(pi.contains(&"costs.cntvct".to_owned()));
    assert!(!pi.iter().any(|path| path.ends_with(".tsc") || path.ends_with(".tsc-fenced")), "{pi:?}");
    assert!(paths("linux-hz250").contains(&"costs.tsc".to_owned()));
}
