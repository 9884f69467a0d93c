//! Readings of the counter and of the operating system's clock at the same moment.

use crate::sys::{self, counter};

use super::servo::{Pair, State};

/// Tries for each of the first two pairs. In a noisy guest one try may be microseconds off; the best of 64 is within a
/// few nanoseconds, and costs about 5 µs.
const FIRST_TRIES: u32 = 64;
/// Tries for a pair of a later line. A quarter of the precision is enough over a longer baseline.
pub(super) const TRIES: u32 = 8;
/// Tries for a pair with a closing reading soon after it. Only the measured rate covers the time between the two.
const CLOSING_TRIES: u32 = 8;
const CLOSING_NS: u64 = 100_000;
/// Tries for the time the machine was suspended, and how close the readings must be.
const SUSPENDED_TRIES: u32 = 64;
const SUSPENDED_WIDTH_NS: u64 = 50_000;
/// The time between the first two pairs. The first window is four times as long, which keeps the error of the rate
/// small; every later window measures over all the time since.
const FIRST_BASELINE_NS: u64 = 250_000;

/// The best of `tries` pairs: each is the operating system's clock between two counter reads.
pub(super) fn pair(tries: u32) -> Pair {
    let mut best = Pair { ticks: 0, ns: 0 };
    let mut best_width = u64::MAX;
    for _ in 0..tries {
        let before = counter::ticks_ordered();
        let ns = sys::monotonic_ns();
        let after = counter::ticks_ordered();
        // If the counters of two cores differ, `after` may be below `before`. The width is then huge, and never the
        // best.
        let width = after.wrapping_sub(before);
        if width < best_width {
            best = Pair { ticks: middle(before, after), ns };
            best_width = width;
        }
    }
    best
}

/// A pair, how long the machine was suspended, and a counter reading soon after.
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

/// The middle of two readings, even across a wrap: a hypervisor may give its guest a counter that starts below zero.
fn middle(before: u64, after: u64) -> u64 {
    before.wrapping_add(after.wrapping_sub(before) / 2)
}

/// How long the machine has been suspended since boot, plus a constant: how far the clock that includes suspend is
/// ahead of the one that doesn't. The closest readings count, because losing the processor between two falsifies them.
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

/// The first state, from two pairs a quarter of a millisecond apart. Spins for about 0.3 ms. `None` where the system's clock
/// stands still meanwhile: between two ticks of 100 Hz it is read two million times at most.
pub(super) fn first_state() -> Option<State> {
    const READS_MAX: u32 = 1 << 23;
    let first = pair(FIRST_TRIES);
    (0..READS_MAX).find(|_| {
        std::hint::spin_loop();
        sys::monotonic_ns() >= first.ns + FIRST_BASELINE_NS
    })?;
    State::calibrated(first, pair(FIRST_TRIES), suspended_ns())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_is_right_even_across_a_wrap() {
        assert_eq!(middle(100, 140), 120);
        assert_eq!(middle(u64::MAX - 9, 30), 10);
        assert_eq!(middle(7, 7), 7);
    }
}
