//! Decides how much of the tail of lateness a sleeper covers that aims at a quantile: all that may not be late, unless
//! that takes more CPU time than a fixed margin would.
//!
//! Pure: expectations in, a margin out.

const MILLION: u64 = 1_000_000;

/// What sleeps are expected to come to, on average.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Expected {
    pub(super) cpu_ns: u64,
    /// How many of a million end late.
    pub(super) late_ppm: u64,
}

impl Expected {
    /// All zero, for constants.
    pub(super) const NONE: Expected = Expected { cpu_ns: 0, late_ppm: 0 };

    /// Spinning until the deadline, or the end of a sleep that is late.
    pub(super) fn spin(left_ns: i64) -> Expected {
        Expected { cpu_ns: u64::try_from(left_ns).unwrap_or(0), late_ppm: if left_ns < 0 { MILLION } else { 0 } }
    }

    pub(super) fn plus_cpu(self, ns: u64) -> Expected {
        Expected { cpu_ns: self.cpu_ns.saturating_add(ns), ..self }
    }
}

/// How often something is so: an average in which each time weighs one in 256. All zero at first.
#[derive(Clone, Copy, Debug)]
pub(super) struct Share(u16);

impl Share {
    pub(super) const NONE: Share = Share(0);

    pub(super) fn learn(&mut self, is_so: bool) {
        self.0 = self.0 - self.0.div_ceil(256) + if is_so { u16::MAX / 256 } else { 0 };
    }

    /// What is expected if the second of two has this share.
    pub(super) fn mean(self, [first, second]: [Expected; 2]) -> Expected {
        let (share, all) = (u128::from(self.0), u128::from(u16::MAX));
        let mean =
            |first: u64, second: u64| ((u128::from(first) * (all - share) + u128::from(second) * share) / all) as u64;
        let late_ppm = mean(first.late_ppm, second.late_ppm);
        Expected { cpu_ns: mean(first.cpu_ns, second.cpu_ns), late_ppm }
    }
}

/// By how much margins are shorter than the tail, because CPU time is limited. All zero at first.
#[derive(Clone, Copy, Debug)]
pub(super) struct Uncovered(u32);

impl Uncovered {
    pub(super) const NOTHING: Uncovered = Uncovered(0);
    const STEP_NS: u32 = 1_000;
    /// Beyond that the margin is zero in any case.
    const MOST_NS: u32 = 100_000_000;
    /// A fixed margin that ends more of the sleeps late than this is no yardstick: the timer is coarse.
    const COARSE_PPM: u64 = MILLION / 2;

    pub(super) fn ns(self) -> u64 {
        self.0.into()
    }

    /// Moves by a microsecond, given what it leads to and what a fixed margin would lead to. What is expected comes from
    /// the past, so a sixteenth is left to spare.
    pub(super) fn adjust(&mut self, ours: Expected, fixed: Expected) {
        let is_dear = ours.cpu_ns > fixed.cpu_ns / 16 * 15 && fixed.late_ppm <= Self::COARSE_PPM;
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
        let expected = [Expected { cpu_ns: 0, late_ppm: 0 }, Expected { cpu_ns: 1_000, late_ppm: MILLION }];
        for (is_so, cpu_ns) in [(true, 980..=1_000), (false, 0..=20)] {
            (0..2_000).for_each(|_| share.learn(is_so));
            assert!(cpu_ns.contains(&share.mean(expected).cpu_ns), "{share:?}");
        }
    }

    #[test]
    fn a_coarse_timer_sets_no_limit() {
        let ours = Expected { cpu_ns: 280_000, late_ppm: 5_000 };
        for (late_ppm, expected_ns) in [(100_000, 1_000), (700_000, 0)] {
            let mut uncovered = Uncovered::NOTHING;
            uncovered.adjust(ours, Expected { cpu_ns: 20_000, late_ppm });
            assert_eq!(uncovered.ns(), expected_ns);
        }
    }
}
