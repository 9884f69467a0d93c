//! Loads of modelled machines, as defined by their profiles.

use oversleep_model::platform;
use oversleep_record::Nanos;
use oversleep_record::conditions::{Conditions, Setting};
use oversleep_system::{SharedPlatform, Target};

use crate::ask::{Question, ask, setting};
use crate::machines::{load, names};

fn on(name: &str, overrides: &[&str]) -> SharedPlatform {
    let overrides: Vec<String> = overrides.iter().map(|&change| change.to_owned()).collect();
    platform(name, &overrides, 1).unwrap_or_else(|error| panic!("{error}"))
}

/// The durations of 400 waits of a millisecond, smallest first.
fn waits(platform: &SharedPlatform, wait: &str) -> Vec<Nanos> {
    let mut waiter = platform.wait(wait).unwrap().open(platform).unwrap();
    let span = Nanos::from_millis(1);
    let mut took: Vec<Nanos> = (0..400)
        .map(|_| {
            let start = platform.now();
            waiter.wait(Target { remaining: span, deadline: start + span });
            platform.now() - start
        })
        .collect();
    took.sort_unstable();
    took
}

#[test]
fn every_system_has_the_kinds_of_the_real_ones_and_those_not_modelled_say_why() {
    let native: Vec<&str> = oversleep_native::here().loads().iter().map(|load| load.info().name).collect();
    for name in names() {
        let platform = on(name, &[]);
        let modelled: Vec<&str> = platform.loads().iter().map(|load| load.info().name).collect();
        assert!(native.is_empty() || modelled == native, "{name}: {modelled:?}, not {native:?}");
        for load in platform.loads() {
            assert!(load.start(0).is_err() && load.start(u32::MAX).is_err(), "{name} {}", load.info().name);
            match (load.info().name, load.start(3)) {
                ("memory", started) => {
                    let why = started.err().expect("not modelled").to_string();
                    assert!(why.contains("caches and the memory bus are not modelled"), "{why}");
                }
                (kind, started) => assert!(started.is_ok(), "{name} {kind}"),
            }
        }
    }
}

#[test]
fn timers_of_others_end_a_wait_within_its_slack_and_take_little_of_a_cpu() {
    let linux = on("linux-hz250", &["cpus.count=1", "wake.idle-exits="]);
    let late = |took: Vec<Nanos>| (took[40] - Nanos::from_millis(1), took[360] - Nanos::from_millis(1));
    let (least, most) = late(waits(&linux, "nanosleep"));
    assert!(least >= Nanos(60_000) && most <= Nanos(80_000), "alone at the end of its slack: {least} to {most}");
    let load = linux.load("timers").unwrap().start(1).unwrap();
    // A timer fires every 100 µs, so in half of the cases one fires within the slack of 50 µs.
    let (least, most) = late(waits(&linux, "nanosleep"));
    assert!(least < Nanos(35_000) && most >= Nanos(60_000), "beside timers: {least} to {most}");
    let before = linux.now();
    linux.work(100_000);
    let taken = linux.now() - before - Nanos::from_millis(100);
    assert!((Nanos(6_500_000)..Nanos(9_500_000)).contains(&taken), "8 us of each 100: {taken} of 100 ms");
    drop(load);
    let before = linux.now();
    linux.work(10_000);
    assert!(linux.now() - before < Nanos(10_001_000), "and nothing when it has stopped");
}

#[test]
fn where_a_timer_of_its_own_is_missing_the_load_lives_by_the_tick() {
    let wake_ups = |name: &str| {
        let platform = on(name, &["cpus.count=1"]);
        // Below the hog, which otherwise waits for the end of a slice.
        let lowest = Setting::Policy { policy: "lowest".to_owned(), priority: 0 };
        let (_, _held) = platform.tunable("policy").unwrap().apply(&lowest);
        let load = platform.load("timers").unwrap().start(1).unwrap();
        let before = platform.now();
        platform.work(1_000_000);
        let taken = platform.now() - before - Nanos::from_secs(1);
        drop(load);
        taken.0 / 10_000
    };
    let (seven, ten) = (wake_ups("windows-7"), wake_ups("windows-10-2004"));
    assert!((50..80).contains(&seven), "64 ticks a second, not {seven}");
    assert!((900..1_100).contains(&ten), "every second step of 0.5 ms, for it works a little past each: {ten}");
}

