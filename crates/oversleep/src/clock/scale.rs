//! From counter ticks to nanoseconds: one 128-bit multiplication and one shift.
//!
//! Pure arithmetic. The factor is a 64-bit fixed-point number; a rate has as many fraction bits as fit, a line has 48.
//! A factor pre-divided in integers would be 1.6 % wrong at 24 MHz.

/// Nanoseconds per tick as `factor / 2^shift`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Scale {
    pub(crate) factor: u64,
    pub(crate) shift: u32,
}

impl Scale {
    /// The scale of a counter that advances `ticks` ticks in `ns` nanoseconds. `None` if either is zero, or the counter
    /// is slower than one tick per 32,768 ns (30.5 kHz) or faster than 8,192 ticks per nanosecond.
    pub(crate) fn of(ns: u64, ticks: u64) -> Option<Self> {
        if ns == 0 || ticks == 0 {
            return None;
        }
        // The largest shift, up to 63, at which the factor with its integer part fits in 64 bits.
        let whole_bits = u64::BITS - (ns / ticks).leading_zeros();
        let shift = (u64::BITS - whole_bits).min(63);
        let factor = round_div(u128::from(ns) << shift, u128::from(ticks));
        // Rounding up can reach exactly 2^64, which then takes one fraction bit less.
        let (factor, shift) = match u64::try_from(factor) {
            Ok(factor) => (factor, shift),
            Err(_) => ((factor >> 1) as u64, shift - 1),
        };
        (factor >= 1 << 50 && whole_bits <= 15).then_some(Self { factor, shift })
    }

    /// The scale of a counter of `hz` ticks per second.
    #[cfg(test)]
    pub(crate) fn of_hz(hz: u64) -> Option<Self> {
        Self::of(1_000_000_000, hz)
    }

    /// Nanoseconds in `ticks`, rounded down. The whole range of ticks is valid.
    pub(crate) fn wide_ns(self, ticks: u64) -> u128 {
        (u128::from(ticks) * u128::from(self.factor)) >> self.shift
    }

    /// Nanoseconds in `ticks`, rounded down, saturating.
    pub(crate) fn saturating_ns(self, ticks: u64) -> u64 {
        u64::try_from(self.wide_ns(ticks)).unwrap_or(u64::MAX)
    }

    /// Ticks in `ns` nanoseconds, rounded down, saturating.
    pub(crate) fn ticks(self, ns: u64) -> u64 {
        u64::try_from((u128::from(ns) << self.shift) / u128::from(self.factor)).unwrap_or(u64::MAX)
    }

    /// Ticks per second, rounded.
    pub(crate) fn hz(self) -> u64 {
        round_div(1_000_000_000_u128 << self.shift, u128::from(self.factor)) as u64
    }

    /// This scale, slower by `part` of `whole`, and by half at most.
    pub(crate) fn slower(self, part: u64, whole: u64) -> Self {
        let cut = u128::from(self.factor) * u128::from(part) / u128::from(whole.max(1));
        Self { factor: self.factor - (cut.min(u128::from(self.factor / 2)) as u64), ..self }
    }

    /// This scale for a line. It is slower by less than one part in 2^34, which is negligible over the 0.1 s of a line.
    pub(crate) fn slope(self) -> Slope {
        // The shift is at least SLOPE_SHIFT, because `of` allows at most 15 bits of whole nanoseconds.
        Slope { factor: self.factor >> (self.shift - SLOPE_SHIFT) }
    }
}

const SLOPE_SHIFT: u32 = 48;

/// Nanoseconds per tick as `factor / 2^48`. The constant shift saves three instructions and a load in each clock read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slope {
    pub(crate) factor: u64,
}

impl Slope {
    /// Nanoseconds in `ticks`, rounded down, for fewer than 2^48 ticks, at least half a minute. The shift comes first,
    /// so that only the upper half of the product is needed.
    #[inline]
    pub(crate) fn short_ns(self, ticks: u64) -> u64 {
        debug_assert!(ticks >> SLOPE_SHIFT == 0);
        ((u128::from(ticks << (u64::BITS - SLOPE_SHIFT)) * u128::from(self.factor)) >> 64) as u64
    }

    /// Nanoseconds in any number of ticks, rounded down, saturating.
    pub(crate) fn saturating_ns(self, ticks: u64) -> u64 {
        u64::try_from((u128::from(ticks) * u128::from(self.factor)) >> SLOPE_SHIFT).unwrap_or(u64::MAX)
    }

    /// The fewest ticks in which `ns` pass, saturating.
    pub(crate) fn ticks(self, ns: u64) -> u64 {
        let ticks = (u128::from(ns) << SLOPE_SHIFT).div_ceil(u128::from(self.factor.max(1)));
        u64::try_from(ticks).unwrap_or(u64::MAX)
    }
}

