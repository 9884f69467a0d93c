//! Plans agree with the model's own waits.

use std::sync::Arc;

use oversleep_model::sim::Sim;
use oversleep_record::Nanos;
use oversleep_system::{SharedPlatform, Target};

use super::*;

fn machine(name: &str, set: &[&str]) -> Machine {
    let set: Vec<String> = set.iter().map(|&change| change.to_owned()).collect();
    oversleep_model::machine(name, &set, 1).unwrap_or_else(|error| panic!("{error}"))
}

/// The median length of consecutive waits on the model itself, and by the plan for a program that takes 60 µs until its next
/// wait.
fn both(name: &str, set: &[&str], held: Option<Nanos>, class: Class, requested: Nanos) -> (Nanos, Nanos) {
    const COUNT: usize = 21;
    const RUNS_FOR: Nanos = Nanos::from_micros(60);
    let median = |mut spans: Vec<Nanos>| {
        spans.remove(0);
        spans.sort();
        spans[spans.len() / 2]
    };
    let plan = Plan::on(machine(name, set)).unwrap();
    let wait = plan.wait(class).unwrap().info.name;

    let platform: SharedPlatform = Sim::start(machine(name, set));
    let setting = held.map(oversleep_record::conditions::Setting::Nanos);
    let _guard = setting.map(|setting| platform.resolution_tunable().unwrap().apply(&setting));
    let mut waiter = platform.wait(wait).unwrap().open(&platform).unwrap();
    let mut last = platform.now();
    let modelled = (0..COUNT).map(|_| {
        waiter.wait(Target { remaining: requested, deadline: platform.now() + requested });
        let now = platform.now();
        std::mem::replace(&mut last, now)
    });
    let mut moments: Vec<Nanos> = modelled.collect();
    moments.push(last);
    let modelled = median(moments.windows(2).map(|pair| pair[1] - pair[0]).collect());

    let mut resolution = plan.resolution(Nanos::ZERO);
    resolution.hold(Holder::All, held, Nanos::ZERO);
    let mut now = Nanos(1_000_000_007);
    let mut spans = Vec::new();
    for _ in 0..COUNT {
        let ticks = resolution.ticks(1);
        let planned =
            plan.end(StandsFor::plain(plan.wait(class).unwrap()), Requested::Span(requested), now, ticks).unwrap();
        spans.push(planned.end + RUNS_FOR - now);
        now = planned.end + RUNS_FOR;
    }
    (modelled, median(spans))
}

#[test]
fn waits_take_the_ticks_that_the_model_says() {
    let cases: &[(&str, Option<i64>, [i64; 8])] = &[
        ("windows-10-1909", None, [1, 1, 1, 1, 1, 2, 2, 3]),
        ("windows-10-2004", None, [1, 1, 1, 1, 1, 2, 2, 3]),
        ("windows-7", None, [1, 1, 1, 1, 1, 2, 2, 3]),
        ("windows-11", Some(1_000_000), [2, 3, 6, 11, 16, 17, 21, 33]),
        ("windows-7", Some(1_000_000), [1, 2, 5, 10, 15, 16, 20, 32]),
    ];
    for &(name, held, ticks) in cases {
        let tick = held.map_or(Nanos(15_625_000), Nanos);
        for (requested, ticks) in [1, 2, 5, 10, 15, 16, 20, 32].map(Nanos::from_millis).into_iter().zip(ticks) {
            let (modelled, planned) = both(name, &[], held.map(Nanos), Class::Sleep, requested);
            let count = |span: Nanos| (span.0 + tick.0 / 2) / tick.0;
            let words = format!("{name}, {held:?}, {requested}: model {modelled}, plan {planned}");
            assert_eq!((count(modelled), count(planned)), (ticks, ticks), "{words}");
        }
    }
}

