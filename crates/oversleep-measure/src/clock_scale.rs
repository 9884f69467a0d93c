//! From a clock's raw units to nanoseconds, in wide integers.

use oversleep_record::{Nanos, Unavailable};
use oversleep_system::{Clock, Platform};

use super::still::{Reads, StillClock};

/// The conversion of a raw value: `ns = raw × numerator / denominator`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ClockScale {
    numerator: u64,
    denominator: u64,
    /// Ticks per second, where the raw value counts ticks.
    pub frequency_hz: Option<u64>,
    bits: u32,
}

impl ClockScale {
    /// The scale of a clock. A clock whose ticks have no stated frequency is calibrated for 10 ms.
    ///
    /// # Errors
    /// The reference clock or this one stood still meanwhile.
    pub(super) fn of(platform: &dyn Platform, clock: &dyn Clock) -> Result<ClockScale, Unavailable> {
        let info = clock.info();
        if let Some(length) = info.unit.length() {
            let numerator = length.0.unsigned_abs();
            return Ok(ClockScale { numerator, denominator: 1, frequency_hz: None, bits: info.bits });
        }
        let denominator = clock.stated_frequency_hz().map_or_else(|| calibrate(platform, clock), |hz| Ok(hz.max(1)))?;
        Ok(ClockScale { numerator: 1_000_000_000, denominator, frequency_hz: Some(denominator), bits: info.bits })
    }

    /// Extends a raw value beyond its bits, relative to the last extended value: a counter of 32 bits wraps repeatedly
    /// in a long run.
    pub(super) fn counted_on(&self, last: u64, raw: u64) -> u64 {
        last.wrapping_add(self.difference(last, raw) as u64)
    }

    /// The same scale for extended values.
    pub(super) fn of_values_counted_on(self) -> ClockScale {
        ClockScale { bits: 64, ..self }
    }

    fn difference(&self, from: u64, to: u64) -> i64 {
        let unused = 64 - self.bits;
        // Shifted to the top bits, the difference wraps where the clock does.
        ((to << unused).wrapping_sub(from << unused) as i64) >> unused
    }

    /// The time between two raw values. It is negative if the later value is smaller, unless a wrap of the clock is the
    /// shorter explanation.
    pub(super) fn span(&self, from: u64, to: u64) -> Nanos {
        let ns = i128::from(self.difference(from, to)) * i128::from(self.numerator) / i128::from(self.denominator);
        Nanos(ns.clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64)
    }

    /// How long until the raw value wraps; `None` beyond a century.
    pub(super) fn wraps_after(&self) -> Option<Nanos> {
        const CENTURY_NS: u128 = 100 * 365 * 24 * 3_600 * 1_000_000_000;
        let values = 1_u128 << self.bits;
        let ns = values * u128::from(self.numerator) / u128::from(self.denominator);
        (ns < CENTURY_NS).then(|| i64::try_from(ns).map_or(Nanos::MAX, Nanos))
    }
}

/// A counter reading with the time at which it was made, from the tightest of several brackets; if the reference clock
/// moves in ticks, from right after a tick.
fn anchor(platform: &dyn Platform, clock: &dyn Clock) -> Result<(u64, Nanos), Unavailable> {
    let bracketed = || {
        (0..32)
            .map(|_| {
                let before = platform.now();
                let raw = clock.read();
                let after = platform.now();
                (after - before, raw, Nanos(before.0 + (after - before).0 / 2))
            })
            .min_by_key(|(width, ..)| *width)
            .expect("there are brackets")
    };
    let (width, raw, at) = bracketed();
    if width > Nanos::ZERO {
        return Ok((raw, at));
    }
    let mut still = StillClock::default();
    loop {
        let now = platform.now();
        if now != at {
            return Ok((clock.read(), now));
        }
        still.note(now, Reads::ONE)?;
        platform.relax();
    }
}

