//! Readings of the counter and of the operating system's clock at the same moment.

use crate::sys::{self, counter};

use super::servo::{Pair, State};

/// How often the first two pairs are tried. One try in a noisy guest is up to microseconds wrong; the best of 64 is
/// within a few nanoseconds, and costs about 5 µs.
const FIRST_TRIES: u32 = 64;
/// How often a pair for the next line is tried: a quarter of the precision is enough over a longer baseline.
pub(super) const TRIES: u32 = 8;
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

/// Between two readings, also across a wrap: a hypervisor may have given its guest a count that began below zero.
fn middle(before: u64, after: u64) -> u64 {
    before.wrapping_add(after.wrapping_sub(before) / 2)
}

/// Two pairs, a quarter of a millisecond apart, and the state they make. Takes about 0.3 ms, spent spinning.
pub(super) fn first_state() -> Option<State> {
    let first = pair(FIRST_TRIES);
    while sys::monotonic_ns() < first.ns + FIRST_BASELINE_NS {
        std::hint::spin_loop();
    }
    State::calibrated(first, pair(FIRST_TRIES))
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
