//! The clock on the real machine. Tests order, and agreement with the operating system's clock within the documented
//! limits; speed isn't tested.

mod child;

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use oversleep::clock::{Clock, Instant, Source, monotonic_ns};

use child::{child, is_child};

/// The largest documented lead over the operating system's clock.
const LEAD_MAX_NS: u64 = 100_000;

#[test]
fn readings_on_all_cores_are_in_order() {
    let latest = AtomicU64::new(0);
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..200_000 {
                    let before = latest.load(Ordering::Acquire);
                    let now = Clock::now_ordered().as_nanos();
                    assert!(now >= before, "{} ns back", before - now);
                    latest.fetch_max(now, Ordering::Release);
                }
            });
        }
    });
}

#[test]
fn one_thread_never_sees_time_go_back() {
    let mut before = Clock::now();
    for _ in 0..3_000_000 {
        let now = Clock::now();
        assert!(now >= before);
        before = now;
    }
}

#[test]
fn it_agrees_with_the_operating_systems_clock() {
    for _ in 0..40 {
        let before_ns = monotonic_ns();
        let now_ns = Clock::now_ordered().as_nanos();
        let after_ns = monotonic_ns();
        assert!(now_ns + LEAD_MAX_NS >= before_ns && now_ns <= after_ns + LEAD_MAX_NS);
        thread::sleep(Duration::from_millis(8));
    }
}

#[test]
fn coarse_is_a_past_moment_and_follows() {
    for _ in 0..1_000 {
        let coarse = Clock::coarse();
        assert!(coarse.as_nanos() <= Clock::now_ordered().as_nanos() + LEAD_MAX_NS);
    }
    // It comes as far. How soon depends on the machine: a guest that lost its processor may have missed ticks.
    let before = Clock::now_ordered();
    while Clock::coarse() < before {}
    assert!(Clock::coarse_step() > Duration::ZERO);
}

#[test]
fn the_choice_is_explained() {
    let choice = Clock::why();
    assert_eq!(choice.source, Clock::source());
    assert_eq!(choice.hz.is_some(), choice.source != Source::Os);
    assert!(choice.rejected.iter().all(|(source, _)| *source != choice.source));
    assert!(!choice.to_string().is_empty());
}

#[test]
fn the_environment_can_forbid_the_counter() {
    if is_child() {
        let start = Instant::now();
        oversleep::sleep(Duration::from_millis(1));
        assert!(start.elapsed() >= Duration::from_millis(1));
        println!("source {} {:?}", Clock::source().name(), Clock::why().rejected);
        return;
    }
    let output = child("the_environment_can_forbid_the_counter").env("OVERSLEEP_CLOCK", "os").output().unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && stdout.contains("source os"), "{stdout}");
    // If this machine has a counter, this is the reason against it.
    let has_counter = Clock::why().rejected.len() < 2;
    assert!(!has_counter || stdout.contains("Forced"), "{stdout}");
}
