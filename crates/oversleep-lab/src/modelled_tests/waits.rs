//! Waits of modelled machines compared with measurements or their systems' source code: wheels, ticks, phases and shares.

use oversleep_measure::{Amount, WaitProbe};
use oversleep_record::series::Pace;
use oversleep_record::{Conditions, ExperimentId, FactName, Nanos};

use super::{MS, check, holding, mean_us, near, platform, run};

/// Measured: Linux 6.18, HZ 250, recv with SO_RCVTIMEO call after call: 8, 104, 320 and 1,024 ms. 10 s are 2,500 ticks,
/// which the wheel keeps in steps of 64.
#[test]
fn timeouts_of_the_timer_wheel_are_the_coarser_the_longer() {
    let linux = platform("linux-hz250", &[]);
    for (ms, takes_ms) in [(1, 8), (100, 104), (300, 320), (1_000, 1_024), (10_000, 10_240)] {
        let took = mean_us(&linux, "so-rcvtimeo", Nanos::from_millis(ms), Conditions::as_found());
        let takes = f64::from(takes_ms) * 1e3;
        // The first begins anywhere between two steps of the wheel.
        assert!((took - takes).abs() < 1_000.0, "{ms} ms: {took}");
    }
}

/// All phases are equally likely: the mean is half a tick more than the request.
#[test]
fn calls_at_random_phase_meet_every_part_of_a_tick_alike() {
    let windows = platform("windows-11", &[]);
    for (ms, tick_us, conditions) in [
        (1, 15_625.0, Conditions::as_found()),
        (10, 15_625.0, Conditions::as_found()),
        (20, 15_625.0, Conditions::as_found()),
        (100, 15_625.0, Conditions::as_found()),
        (1, 1_000.0, holding(MS)),
        (20, 5_000.0, holding(Nanos::from_millis(5))),
    ] {
        let amount = Amount { count: 20_000, time: Nanos::MAX, rounds: 1 };
        let request = Nanos::from_millis(ms);
        let probe = WaitProbe::new(&*windows, ExperimentId::B6, "sleep", request, amount).paced(Pace::RandomPhase);
        let series = run(&windows, vec![probe.under(conditions).boxed()]).series.remove(0);
        let mean = (request.0 as f64 + series.distribution.mean().unwrap()) / 1e3;
        let wanted = ms as f64 * 1e3 + tick_us / 2.0;
        assert!((mean - wanted).abs() <= wanted * 0.01, "{ms} ms at {tick_us} us: {mean}, not {wanted}");
    }
}

/// A delay that is a share of the request is a share of the whole request, even if the wait is periodic elsewhere.
#[test]
fn a_survey_of_a_mac_asks_each_wait_for_all_of_its_span() {
    let file = check("macos-14-m1", &[ExperimentId::B5]);
    let late = |wait: &str| file.series(format!("B5/{wait}/1ms")).unwrap().distribution.p50().unwrap();
    let (nanosleep, select, poll) = (late("nanosleep"), late("select"), late("poll"));
    assert!((250_000..265_000).contains(&nanosleep) && (nanosleep - select).abs() < 5_000, "{nanosleep} and {select}");
    assert!((125_000..140_000).contains(&poll), "an eighth, whatever the class: {poll}");
}

/// Booted with highres=off, or built without: hrtimer_run_queues checks for expired timers at each tick.
#[test]
fn without_high_resolution_timers_every_wait_ends_on_the_tick() {
    let linux = platform("linux-hz250", &["timers.high-resolution=false"]);
    for wait in ["nanosleep", "poll", "timerfd", "futex"] {
        for (request_us, takes_us) in [(300, 4_000.0), (1_000, 4_000.0), (5_000, 8_000.0)] {
            let took = mean_us(&linux, wait, Nanos::from_micros(request_us), Conditions::as_found());
            near(took, takes_us);
        }
    }
    assert_eq!(linux.environment().flag(FactName::TimerHighResolution), Some(false));
    assert!(linux.wait("nanosleep").unwrap().rule(MS).unwrap().contains("first multiple of 4 ms"));
}
