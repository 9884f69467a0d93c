//! Readings of the counter and of the operating system's clock at the same moment.

use crate::sys::{self, counter};

use super::servo::{Pair, State};

/// How often the first two pairs are tried. One try in a noisy guest is up to microseconds wrong; the best of 64 is
/// within a few nanoseconds, and costs about 5 µs.
const FIRST_TRIES: u32 = 64;
/// How often a pair for the next line is tried: a quarter of the precision is enough over a longer baseline.
pub(super) const TRIES: u32 = 8;
/// How often it is tried to have a pair, and a last reading soon after it: what passes between is told by the rate alone.
const CLOSING_TRIES: u32 = 8;
const CLOSING_NS: u64 = 100_000;
/// How often, and how closely, it is tried to see for how long the machine was suspended.
const SUSPENDED_TRIES: u32 = 64;
const SUSPENDED_WIDTH_NS: u64 = 50_000;
/// The time between the first two pairs. The first window is four times as long, so the rate's error stays below the
/// pairs' own; every later window measures over all time since.
const FIRST_BASELINE_NS: u64 = 250_000;

/// A pair: the operating system's clock between two readings of the counter, the best of `tries`.
pub(super) fn pair(tries: u32) -> Pair {
    let mut best = Pair { ticks: 0, ns: 0 };
    let mut best_width = u64::MAX;
    for _ in 0..tries {
        let before = counter::ticks_ordered();
        let ns = sys::monotonic_ns();
        let after = counter::ticks_ordered();
        // On cores whose counters differ, `after` can lie before `before`: the width is huge then, and never the best.
        let width = after.wrapping_sub(before);
        if width < best_width {
            best = Pair { ticks: middle(before, after), ns };
            best_width = width;
        }
    }
    best
}

/// A pair, how long the machine was suspended, and a reading of the counter soon after.
pub(super) fn closed_pair(tries: u32) -> (Pair, u64, u64) {
    let mut closed = (Pair { ticks: 0, ns: 0 }, 0, 0);
    for _ in 0..CLOSING_TRIES {
        let (pair, suspended_ns) = (pair(tries), suspended_ns());
        let (after_ns, closing) = (sys::monotonic_ns(), counter::ticks_ordered());
        closed = (pair, suspended_ns, closing);
        if after_ns.saturating_sub(pair.ns) <= CLOSING_NS {
            break;
        }
    }
    closed
}

/// Between two readings, also across a wrap: a hypervisor may have given its guest a count that began below zero.
fn middle(before: u64, after: u64) -> u64 {
    before.wrapping_add(after.wrapping_sub(before) / 2)
}

/// How long the machine has been suspended since it was started, and a constant: by what the clock that goes on meanwhile is
/// ahead of the other. It is told less where this thread lost its processor between two readings, so the closest count.
pub(super) fn suspended_ns() -> u64 {
    let (mut best_ns, mut best_width_ns) = (0, u64::MAX);
    for _ in 0..SUSPENDED_TRIES {
        let before_ns = sys::monotonic_ns();
        let continuous_ns = sys::continuous_ns();
        let after_ns = sys::monotonic_ns();
        let width_ns = after_ns.saturating_sub(before_ns);
        if width_ns < best_width_ns {
            (best_ns, best_width_ns) = (continuous_ns.wrapping_sub(after_ns), width_ns);
        }
        if width_ns <= SUSPENDED_WIDTH_NS {
            break;
        }
    }
    best_ns
}

/// Two pairs, a quarter of a millisecond apart, and the state they make. Takes about 0.3 ms, spent spinning.
pub(super) fn first_state() -> Option<State> {
    let first = pair(FIRST_TRIES);
    while sys::monotonic_ns() < first.ns + FIRST_BASELINE_NS {
        std::hint::spin_loop();
    }
    State::calibrated(first, pair(FIRST_TRIES), suspended_ns())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_is_between_also_across_a_wrap() {
        assert_eq!(middle(100, 140), 120);
        assert_eq!(middle(u64::MAX - 9, 30), 10);
        assert_eq!(middle(7, 7), 7);
    }
}
