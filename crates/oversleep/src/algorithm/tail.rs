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

/// Whether more sleeps end late than aimed at, stalls aside, though the margin covered what had been seen. All zero at
/// first.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Missed {
    late: Share,
    is_stalled: bool,
    wants_slice: bool,
}

impl Missed {
    /// Waits spread widely where a fixed margin leaves this many late.
    const BROAD_PPM: u64 = MILLION / 20;
    pub(crate) const NOTHING: Missed = Missed { late: Share::NONE, is_stalled: false, wants_slice: false };

    /// A wait has ended, with a stall or without.
    pub(crate) fn waited(&mut self, is_stalled: bool) {
        self.is_stalled = is_stalled;
    }

    /// The waits of a sleep are over, in time or not.
    pub(crate) fn ended(&mut self, is_late: bool) {
        if !self.is_stalled {
            self.late.learn(is_late);
        }
    }

    /// Whether more than a third of the sleeps that may be late are. `broad_ppm` of them would be with a fixed margin.
    pub(crate) fn judge(&mut self, late_one_in: u64, broad_ppm: u64) -> bool {
        let is_missed = self.late.mean([0, MILLION]) > MILLION / (3 * late_one_in);
        self.wants_slice = is_missed && broad_ppm < Self::BROAD_PPM;
        is_missed
    }

    /// Whether short slices may help: the aim is missed, and not because waits spread widely.
    pub(crate) fn wants_slice(self) -> bool {
        self.wants_slice
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

    pub(crate) fn ns(self) -> u64 {
        self.0.into()
    }

    /// Moves towards what the CPU time allows, given what is too much of it: by an eighth of that, or a microsecond back.
    pub(crate) fn adjust(&mut self, dear_ns: u64) {
        self.0 = match dear_ns {
            0 => self.0.saturating_sub(Self::STEP_NS),
            _ => self.0 + (dear_ns / 8).clamp(Self::STEP_NS.into(), Self::MOST_NS.into()) as u32,
        };
        self.0 = self.0.min(Self::MOST_NS);
    }
}

/// What a sleep with a fixed margin would take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Yardstick {
    pub(crate) cpu_ns: u64,
    /// How many of a million would end late.
    pub(crate) late_ppm: u64,
}

impl Yardstick {
    /// A fixed margin that ends more of the sleeps late than this is no yardstick: the timer is coarse.
    const COARSE_PPM: u64 = MILLION / 2;

    /// What comes is expected from the past, so a thirty-second of the CPU time is left to spare.
    fn spare_ns(self) -> u64 {
        self.cpu_ns / 32
    }

    /// By how much that CPU time is too much.
    pub(crate) fn dear_ns(self, cpu_ns: u64) -> u64 {
        let limit_ns = if self.late_ppm > Self::COARSE_PPM { u64::MAX } else { self.cpu_ns - self.spare_ns() };
        cpu_ns.saturating_sub(limit_ns)
    }

    /// The fixed margin without what is to spare. A nanosecond of margin takes at most one of CPU time.
    pub(crate) fn shorten(self, fixed_ns: u64) -> u64 {
        fixed_ns.saturating_sub(self.spare_ns())
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
    fn a_stall_is_no_miss_of_the_aim() {
        for (is_stalled, is_missed) in [(true, false), (false, true)] {
            let mut missed = Missed::NOTHING;
            for at in 0..2_000 {
                missed.waited(is_stalled && at % 50 == 0);
                missed.ended(at % 50 == 0);
            }
            for broad_ppm in [10_000, 200_000] {
                assert_eq!(missed.judge(100, broad_ppm), is_missed, "{missed:?}");
                assert_eq!(missed.wants_slice(), is_missed && broad_ppm == 10_000, "{missed:?}");
            }
            (0..2_000).for_each(|_| missed.ended(false));
            assert!(!missed.judge(100, 0), "{missed:?}");
        }
    }

    #[test]
    fn a_coarse_timer_sets_no_limit() {
        for (late_ppm, expected_ns) in [(100_000, 128), (700_000, 0)] {
            let yardstick = Yardstick { cpu_ns: 160_000, late_ppm };
            assert_eq!(yardstick.dear_ns(155_128), expected_ns);
        }
    }

    #[test]
    fn what_is_far_too_dear_is_given_up_in_large_steps() {
        let mut uncovered = Uncovered::NOTHING;
        for (dear_ns, expected_ns) in [(16_000, 2_000), (100, 3_000), (0, 2_000), (0, 1_000), (0, 0), (0, 0)] {
            uncovered.adjust(dear_ns);
            assert_eq!(uncovered.ns(), expected_ns);
        }
        uncovered.adjust(u64::MAX);
        uncovered.adjust(u64::MAX);
        assert_eq!(uncovered.ns(), u64::from(Uncovered::MOST_NS));
    }
}
