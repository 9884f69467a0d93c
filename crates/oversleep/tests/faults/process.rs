//! The clock of a whole process, whose real counter is made to fail. Threads make millions of readings: none may be
//! below an earlier one where that is promised, and the counter must go out of use; how soon is tested in virtual time. A
//! demotion is permanent, so each fault has its own process.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant as Std};

use oversleep::clock::fault::process;
use oversleep::clock::{Clock, Reason, Source};
use oversleep::time::RealClock;
use oversleep::{Instant, TimeSource};

use super::child::{child, is_child};

const BEFORE: Duration = Duration::from_millis(250);

static DEMOTIONS: AtomicU64 = AtomicU64::new(0);

/// Reads in threads while `fault` happens in the thread of number 1, until the counter is out of use.
fn read_through(fault: fn()) {
    if Clock::source() == Source::Os {
        return oversleep_testing::skip("no counter is in use");
    }
    assert!(Clock::on_demotion(|_: &Reason| _ = DEMOTIONS.fetch_add(1, Ordering::Relaxed)));
    let (begun, done, latest, readings) =
        (AtomicBool::new(false), AtomicBool::new(false), AtomicU64::new(0), AtomicU64::new(0));
    let demoted_after = thread::scope(|scope| {
        let threads = [0, 1, 2].map(|number| {
            let (begun, done, latest, readings) = (&begun, &done, &latest, &readings);
            scope.spawn(move || {
                let (mut plain, mut count, mut is_faulty) = (Instant::now(), 0, false);
                while !done.load(Ordering::Relaxed) {
                    if number == 1 && !is_faulty && begun.load(Ordering::Relaxed) {
                        (is_faulty, _) = (true, fault());
                    }
                    let before_ns = latest.load(Ordering::Acquire);
                    let ordered_ns = Instant::now_ordered().as_nanos();
                    assert!(ordered_ns >= before_ns, "{} ns back in order", before_ns - ordered_ns);
                    latest.fetch_max(ordered_ns, Ordering::Release);
                    for _ in 0..8 {
                        let now = Instant::now();
                        assert!(now >= plain, "{:?} back within a thread", plain - now);
                        plain = now;
                    }
                    count += 9;
                }
                readings.fetch_add(count, Ordering::Relaxed);
            })
        });
        thread::sleep(BEFORE);
        begun.store(true, Ordering::Relaxed);
        let start = Std::now();
        // A thread that found a step back has ended.
        while DEMOTIONS.load(Ordering::Relaxed) == 0 && !threads.iter().any(|thread| thread.is_finished()) {
            thread::sleep(Duration::from_millis(1));
        }
        let duration = start.elapsed();
        thread::sleep(BEFORE / 5);
        done.store(true, Ordering::Relaxed);
        duration
    });
    let why = Clock::why();
    println!("out of use after {demoted_after:?}, {} readings: {why}", readings.into_inner());
    assert!(why.is_demoted && DEMOTIONS.load(Ordering::Relaxed) == 1, "{why}");
    // Sleeps continue to work, and none ends early.
    let deadline = RealClock.now() + Duration::from_millis(2);
    oversleep::sleep_until(deadline);
    assert!(RealClock.now() >= deadline);
}

/// Runs the test with this name in its own process.
fn apart(test: &str, fault: fn()) {
    if is_child() {
        return read_through(fault);
    }
    let output = child(&format!("process::{test}")).output().unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && stdout.contains("1 passed"), "{stdout}");
    println!("{}", stdout.lines().find(|line| line.contains("use")).unwrap_or_default());
}

#[test]
fn a_counter_that_is_30_us_behind_on_one_processor() {
    apart("a_counter_that_is_30_us_behind_on_one_processor", || process::shift_here(-30_000));
}

#[test]
fn a_counter_that_is_50_ms_ahead_on_one_processor() {
    apart("a_counter_that_is_50_ms_ahead_on_one_processor", || process::shift_here(50_000_000));
}

#[test]
fn a_migration_to_a_machine_that_started_later() {
    apart("a_migration_to_a_machine_that_started_later", || process::shift_all(-3_600_000_000_000));
}

#[test]
fn a_counter_that_runs_faster() {
    apart("a_counter_that_runs_faster", || process::drift(10_000));
}

#[test]
fn a_counter_that_stops() {
    apart("a_counter_that_stops", process::stop);
}

#[test]
fn another_clocksource() {
    apart("another_clocksource", process::change_clocksource);
}