#[test]
fn a_load_that_computes_shares_the_cpu() {
    for kind in ["spin", "syscalls"] {
        let linux = on("linux-hz250", &["cpus.count=1"]);
        let load = linux.load(kind).unwrap().start(1).unwrap();
        let before = linux.now();
        linux.work(100_000);
        let took = (linux.now() - before).0 / 1_000_000;
        assert!((190..=210).contains(&took), "{kind}: {took} ms for 100 ms of work");
        drop(load);
    }
}

/// The lateness of 1,000 waits of a millisecond under a policy beside this many hogs on two CPUs, smallest first.
fn late_beside(machine: &str, hogs: u32, policy: &str, change: &str) -> Vec<Nanos> {
    let lab =
        load(machine, &["cpus.count=2".to_owned(), change.to_owned()], 1).unwrap_or_else(|error| panic!("{error}"));
    let mut question = Question { count: 1_000, ..Question::of("nanosleep(1ms)".parse().unwrap()) };
    question.conditions = Conditions::as_found().with("policy", setting(policy).unwrap()).with_load("spin", hogs);
    let answer = ask(&lab, &question).unwrap_or_else(|error| panic!("{error}"));
    let late = |&took: &f64| Nanos(took as i64) - Nanos::from_millis(1);
    answer.values_ns().iter().map(late).collect()
}

fn mean(late: &[Nanos]) -> Nanos {
    Nanos(late.iter().map(|late| late.0).sum::<i64>() / late.len() as i64)
}

const NONE: &str = "cpus.count=2";

#[test]
fn who_woke_up_waits_as_its_policy_and_weight_say_where_slices_end_at_ticks() {
    let plain = late_beside("linux-hz250", 8, "other:0", NONE);
    let (p50, most) = (plain[500], plain[999]);
    assert!(p50 < Nanos(100_000), "mostly owed its turn: {p50}");
    assert!(most > Nanos::from_millis(2) && most <= Nanos::from_millis(16), "at most four turns of a tick: {most}");
    let nice = late_beside("linux-hz250", 8, "other:19", NONE);
    assert!(nice[500] < Nanos(200_000), "{}", nice[500]);
    assert!(mean(&nice).0 > 5 * mean(&plain).0 && nice[999] > Nanos::from_millis(50), "{} {}", mean(&nice), nice[999]);
    let batch = late_beside("linux-hz250", 8, "batch:0", NONE);
    assert!((Nanos::from_millis(2)..=Nanos::from_millis(4)).contains(&batch[500]), "until the tick: {}", batch[500]);
    let idle = late_beside("linux-hz250", 8, "idle:0", NONE);
    assert!(idle[500] > Nanos::from_millis(4) && idle[999] > nice[999], "{} {}", idle[500], idle[999]);
    let fast = late_beside("linux-hz1000", 8, "batch:0", NONE);
    assert!(fast[500] <= Nanos::from_millis(2), "shorter ticks, shorter turns: {}", fast[500]);
}

#[test]
fn before_eevdf_a_sleeper_was_credited_and_displaced_at_once() {
    let plain = late_beside("wsl2", 8, "other:0", NONE);
    assert!(plain[999] < Nanos(200_000), "{}", plain[999]);
    let stingy = late_beside("wsl2", 8, "other:0", "scheduler.wakeup-granularity=20ms");
    assert!(stingy[500] > Nanos::from_millis(1), "{}", stingy[500]);
    let batch = late_beside("wsl2", 8, "batch:0", NONE);
    assert!(batch[500] > Nanos::from_millis(5), "{}", batch[500]);
}

