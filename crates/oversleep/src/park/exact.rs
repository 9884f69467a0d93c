//! Waiting for a word until an exact deadline: the system wakes the thread shortly before it, and a spin does the rest.
//! A change of the word ends either at once.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use crate::clock::{Clock, Instant};
use crate::slack::TimerSlack;
use crate::sys::{self, Word};

use super::Woken;

/// Margins before the first wait, for a long one and for the short one after it.
const FIRST_NS: [u32; 2] = [80_000, 20_000];
/// The bounds of a margin. Lateness beyond the upper one is no timer's: another thread had the processor.
const MIN_NS: u32 = 4_000;
const MAX_NS: u32 = 600_000;
/// A wait costs about as much CPU time, so anything shorter is spun.
const WAIT_COST_NS: u64 = 8_000;

/// How long before the deadline the system should wake the thread, for a long wait and for a short one, learned from
/// both. Threads may share it: a lost update is a lost lesson.
#[derive(Debug)]
pub(super) struct Margins([AtomicU32; 2]);

impl Margins {
    pub(super) const fn new() -> Self {
        Self([AtomicU32::new(FIRST_NS[0]), AtomicU32::new(FIRST_NS[1])])
    }

    fn ns(&self, which: usize) -> u64 {
        self.0[which].load(Ordering::Relaxed).into()
    }

    fn learn(&self, which: usize, lateness_ns: u64) {
        let margin = &self.0[which];
        margin.store(learned_ns(margin.load(Ordering::Relaxed), lateness_ns), Ordering::Relaxed);
    }
}

/// A margin after a wake-up. It grows by a quarter of what it fell short and shrinks by a 64th of what it was too long,
/// so that about one wake-up in 17 of a steady spread exceeds it.
fn learned_ns(margin_ns: u32, lateness_ns: u64) -> u32 {
    let Some(lateness_ns) = u32::try_from(lateness_ns).ok().filter(|&ns| ns <= MAX_NS) else { return margin_ns };
    let learned_ns = match lateness_ns.checked_sub(margin_ns) {
        Some(short_ns) => margin_ns + short_ns.div_ceil(4),
        None => margin_ns - (margin_ns - lateness_ns) / 64,
    };
    learned_ns.clamp(MIN_NS, MAX_NS)
}

/// Waits while the word is `expected`, until `deadline` at most and never less.
pub(super) fn wait_until(word: &Word, expected: u32, deadline: Instant, margins: &Margins) -> Woken {
    let is_over = || word.value.load(Ordering::Relaxed) != expected;
    let left_ns = || deadline.duration_since(Clock::now()).as_nanos() as u64;
    let mut slack = None;
    for which in [0, 1] {
        let margin_ns = margins.ns(which);
        if is_over() || left_ns() < margin_ns + WAIT_COST_NS {
            continue;
        }
        slack.get_or_insert_with(|| TimerSlack::hold(Duration::from_nanos(1)));
        let wake_ns = deadline.as_nanos() - margin_ns;
        while !is_over() {
            word.wait(expected, Some(wake_ns));
            let now_ns = sys::monotonic_ns();
            if now_ns >= wake_ns {
                if !is_over() {
                    margins.learn(which, now_ns - wake_ns);
                }
                break;
            }
        }
    }
    drop(slack);
    loop {
        // The word goes first: a token that came before the deadline counts.
        if is_over() {
            return Woken::Notified;
        }
        let now = Clock::now();
        // The library's clock may be a few nanoseconds ahead of the system's, and the guarantee holds for both.
        if now >= deadline && sys::monotonic_ns() >= deadline.as_nanos() {
            return Woken::AtDeadline { lateness_ns: now.duration_since(deadline).as_nanos() as u64 };
        }
        std::hint::spin_loop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_margin_covers_most_of_a_steady_spread() {
        let mut margin_ns = FIRST_NS[0];
        // 10 to 59 µs late, in an order without pattern.
        let lateness_ns = |i: u64| 10_000 + i * 7_919 % 50 * 1_000;
        (0..5_000).for_each(|i| margin_ns = learned_ns(margin_ns, lateness_ns(i)));
        let late = (0..1_000).filter(|&i| lateness_ns(i) > u64::from(margin_ns)).count();
        assert!((10..=200).contains(&late), "{late} of 1,000 beyond {margin_ns} ns");
    }

    #[test]
    fn a_stall_teaches_nothing_and_an_exact_timer_much() {
        assert_eq!(learned_ns(50_000, 3_000_000), 50_000);
        assert_eq!(learned_ns(50_000, u64::MAX), 50_000);
        let mut margin_ns = MAX_NS;
        (0..2_000).for_each(|_| margin_ns = learned_ns(margin_ns, 0));
        assert_eq!(margin_ns, MIN_NS);
    }
}
