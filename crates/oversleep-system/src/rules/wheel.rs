//! Linux's timer wheel, which ends socket timeouts: the longer they are, the coarser.

use oversleep_record::Nanos;

/// When a timeout on Linux's timer wheel ends: after whole ticks counted from the last one, at the next step of its
/// level, so that none ends early. The function is `calc_wheel_index` of
/// <https://github.com/torvalds/linux/blob/master/kernel/time/timer.c>, since 4.8.
pub fn wheel_end(tick: Nanos, now: Nanos, span: Nanos) -> Nanos {
    let ticks = span.round_up_to(tick).0 / tick.0;
    let expires = now.0.div_euclid(tick.0) + ticks;
    let shift = wheel_shift(ticks);
    Nanos(((expires >> shift) + 1) << shift) * tick.0
}

/// When such a timeout ended before Linux 4.8: after whole ticks counted from the last one, so that it could end up to one
/// tick early. The wheel kept every tick apart (`__internal_add_timer`), and `schedule_timeout` added none.
pub fn old_wheel_end(tick: Nanos, now: Nanos, span: Nanos) -> Nanos {
    let ticks = (span.round_up_to(tick).0 / tick.0).max(1);
    tick * (now.0.div_euclid(tick.0) + ticks)
}

/// The granularity of the wheel for a timeout of that length.
pub fn wheel_step(tick: Nanos, span: Nanos) -> Nanos {
    let ticks = span.round_up_to(tick).0 / tick.0.max(1);
    tick * (1 << wheel_shift(ticks))
}

/// Bits of the tick count that the wheel drops: three more at each of its nine levels of 64 slots, from 63 ticks on.
fn wheel_shift(ticks: i64) -> u32 {
    (0..8).find(|level| ticks < 63 << (3 * level)).unwrap_or(8) * 3
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timeouts_are_kept_the_coarser_the_longer_they_are() {
        let tick = Nanos::from_millis(4);
        let step_ms = |ms| wheel_step(tick, Nanos::from_millis(ms)).0 / 1_000_000;
        assert_eq!([1, 248, 249, 2_012, 2_013, 10_000].map(step_ms), [4, 4, 32, 32, 256, 256]);
        // Jiffy 1, and 75 ticks: 76 is rounded up to the next multiple of 8, 80.
        let end = wheel_end(tick, Nanos(4_000_001), Nanos::from_millis(300));
        assert_eq!(end, Nanos::from_millis(320));
        assert_eq!(wheel_end(tick, Nanos(4_000_001), Nanos::from_millis(1)), Nanos::from_millis(12));
        for (ms, end_ms) in [(1, 8), (4, 8), (5, 12), (300, 304)] {
            assert_eq!(old_wheel_end(tick, Nanos(4_000_001), Nanos::from_millis(ms)), Nanos::from_millis(end_ms));
        }
    }
}
