//! Children forked while other threads read the clock: a child's clock works, whatever those threads were doing.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use oversleep::Clock;
use oversleep::clock::monotonic_ns;

use super::forks::forked;

/// Reads the clock past the ends of a few lines, which last at most 0.1 s, and sleeps once.
fn time_goes_on(until_ns: u64) -> bool {
    let mut before = Clock::now_ordered();
    while monotonic_ns() < until_ns {
        let now = Clock::now_ordered();
        if now < before {
            return false;
        }
        before = now;
    }
    let deadline = Clock::now_ordered() + Duration::from_micros(300);
    oversleep::sleep_until(deadline);
    monotonic_ns() >= deadline.as_nanos() && Clock::now_ordered() >= deadline
}

#[test]
fn forked_children_keep_time_by_themselves() {
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        // They begin with the first use, when lines are short.
        for _ in 0..2 {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    Clock::now_ordered();
                }
            });
        }
        let short = (0..40).map(|_| forked(|| time_goes_on(monotonic_ns() + 5_000_000)));
        let answers: Vec<_> = short.chain([forked(|| time_goes_on(monotonic_ns() + 300_000_000))]).collect();
        done.store(true, Ordering::Relaxed);
        assert!(!answers.contains(&Some(false)), "{answers:?}");
    });
}