#[test]
fn on_macos_a_sleeper_runs_before_those_that_compute() {
    let late = late_beside("macos-14-m1", 8, "other:31", NONE);
    assert!(late[999] < Nanos(300_000), "{}", late[999]);
    let fixed = late_beside("macos-14-m1", 1, "fifo:31", NONE);
    assert!((Nanos(125_000)..Nanos(160_000)).contains(&fixed[500]), "an eighth, whatever its class: {}", fixed[500]);
}

/// Hogs spread evenly over the CPUs, and one more on some of them is no reason to move (`find_busiest_group`). So the median
/// never falls as hogs are added.
#[test]
fn more_hogs_never_help_a_sleeper_on_linux() {
    for machine in ["linux-hz1000", "linux-hz250"] {
        let p50 = |hogs: u32| {
            let lab = load(machine, &[], 1).unwrap_or_else(|error| panic!("{error}"));
            let mut question = Question { count: 500, ..Question::of("nanosleep(1ms)".parse().unwrap()) };
            question.conditions = Conditions::as_found().with_load("spin", hogs);
            ask(&lab, &question).unwrap_or_else(|error| panic!("{machine}: {error}")).quantile_ns(0.5)
        };
        let all = [4, 5, 6, 7, 8, 12].map(p50);
        assert!(all.windows(2).all(|pair| pair[1] >= pair[0] * 0.98), "{machine}: {all:?}");
    }
}

/// Threads of one rank take whole turns on Windows: an additional competitor never makes a wait shorter.
#[test]
fn more_competitors_never_shorten_a_wait_where_threads_take_turns() {
    for machine in ["windows-10-2004", "windows-server-2022"] {
        let mean = |hogs: u32| {
            let lab = load(machine, &["cpus.count=2".to_owned()], 1).unwrap_or_else(|error| panic!("{error}"));
            let mut question = Question { count: 500, ..Question::of("sleep(1ms)".parse().unwrap()) };
            if hogs > 0 {
                question.conditions = Conditions::as_found().with_load("spin", hogs);
            }
            ask(&lab, &question).unwrap_or_else(|error| panic!("{machine}: {error}")).mean_ns()
        };
        let means = [0, 1, 2, 3, 4, 6, 8, 12].map(mean);
        // 500 draws of the phase at which a wait ends.
        assert!(means.windows(2).all(|pair| pair[1] >= pair[0] * 0.98), "{machine}: {means:?}");
        assert!(means[7] > means[0] * 5.0, "{machine}: {means:?}");
    }
}

/// The durations of 40 yields on a machine with this many CPUs and hogs, shortest first, in turns of a thread.
fn yields_beside(cpus: u32, hogs: u32, seed: u64) -> Vec<f64> {
    let lab = load("windows-10-2004", &[format!("cpus.count={cpus}")], seed).unwrap_or_else(|error| panic!("{error}"));
    let mut question = Question { count: 40, ..Question::of("yield(switch-to-thread)".parse().unwrap()) };
    if hogs > 0 {
        question.conditions = Conditions::as_found().with_load("spin", hogs);
    }
    let answer = ask(&lab, &question).unwrap_or_else(|error| panic!("{cpus} CPUs, {hogs} hogs: {error}"));
    answer.values_ns().iter().map(|&took| took / 31_250_000.0).collect()
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(16))]

    /// A thread that yields runs again after one turn of each thread that shares its CPU. All CPUs have the same
    /// number, give or take one, so one more hog for each of them never makes a yield shorter.
    #[test]
    fn a_yield_lasts_a_turn_of_each_thread_that_shares_its_cpu(
        cpus in 1_u32..=8,
        hogs in 0_u32..=20,
        seed in 1_u64..1_000,
    ) {
        let (few, many) = (yields_beside(cpus, hogs, seed), yields_beside(cpus, hogs + cpus, seed));
        let threads = hogs + 1;
        let (least, most) = ((threads / cpus).saturating_sub(1), threads.div_ceil(cpus) - 1);
        let is_near = |turns: &f64| *turns >= f64::from(least) - 0.01 && *turns <= f64::from(most) + 0.01;
        proptest::prop_assert!(few.iter().all(is_near), "{cpus} CPUs, {hogs} hogs: {least} to {most} turns, not {few:?}");
        let pairs = few.iter().zip(&many);
        proptest::prop_assert!({ pairs }.all(|(few, many)| many + 0.01 >= *few), "{few:?}, but {many:?}");
    }
}

