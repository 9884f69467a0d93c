//! The clock of this process. Tests that take its counter out of use run in a forked child.

use std::sync::atomic::{AtomicU64, Ordering};

use oversleep_testing::skip;

use super::*;
use crate::sys::forked;

#[test]
fn a_forked_child_finishes_what_its_parents_threads_began() {
    CLOCK.now_ns();
    let Some((_, sequence)) = CLOCK.latch.state() else { return skip("no counter is in use") };
    // As if other threads had been about to draw the next line.
    let (claim, draft) = (CLOCK.claim(), CLOCK.latch.draft(sequence));
    let answer = forked(|| {
        let mut last_ns = CLOCK.ordered_now_ns();
        // Lines last 0.1 s at most.
        while CLOCK.latch.state().is_some_and(|(_, now)| now == sequence) {
            let now_ns = CLOCK.ordered_now_ns();
            if now_ns < last_ns {
                return false;
            }
            last_ns = now_ns;
        }
        CLOCK.latch.state().is_some()
    });
    assert_ne!(answer, Some(false));
    if let (Some(_), Some(draft)) = (claim, draft) {
        CLOCK.latch.give_back(draft);
    }
}

#[test]
fn time_goes_on_when_the_counter_goes_out_of_use() {
    static CALLS: AtomicU64 = AtomicU64::new(0);
    let before_ns = CLOCK.ordered_now_ns();
    let was_in_use = choice().hz.is_some();
    let answer = forked(|| {
        Clock::on_demotion(|_| {
            CALLS.fetch_add(1, Ordering::Relaxed);
        });
        let plain_ns = CLOCK.now_ns();
        // Another thread of the parent may just have been about to choose the counter.
        let was_in_use = choice().hz.is_some();
        CLOCK.demote(Reason::CrossCoreSkew { ticks: 5 });
        let is_in_order = CLOCK.ordered_now_ns() >= before_ns && CLOCK.now_ns() >= plain_ns;
        let calls = if was_in_use { 1 } else { 0 };
        let reason = CLOCK.rejection();
        let is_known = !was_in_use || reason == Some((Reason::CrossCoreSkew { ticks: 5 }, true));
        is_in_order && is_known && CLOCK.counter_state().is_none() && CALLS.load(Ordering::Relaxed) == calls
    });
    assert_ne!(answer, Some(false));
    let choice = choice();
    assert!(choice.hz.is_some() || !was_in_use, "the parent is unaffected");
    assert!(!choice.is_demoted, "the parent is unaffected");
}