/// Ticks per second by the reference clock.
fn calibrate(platform: &dyn Platform, clock: &dyn Clock) -> Result<u64, Unavailable> {
    let (first_raw, first_at) = anchor(platform, clock)?;
    let mut still = StillClock::default();
    loop {
        let now = platform.now();
        if now - first_at >= Nanos::from_millis(10) {
            break;
        }
        still.note(now, Reads::ONE)?;
        platform.relax();
    }
    let (last_raw, last_at) = anchor(platform, clock)?;
    let ticks = i128::from(last_raw.wrapping_sub(first_raw));
    let span = i128::from((last_at - first_at).0).max(1);
    let hz = u64::try_from(ticks * 1_000_000_000 / span).ok().filter(|&hz| hz > 0);
    hz.ok_or_else(|| Unavailable::failed("calibrating a counter", "it did not move forward in 10 ms"))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use oversleep_model::sim::Sim;
    use oversleep_system::{ClockInfo, clocks, describe};

    use super::*;
    use crate::testing::{self, Altered};

    /// A counter of a gigahertz that states no frequency.
    struct Counter(Arc<Sim>);

    impl Clock for Counter {
        fn info(&self) -> &ClockInfo {
            describe!(clocks::LINUX, "tsc")
        }
        fn available(&self) -> Result<(), Unavailable> {
            Ok(())
        }
        fn stated_frequency_hz(&self) -> Option<u64> {
            None
        }
        fn stated_step_ns(&self) -> Option<Nanos> {
            None
        }
        fn read(&self) -> u64 {
            self.0.now().0 as u64
        }
        fn read_batch(&self, count: u64) {
            (0..count).for_each(|_| _ = self.read());
        }
        fn read_into(&self, out: &mut [u64]) {
            out.fill_with(|| self.read());
        }
    }

    /// Between two readings of a clock of jiffies lies a whole number of them: 10 ms may show as 8 or 12.
    #[test]
    fn a_counter_is_calibrated_on_a_clock_that_moves_by_jiffies() {
        for step in [1, 1_000_000, 4_000_000, 10_000_000] {
            let sim = Sim::start(testing::machine().build());
            let begun = Nanos(step * 5 / 8);
            let jiffies =
                Altered::around(Arc::clone(&sim)).showing(move |now| (now + begun).round_down_to(Nanos(step)));
            let hz = calibrate(&jiffies, &Counter(sim)).unwrap();
            assert!(hz.abs_diff(1_000_000_000) < 100_000, "{step}: {hz}");
        }
    }

    fn scale(numerator: u64, denominator: u64, bits: u32) -> ClockScale {
        ClockScale { numerator, denominator, frequency_hz: None, bits }
    }

    #[test]
    fn exact_for_odd_frequencies() {
        let acpi = scale(1_000_000_000, 3_579_545, 64);
        assert_eq!(acpi.span(0, 3_579_545 * 3_600), Nanos::from_secs(3_600));
        assert_eq!(acpi.span(3_579_545, 0), Nanos::from_secs(-1), "a backward step stays one");
    }

    #[test]
    fn narrow_clocks_wrap() {
        let milliseconds = scale(1_000_000, 1, 32);
        assert_eq!(milliseconds.span(u64::from(u32::MAX), 4), Nanos::from_millis(5));
        assert_eq!(milliseconds.wraps_after(), Some(Nanos(4_294_967_296_000_000)), "49.7 days");
        assert_eq!(scale(1, 1, 64).wraps_after(), None);
        // Seven weeks each.
        let mut counted = 0;
        for turn in 0..100_u64 {
            for raw in [7, 1 << 31, u64::from(u32::MAX)] {
                counted = milliseconds.counted_on(counted, raw);
                assert_eq!(counted, (turn << 32) + raw);
            }
        }
        assert_eq!(milliseconds.counted_on(counted, u64::from(u32::MAX) - 5), counted - 5, "a backward step stays one");
    }
}