#[test]
fn slack_shares_and_leeways_are_the_models_too() {
    for (name, set, class, requested, late) in [
        ("linux-hz250", &[][..], Class::Sleep, 1, 50_000),
        ("linux-hz250", &["slack=1ms"][..], Class::FutexUntil, 1, 1_000_000),
        ("linux-hz250", &[][..], Class::Poll, 500, 500_000),
        ("linux-hz250", &[][..], Class::TimerFd, 1, 0),
        ("macos-14-m1", &[][..], Class::Sleep, 1, 250_000),
        ("macos-14-m1", &[][..], Class::Poll, 4, 500_000),
    ] {
        let plan = Plan::on(machine(name, set)).unwrap();
        let requested = Requested::Span(Nanos::from_millis(requested));
        let ticks = plan.resolution(Nanos::ZERO).ticks(1);
        let planned = plan.end(StandsFor::plain(plan.wait(class).unwrap()), requested, Nanos(7), ticks).unwrap();
        assert_eq!(planned.end - planned.native, Nanos(late), "{name} {class:?}");
    }
    let coarse = Plan::on(machine("linux-hz250", &["hz=100", "high-resolution=false"])).unwrap();
    let planned = coarse
        .end(
            StandsFor::plain(coarse.wait(Class::Sleep).unwrap()),
            Requested::Span(Nanos::from_millis(1)),
            Nanos(1),
            Ticks { grid: None, interrupts: None, is_as_found: true },
        )
        .unwrap();
    assert_eq!(planned.end, Nanos::from_millis(10), "the kernel's tick ends it");
}

#[test]
fn kernels_of_another_configuration_wait_as_their_model_does() {
    const MILLISECOND: Nanos = Nanos::from_millis(1);
    for requested in [1, 5, 10].map(Nanos::from_millis) {
        // The model wakes up, and the plan's program needs its time to wait again: both are below 100 µs.
        let (modelled, planned) = both("linux-hz100", &[], None, Class::Sleep, requested);
        let late = [modelled, planned].map(|span| span - requested);
        assert!(late.iter().all(|late| (Nanos(50_000)..Nanos(150_000)).contains(late)), "{requested}: {late:?}");
        let (modelled, planned) = both("linux-no-highres", &[], None, Class::Sleep, requested);
        let ticks = |span: Nanos| (span + MILLISECOND).0 / (4 * MILLISECOND.0);
        assert_eq!(ticks(modelled), ticks(planned), "{requested}: {modelled}, {planned}");
    }
}

#[test]
fn kernels_of_another_configuration_are_machines_too() {
    for (name, wait, late_min, late_max) in [
        // Without timers of their own, waits end at the second tick of 4 ms at the latest.
        ("linux-no-highres", Class::Sleep, 1, 8_000_000),
        ("linux-hz100", Class::Sleep, 50_000, 50_000),
    ] {
        let plan = Plan::named(name, &[], Some(1)).unwrap();
        assert!(plan.machine().starts_with(name), "{}", plan.machine());
        let requested = Requested::Span(Nanos::from_millis(1));
        let ticks = plan.resolution(Nanos::ZERO).ticks(1);
        let planned = plan.end(StandsFor::plain(plan.wait(wait).unwrap()), requested, Nanos(7), ticks).unwrap();
        let late = (planned.end - planned.native).0;
        assert!((late_min..=late_max).contains(&late), "{name}: {late}");
        assert!(Plan::named(name, &["hz=1000".to_owned()], Some(1)).is_ok());
    }
}

#[test]
fn a_deadline_that_passed_after_the_last_tick_takes_a_tick() {
    let plan = Plan::on(machine("windows-10-1909", &[])).unwrap();
    let ticks = plan.resolution(Nanos::ZERO).ticks(1);
    let tick = Nanos(15_625_000);
    let end = |deadline: i64, now: i64| {
        plan.end(
            StandsFor::plain(plan.wait(Class::FutexUntil).unwrap()),
            Requested::Deadline(tick + Nanos(deadline)),
            tick + Nanos(now),
            ticks,
        )
        .map(|planned| planned.end)
    };
    assert_eq!(end(10_000, 12_000), Some(tick * 2), "a park of microseconds does not escape");
    assert_eq!(end(0, 12_000), None);
    assert_eq!(end(-1, 12_000), None);
    assert_eq!(
        plan.end(StandsFor::plain(plan.wait(Class::Sleep).unwrap()), Requested::Span(Nanos::ZERO), tick, ticks),
        None,
        "a yield stays one"
    );
    let linux = Plan::on(machine("linux-hz250", &[])).unwrap();
    assert_eq!(
        linux.end(
            StandsFor::plain(linux.wait(Class::FutexUntil).unwrap()),
            Requested::Deadline(Nanos(5)),
            Nanos(5),
            Ticks { grid: None, interrupts: None, is_as_found: true }
        ),
        None
    );
}