fn round_div(dividend: u128, divisor: u128) -> u128 {
    dividend / divisor + u128::from(dividend % divisor >= divisor.div_ceil(2))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Frequencies of real counters: Raspberry Pi, Apple and Windows on ARM, a newer Pi, server ARM, a fast TSC, and
    /// the ACPI timer.
    const HZ: [u64; 9] = [
        19_200_000,
        24_000_000,
        54_000_000,
        1_000_000_000,
        2_596_099_000,
        5_000_000_000,
        3_579_545,
        10_000_000,
        100_000_000,
    ];
    const CENTURY_S: u64 = 3_155_760_000;

    fn exact_ns(ticks: u64, hz: u64) -> u128 {
        u128::from(ticks) * 1_000_000_000 / u128::from(hz)
    }

    /// Whether the error is at most 2 ns. Rounding the factor to 2^-63 makes an error of about `ticks / 2^64` ns, and 2
    /// ns covers a century at every frequency in `HZ`.
    fn close(ticks: u64, hz: u64) -> bool {
        Scale::of_hz(hz).unwrap().wide_ns(ticks).abs_diff(exact_ns(ticks, hz)) <= 2
    }

    #[test]
    fn a_century_is_exact_at_every_real_frequency() {
        for hz in HZ {
            let Some(century) = CENTURY_S.checked_mul(hz) else { panic!("{hz} Hz wraps within a century") };
            assert!(close(century, hz), "{hz}");
            assert!(close(1, hz) && close(0, hz) && close(hz, hz), "{hz}");
        }
    }

    #[test]
    fn absurd_rates_have_no_scale() {
        assert_eq!(Scale::of(0, 5), None);
        assert_eq!(Scale::of(5, 0), None);
        assert_eq!(Scale::of(u64::MAX, 1), None);
        assert_eq!(Scale::of(1, u64::MAX), None);
        assert_eq!(Scale::of(1 << 15, 1), None);
        assert_eq!(Scale::of(1, 1 << 14), None);
    }

    #[test]
    fn every_rate_that_has_a_scale_has_a_slope() {
        for (ns, ticks) in
            [((1 << 15) - 1, 1), (u64::MAX >> 16, (1 << 33) + 1), (1, 1), (1, 1 << 13), (1 << 40, 1 << 53)]
        {
            let scale = Scale::of(ns, ticks).unwrap();
            assert!(scale.shift >= SLOPE_SHIFT && scale.slope().factor > 0, "{ns} ns in {ticks} ticks");
        }
    }

    #[test]
    fn slower_subtracts_exactly_the_part() {
        let scale = Scale::of_hz(1_000_000_000).unwrap();
        assert_eq!(scale.slower(0, 10), scale);
        assert_eq!(scale.slower(1, 1000).wide_ns(1_000_000), 999_000);
        assert_eq!(scale.slower(9, 10).wide_ns(1000), 500);
    }

    proptest! {
        #[test]
        fn a_slope_gives_a_time_after_these_ticks_and_not_before(factor in 1_u64 << 40..1 << 58, ns in 1_u64..1 << 28) {
            let slope = Slope { factor };
            let ticks = slope.ticks(ns);
            prop_assert!(slope.saturating_ns(ticks) >= ns && slope.saturating_ns(ticks - 1) < ns, "{ticks}");
        }

        #[test]
        fn conversion_agrees_with_exact_arithmetic(pick in 0..HZ.len(), ticks: u64) {
            let hz = HZ[pick];
            // Beyond a century the bound grows with the ticks.
            let bound = 2 + ticks / (CENTURY_S * hz);
            let scale = Scale::of_hz(hz).unwrap();
            prop_assert!(scale.wide_ns(ticks).abs_diff(exact_ns(ticks, hz)) <= u128::from(bound));
        }

        #[test]
        fn any_plausible_frequency_agrees(hz in 1_000_000_u64..10_000_000_000, seconds in 0_u64..1_000_000) {
            prop_assert!(close(seconds * hz, hz));
            prop_assert!(close(seconds * hz + hz / 3, hz));
        }

        #[test]
        fn the_short_conversion_agrees(hz in 1_000_000_u64..10_000_000_000, ticks in 0..1_u64 << 48) {
            let slope = Scale::of_hz(hz).unwrap().slope();
            prop_assert_eq!(slope.short_ns(ticks), slope.saturating_ns(ticks));
        }

        #[test]
        fn a_line_is_as_exact_as_its_rate(hz in 1_000_000_u64..10_000_000_000, tenths in 0..100_u64) {
            let ticks = hz / 10 * tenths;
            let scale = Scale::of_hz(hz).unwrap();
            let lost_ns = scale.saturating_ns(ticks) - scale.slope().saturating_ns(ticks);
            prop_assert!(lost_ns <= 1);
        }

        #[test]
        fn conversion_is_monotonic(hz in 1_000_000_u64..10_000_000_000, ticks in 0..u64::MAX) {
            let scale = Scale::of_hz(hz).unwrap();
            prop_assert!(scale.wide_ns(ticks) <= scale.wide_ns(ticks + 1));
        }

        #[test]
        fn ticks_and_back(hz in 1_000_000_u64..10_000_000_000, ns in 0..1_u64 << 60) {
            let scale = Scale::of_hz(hz).unwrap();
            let back = scale.saturating_ns(scale.ticks(ns));
            let tick_ns = 1_000_000_000 / hz + 2;
            prop_assert!(back <= ns && ns - back <= tick_ns);
        }

        #[test]
        fn frequency_survives_conversion(hz in 1_000_000_u64..10_000_000_000) {
            prop_assert_eq!(Scale::of_hz(hz).unwrap().hz(), hz);
        }
    }
}
