//! Loads of modelled machines, as their profiles make them.

use oversleep_record::Nanos;
use oversleep_record::conditions::Setting;

use super::{names, platform};
use crate::platform::{SharedPlatform, Target};

fn on(name: &str, overrides: &[&str]) -> SharedPlatform {
    let overrides: Vec<String> = overrides.iter().map(|&change| change.to_owned()).collect();
    platform(name, &overrides, 1).unwrap_or_else(|error| panic!("{error}"))
}

/// What 400 waits of a millisecond took, smallest first.
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
    let native: Vec<&str> = crate::platform::native().loads().iter().map(|load| load.info().name).collect();
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
    // A timer every 100 us, so in half of the cases one comes within the slack of 50 us.
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