#[test]
fn requests_reach_whom_the_machine_says() {
    let grids = |name: &str| {
        let plan = Plan::on(machine(name, &[])).unwrap();
        let mut resolution = plan.resolution(Nanos::ZERO);
        let granted = resolution.hold(Holder::Process(7), Some(Nanos::from_millis(1)), Nanos::ZERO).unwrap();
        let period = |process| resolution.grid(process).unwrap().period;
        let seen = (granted, period(7), period(8));
        resolution.forget(7, Nanos::ZERO);
        assert_eq!(resolution.grid(7).unwrap().period, Nanos(15_625_000));
        seen
    };
    let (granted, own, other) = grids("windows-10-1909");
    assert_eq!((own, other), (granted, granted), "global until 2004");
    let (granted, own, other) = grids("windows-10-2004");
    assert_eq!(own, granted);
    assert!(other > Nanos::from_millis(15), "served at multiples near the default: {other}");
}

#[test]
fn every_class_has_a_wait_on_every_machine_that_has_waits() {
    for name in oversleep_model::names() {
        let plan = Plan::on(machine(name, &[])).unwrap();
        for &class in Class::ALL {
            assert!(plan.wait(class).is_some(), "{name}: {class:?} is {:?}", class.wait_of(&plan.machine.os));
        }
    }
}

#[test]
fn a_plan_is_shared_by_threads() {
    fn is_shared<T: Send + Sync>(_: &T) {}
    is_shared(&Arc::new(Plan::on(machine("windows-11", &[])).unwrap()));
}

#[test]
fn a_call_that_no_sleep_stands_for_comes_with_the_command_that_knows_it() {
    let why = |call: &str| Plan::on(machine("windows-11", &[])).unwrap().assumed(call).expect_err(call);
    for call in ["oversleep-sleep-until", "Parker"] {
        assert!(why(call).contains("run such a program here without --as. `oversleep ask`"), "{}", why(call));
    }
    assert!(why("WaitForSingleObject").starts_with("that is a call of the system"), "{}", why("WaitForSingleObject"));
    assert!(why("Thread.slep").starts_with("no call of that name is known"), "{}", why("Thread.slep"));
}

#[test]
fn a_version_that_does_not_run_on_a_machine_is_emulated_by_none() {
    let of = |machine_name: &str, call: &str| {
        let plan = Plan::on(machine(machine_name, &[])).unwrap();
        plan.assumed(call).map(|record| record.wait_name())
    };
    assert_eq!(of("windows-11", "time.Sleep").as_deref(), Ok("time.Sleep@go-1.23-and-later"));
    for call in ["time.Sleep", "time.Sleep@go-1.20"] {
        assert_eq!(of("windows-7", call).as_deref(), Ok("time.Sleep@go-1.16-to-1.22"));
    }
    for (machine, call, needs) in [
        ("windows-7", "time.Sleep@go-1.26", "Go needs Windows 10 from version 1.21 on"),
        ("windows-xp", "time.Sleep@go-1.12", "Go needs Windows 7 from version 1.11 on"),
    ] {
        assert!(of(machine, call).is_err_and(|why| why.starts_with(needs)), "{machine} {call}");
    }
}

#[test]
fn a_call_that_looks_at_a_coarse_clock_waits_until_that_shows_its_end() {
    let plan = Plan::on(machine("windows-10-2004", &[])).unwrap();
    let mut resolution = plan.resolution(Nanos::ZERO);
    // The process holds 1 ms, which moves interrupts and not the tick count.
    resolution.hold(Holder::Process(1), Some(Nanos::from_millis(1)), Nanos::ZERO);
    let took = |call: &str| {
        let adapted = plan.adapted(&Executed::default(), &[call.to_owned()], false, |_| None).expect("adapters");
        let origin = Origin { is_own_code: true, is_within: &|_| true };
        let sleep = plan.wait_of(Class::Sleep, Some((&adapted, &origin))).expect("a wait");
        // The tick count has just moved.
        let now = Nanos(1_002_000_007);
        let planned =
            plan.end(sleep, Requested::Span(Nanos::from_millis(5)), now, resolution.ticks(1)).expect("an end");
        planned.end - now
    };
    let (by_tick_count, by_interrupts) = (took("Task.Delay@dotnet-3"), took("Task.Delay@dotnet-7"));
    assert!(by_interrupts < Nanos::from_millis(8), "{by_interrupts}");
    let both = format!("{by_tick_count} {by_interrupts}");
    assert!(by_tick_count > by_interrupts && by_tick_count <= Nanos::from_millis(21), "{both}");
}
