//! Readings of the counter and of the operating system's clocks at the same moment.

use super::judge::Costs;
use super::machine::Machine;
use super::servo::{Pair, Readings, State};
use super::watch::Sight;

/// Tries for each of the first two pairs. In a noisy guest one try may be microseconds off; the best of 64 is within a
/// few nanoseconds, and costs about 5 µs.
const FIRST_TRIES: u32 = 64;
/// Tries for each pair of a later line. A quarter of the precision is enough over a longer baseline.
pub(super) const TRIES: u32 = 5;
/// Tries for pairs with a closing reading soon after them. Only the measured rate covers the time between the two.
const CLOSING_TRIES: u32 = 8;
const CLOSING_NS: u64 = 100_000;
/// Tries for reading the machine's suspended time, and how close the readings must be.
const SUSPENDED_TRIES: u32 = 64;
const SUSPENDED_WIDTH_NS: u64 = 50_000;
/// The time between the first two pairs. The first window is four times as long, which keeps the error of the rate
/// small; every later window measures over all the time since.
const FIRST_BASELINE_NS: u64 = 250_000;
/// Reads per batch and batches for the cost of a read.
const COST_READS: u32 = 16;
const COST_BATCHES: u32 = 8;

/// The best of `tries` pairs, each with the operating system's clock between two counter reads, and their distance.
pub(super) fn pair(machine: &impl Machine, tries: u32) -> (Pair, u64) {
    pair_of(machine, tries, || machine.monotonic_ns())
}

fn pair_of(machine: &impl Machine, tries: u32, read_ns: impl Fn() -> u64) -> (Pair, u64) {
    let mut best = Pair { ticks: 0, ns: 0 };
    let mut best_width = u64::MAX;
    for _ in 0..tries {
        let before = machine.ticks_ordered();
        let ns = read_ns();
        let after = machine.ticks_ordered();
        // If the counters of two cores differ, `after` may be below `before`. The width is then huge, and only the best
        // if there is no other.
        let width = after.wrapping_sub(before);
        if width < best_width {
            best = Pair { ticks: middle(before, after), ns };
            best_width = width;
        }
    }
    (best, best_width)
}

/// The counter beside the steady clock, on the processor this thread runs on.
pub(super) fn sight(machine: &impl Machine, tries: u32) -> Sight {
    let (pair, width) = pair_of(machine, tries, || machine.steady_ns());
    Sight { pair, width, cpu: machine.cpu() }
}

/// The input of the next line. The closing reading follows soon after the pairs.
pub(super) fn readings(machine: &impl Machine, tries: u32) -> Readings {
    let mut tries_left = CLOSING_TRIES;
    loop {
        let (suspended_ns, sight) = (suspended_ns(machine), sight(machine, tries));
        let (pair, _) = pair(machine, tries);
        let (after_ns, closing) = (machine.monotonic_ns(), machine.ticks_ordered());
        let Sight { pair: steady, width, cpu } = sight;
        let readings = Readings { pair, steady, width, closing, suspended_ns, cpu };
        tries_left -= 1;
        if after_ns.saturating_sub(pair.ns) <= CLOSING_NS || tries_left == 0 {
            return readings;
        }
    }
}

/// The middle of two readings, even across a wrap: a hypervisor may give its guest a counter that starts below zero.
fn middle(before: u64, after: u64) -> u64 {
    before.wrapping_add(after.wrapping_sub(before) / 2)
}

/// How long the machine has been suspended since boot, plus a constant: how far the clock that includes suspend is
/// ahead of the one that doesn't. The closest readings count, because losing the processor between two falsifies them.
pub(super) fn suspended_ns(machine: &impl Machine) -> u64 {
    let (mut best_ns, mut best_width_ns) = (0, u64::MAX);
    for _ in 0..SUSPENDED_TRIES {
        let before_ns = machine.monotonic_ns();
        let continuous_ns = machine.continuous_ns();
        let after_ns = machine.monotonic_ns();
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

/// The first state, from readings a quarter of a millisecond apart. Spins for about 0.3 ms. `None` where the system's
/// clock stands still meanwhile: between two ticks of 100 Hz it is read two million times at most.
pub(super) fn first_state(machine: &impl Machine) -> Option<State> {
    const READS_MAX: u32 = 1 << 23;
    let first = readings(machine, FIRST_TRIES);
    (0..READS_MAX).find(|_| {
        std::hint::spin_loop();
        machine.monotonic_ns() >= first.pair.ns + FIRST_BASELINE_NS
    })?;
    State::calibrated(&first, &readings(machine, FIRST_TRIES))
}

/// What a read of the counter and one of the operating system's clock cost, at best. Takes about 5 µs.
pub(super) fn costs(machine: &impl Machine) -> Costs {
    let best_ns = |read: &dyn Fn() -> u64| {
        let batch_ns = || {
            let start_ns = machine.monotonic_ns();
            for _ in 0..COST_READS {
                std::hint::black_box(read());
            }
            machine.monotonic_ns().saturating_sub(start_ns) / u64::from(COST_READS)
        };
        (0..COST_BATCHES).map(|_| batch_ns()).min().unwrap_or(0)
    };
    Costs { counter_ns: best_ns(&|| machine.ticks()), os_ns: best_ns(&|| machine.monotonic_ns()) }
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
