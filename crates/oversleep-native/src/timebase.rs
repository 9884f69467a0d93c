//! Mach's timebase: `numer/denom` ns per tick, 125/3 on Apple silicon and 1/1 on Intel. All arithmetic is wide, because
//! a pre-divided factor would be off by a percent or more.

/// Nanoseconds per tick, as a fraction. Neither part is zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Timebase {
    numer: u32,
    denom: u32,
}

impl Timebase {
    /// One tick per nanosecond.
    pub(super) const NANOSECONDS: Timebase = Timebase { numer: 1, denom: 1 };

    /// `numer / denom` ns per tick; `None` if either is zero.
    pub(super) fn new(numer: u32, denom: u32) -> Option<Timebase> {
        (numer > 0 && denom > 0).then_some(Timebase { numer, denom })
    }

    /// Nanoseconds in this many ticks, rounded down like the system's own conversion.
    pub(super) fn nanos(self, ticks: u64) -> u64 {
        let nanos = u128::from(ticks) * u128::from(self.numer) / u128::from(self.denom);
        u64::try_from(nanos).unwrap_or(u64::MAX)
    }

    /// Ticks of at least this many nanoseconds, so that a deadline is never a fraction of a tick early.
    pub(super) fn ticks_up(self, nanos: u64) -> u64 {
        let ticks = (u128::from(nanos) * u128::from(self.denom)).div_ceil(u128::from(self.numer));
        u64::try_from(ticks).unwrap_or(u64::MAX)
    }

    /// Ticks per second, rounded to the nearest.
    pub(super) fn hz(self) -> u64 {
        let (numer, denom) = (u64::from(self.numer), u64::from(self.denom));
        (1_000_000_000 * denom + numer / 2) / numer
    }
}

/// As Mach writes it: `125/3`.
impl std::fmt::Display for Timebase {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.numer, self.denom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn apple_silicon_counts_24_million_ticks_a_second() {
        let base = Timebase::new(125, 3).expect("no zero");
        assert_eq!(base.hz(), 24_000_000);
        assert_eq!(base.nanos(24_000_000), 1_000_000_000);
        assert_eq!(base.nanos(1), 41, "41.67, rounded down");
        assert_eq!(base.ticks_up(1), 1);
        assert_eq!(base.ticks_up(1_000_000), 24_000);
        assert_eq!(base.ticks_up(1_000_001), 24_001);
        assert_eq!(base.to_string(), "125/3");
    }

    #[test]
    fn a_deadline_in_ticks_is_never_early() {
        for base in [(125, 3), (1, 1), (1_000, 19), (3, 125)].map(|(n, d)| Timebase::new(n, d).expect("no zero")) {
            for nanos in [0, 1, 41, 42, 999_999_999, 86_400_000_000_000, 1 << 50] {
                let ticks = base.ticks_up(nanos);
                assert!(base.nanos(ticks) >= nanos, "{base}: {nanos}");
                assert!(ticks == 0 || base.nanos(ticks - 1) < nanos, "{base}: {nanos} is not the first such tick");
            }
        }
    }

    #[test]
    fn centuries_do_not_overflow() {
        let base = Timebase::new(125, 3).expect("no zero");
        // In a 64-bit product, two years of ticks would overflow at a timebase with a numerator of 10^9.
        let slow = Timebase::new(1_000_000_000, 24_000_000).expect("no zero");
        let year = 365 * 86_400 * 24_000_000;
        assert_eq!(slow.nanos(year * 10), base.nanos(year * 10));
        assert_eq!(base.nanos(u64::MAX), u64::MAX);
        assert_eq!(Timebase::new(3, 125).expect("no zero").ticks_up(u64::MAX), u64::MAX);
        assert_eq!((Timebase::NANOSECONDS.hz(), Timebase::NANOSECONDS.nanos(7)), (1_000_000_000, 7));
        assert_eq!(Timebase::new(0, 3).or(Timebase::new(125, 0)), None);
    }
}
