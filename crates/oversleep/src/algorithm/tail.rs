//! Decides how much of the tail of lateness a sleeper covers that aims at a quantile: all that may not be late, unless
//! that takes more CPU time than a fixed margin would.
//!
//! Pure: expectations in, a margin out.

pub(crate) const MILLION: u64 = 1_000_000;

/// How often something is so: an average in which each time weighs one in 256. All zero at first.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Share(u16);

impl Share {
    pub(crate) const NONE: Share = Share(0);

    pub(crate) fn learn(&mut self, is_so: bool) {
        self.0 = self.0 - self.0.div_ceil(256) + if is_so { u16::MAX / 256 } else { 0 };
    }

    /// The mean of two if the second has this share.
    pub(crate) fn mean(self, [first, second]: [u64; 2]) -> u64 {
        let (share, all) = (u128::from(self.0), u128::from(u16::MAX));
        ((u128::from(first) * (all - share) + u128::from(second) * share) / all) as u64
    }
}

/// By how much margins are shorter than the tail, because CPU time is limited. All zero at first.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Uncovered(u32);

impl Uncovered {
    pub(crate) const NOTHING: Uncovered = Uncovered(0);
    const STEP_NS: u32 = 1_000;
    /// Beyond that the margin is zero in any case.
    const MOST_NS: u32 = 100_000_000;
    /// A fixed margin that ends more of the sleeps late than this is no yardstick: the timer is coarse.
    const COARSE_PPM: u64 = MILLION / 2;

    pub(crate) fn ns(self) -> u64 {
        self.0.into()
    }

    /// Moves by a microsecond, given the CPU time of a sleep, that of one with a fixed margin, and how many of a million
    /// would be late with that. What is expected comes from the past, so a sixteenth is left to spare.
    pub(crate) fn adjust(&mut self, cpu_ns: u64, fixed_cpu_ns: u64, fixed_late_ppm: u64) {
        let is_dear = cpu_ns > fixed_cpu_ns / 16 * 15 && fixed_late_ppm <= Self::COARSE_PPM;
        self.0 =
            if is_dear { (self.0 + Self::STEP_NS).min(Self::MOST_NS) } else { self.0.saturating_sub(Self::STEP_NS) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_follows_what_is_so() {
        let mut share = Share::NONE;
        for (is_so, cpu_ns) in [(true, 980..=1_000), (false, 0..=20)] {
            (0..2_000).for_each(|_| share.learn(is_so));
            assert!(cpu_ns.contains(&share.mean([0, 1_000])), "{share:?}");
        }
    }

    #[test]
    fn a_coarse_timer_sets_no_limit() {
        for (late_ppm, expected_ns) in [(100_000, 1_000), (700_000, 0)] {
            let mut uncovered = Uncovered::NOTHING;
            uncovered.adjust(280_000, 20_000, late_ppm);
            assert_eq!(uncovered.ns(), expected_ns);
        }
    }
}