/// Since Linux 6.18 a thread that yields gives up what is left of its slice, so every other yield lasts until the other
/// thread of its CPU has had one of 2.1 ms, which ends at a tick. Before, the scheduler takes the one that has had less,
/// most often the one that yields.
#[test]
fn a_yield_beside_a_ready_thread_costs_what_the_scheduler_gives_the_other() {
    let mean = |machine: &str, set: &[&str], hogs: u32| {
        let set: Vec<String> = set.iter().map(|&change| change.to_owned()).collect();
        let lab = load(machine, &set, 1).unwrap_or_else(|error| panic!("{error}"));
        let mut question = Question { count: 100, ..Question::of("yield(sched-yield)".parse().unwrap()) };
        question.conditions = Conditions::as_found().with_load("spin", hogs);
        ask(&lab, &question).unwrap_or_else(|error| panic!("{machine}: {error}")).mean_ns() / 1e6
    };
    for machine in ["linux-hz250", "raspberry-pi-4"] {
        let means = [3, 4, 5, 8, 12, 16].map(|hogs| mean(machine, &[], hogs));
        assert!(means[0] < 0.001, "{machine}: it has a CPU of its own: {means:?}");
        assert!((1.9..2.3).contains(&means[1]), "{machine}: {means:?}");
        assert!(
            means.windows(2).all(|pair| pair[1] >= pair[0] * 0.98),
            "{machine}: more load is never better: {means:?}"
        );
    }
    assert!(mean("linux-hz250", &["facts.kernel.release=6.17.1"], 4) < 0.001);
    assert!(mean("linux-hz1000", &[], 4) < 0.001);
}

#[test]
fn nobody_starves_for_ever() {
    let took = |machine: &str, subject: &str, policy: &str, hogs: u32| {
        let lab = load(machine, &[], 1).unwrap_or_else(|error| panic!("{error}"));
        let mut question = Question { count: 5, ..Question::of(subject.parse().unwrap()) };
        question.conditions = Conditions::as_found().with("policy", setting(policy).unwrap()).with_load("spin", hogs);
        let answer = ask(&lab, &question).unwrap_or_else(|error| panic!("{machine} {policy}: {error}"));
        answer.values_ns().iter().map(|&took| took / 1e6).fold((f64::MAX, 0.0_f64), |(a, b), ms| (a.min(ms), b.max(ms)))
    };
    for (policy, hogs) in [("lowest", 16), ("idle", 32)] {
        let (least, most) = took("windows-11", "sleep(1ms)", policy, hogs);
        assert!(least >= 4_000.0 && most <= 5_100.0, "{policy}: {least} to {most} ms");
    }
    let (least, most) = took("macos-14-m1", "nanosleep(1ms)", "other:20", 8);
    assert!(least >= 250.0 && most <= 270.0, "{least} to {most} ms");
}

#[test]
fn threads_that_compute_share_the_cpus_of_a_fair_machine() {
    for machine in ["linux-hz250", "wsl2"] {
        let linux = on(machine, &["cpus.count=2"]);
        let _load = linux.load("spin").unwrap().start(2).unwrap();
        let before = linux.now();
        linux.work(1_000_000);
        let took = (linux.now() - before).0 / 1_000_000;
        // Who is moved when the CPUs are balanced depends on whose slice ends then.
        assert!((1_300..=1_700).contains(&took), "{machine}: three on two CPUs, {took} ms for 1 s of work");
    }
}
