//! How long before a deadline the operating system should wake the thread, learned from how late it does.
//!
//! Pure: lateness in, a margin out. Each class of durations has its own [`Learned`], because a processor that idles
//! longer reaches deeper idle states.

/// Sixteen buckets per octave, so a margin exceeds the lateness it covers by at most 1/16.
const BUCKETS_PER_OCTAVE: u64 = 16;
/// Lateness below 2^10 ns falls into the first bucket, lateness from 2^26 ns (67 ms) on into the last.
const FIRST_OCTAVE: u32 = 10;
const OCTAVES: u32 = 16;
const BUCKETS: usize = OCTAVES as usize * BUCKETS_PER_OCTAVE as usize;

/// Every count is halved at this many samples, so a changed machine is learned within a few thousand sleeps.
const MEMORY: u32 = 2_048;
/// Below this many samples, each one moves the margin.
const FEW: u32 = 16;
/// One wake-up in this many may go uncovered although the margin could reach it.
///
/// A margin that covers them all would spin against lateness caused by other threads or the hypervisor. No margin
/// prevents that, and a thread that has used up its share by spinning is scheduled later the next time.
const UNCOVERED: u32 = 400;

/// The lateness of this machine's wake-ups for one class of durations, and the margin that follows from it.
#[derive(Clone, Debug)]
pub(super) struct Learned {
    counts: [u16; BUCKETS],
    total: u32,
    due: u32,
    median_ns: u64,
    margin_ns: u64,
}

impl Learned {
    /// The first guess: four assumed wake-ups and a margin that covers them. They keep a stall in the first real sleep
    /// from becoming the rule, and keep the margin wide for a few hundred sleeps.
    pub(super) const fn assuming(lateness_ns: [u64; 4], median_ns: u64, margin_ns: u64) -> Self {
        let mut counts = [0; BUCKETS];
        let mut i = 0;
        while i < lateness_ns.len() {
            counts[bucket(lateness_ns[i])] += 1;
            i += 1;
        }
        Self { counts, total: lateness_ns.len() as u32, due: 1, median_ns, margin_ns }
    }

    /// The margin: how long before the deadline to request the wake-up. At most the median plus `reach_ns`, because the
    /// margin may have been learned with a longer reach.
    pub(super) fn margin_within_ns(&self, reach_ns: u64) -> u64 {
        self.margin_ns.min(self.median_ns.saturating_add(reach_ns))
    }

    /// The margin as it was learned.
    #[cfg(test)]
    pub(super) fn margin_ns(&self) -> u64 {
        self.margin_ns
    }

    /// The median lateness, to a sixteenth.
    pub(super) fn median_ns(&self) -> u64 {
        self.median_ns
    }

    /// Adds the lateness of a wake-up. The margin becomes at most the median lateness plus `reach_ns`.
    pub(super) fn learn(&mut self, lateness_ns: u64, reach_ns: u64) {
        self.counts[bucket(lateness_ns)] += 1;
        self.total += 1;
        if self.total == MEMORY {
            for count in &mut self.counts {
                *count /= 2;
            }
            self.total = self.counts.iter().map(|&count| u32::from(count)).sum();
        }
        self.due -= 1;
        if self.due == 0 {
            self.median_ns = self.at_rank_ns(self.total.div_ceil(2));
            self.margin_ns = self.best_margin_ns(reach_ns);
            // Computing the margin takes about 0.1 µs, and it moves slowly once there are many samples.
            self.due = (self.total / FEW).clamp(1, 8);
        }
    }

    fn best_margin_ns(&self, reach_ns: u64) -> u64 {
        let cap_ns = self.median_ns.saturating_add(reach_ns);
        let reached = self.counts[..=bucket(cap_ns)].iter().map(|&count| u32::from(count)).sum::<u32>();
        self.at_rank_ns(reached.saturating_sub(self.total / UNCOVERED)).clamp(self.median_ns, cap_ns)
    }

    /// The upper end of the bucket that holds the sample of this rank, counted from 1.
    fn at_rank_ns(&self, rank: u32) -> u64 {
        let mut seen = 0;
        let index = self.counts.iter().position(|&count| {
            seen += u32::from(count);
            seen >= rank
        });
        upper_ns(index.unwrap_or(BUCKETS - 1))
    }
}

const fn bucket(ns: u64) -> usize {
    if ns < 1 << FIRST_OCTAVE {
        return 0;
    }
    let octave = ns.ilog2();
    if octave >= FIRST_OCTAVE + OCTAVES {
        return BUCKETS - 1;
    }
    let within = (ns >> (octave - BUCKETS_PER_OCTAVE.ilog2())) % BUCKETS_PER_OCTAVE;
    ((octave - FIRST_OCTAVE) as u64 * BUCKETS_PER_OCTAVE + within) as usize
}

fn upper_ns(bucket: usize) -> u64 {
    let (octave, within) = (bucket as u64 / BUCKETS_PER_OCTAVE, bucket as u64 % BUCKETS_PER_OCTAVE);
    (BUCKETS_PER_OCTAVE + within + 1) << (u64::from(FIRST_OCTAVE) + octave) >> BUCKETS_PER_OCTAVE.ilog2()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const REACH_NS: u64 = 45_000;

    fn learned(samples: impl IntoIterator<Item = u64>) -> Learned {
        let mut learned = Learned::assuming([30_000, 30_000, 30_000, 66_000], 30_000, 70_000);
        for lateness_ns in samples {
            learned.learn(lateness_ns, REACH_NS);
        }
        learned
    }

    #[test]
    fn without_samples_the_margin_is_the_first_guess() {
        assert_eq!(learned([]).margin_ns(), 70_000);
    }

    #[test]
    fn a_stall_in_the_first_sleep_does_not_become_the_rule() {
        for stalls in 0..4 {
            let margin_ns = learned(std::iter::repeat_n(5_000_000, stalls)).margin_ns();
            assert!((66_000..=70_000 + 1).contains(&margin_ns), "{stalls}: {margin_ns}");
        }
        // A machine that is always this late is still learned.
        assert!(learned(std::iter::repeat_n(5_000_000, 10)).margin_ns() >= 5_000_000);
    }

    #[test]
    fn an_even_spread_is_covered_almost_whole() {
        let margin_ns = learned((0..2_000).map(|i| 10_000 + i % 1_000 * 40)).margin_ns();
        // 99.75 % of 10–50 µs, plus up to a sixteenth.
        assert!((49_500..53_200).contains(&margin_ns), "{margin_ns}");
    }

    #[test]
    fn rare_stalls_do_not_widen_the_margin() {
        // On an oversubscribed machine 98 of 100 wake-ups are within 20 µs; the others are milliseconds late, out of
        // reach.
        let margin_ns =
            learned((0..2_000).map(|i| if i % 50 == 0 { 3_000_000 } else { 12_000 + i % 8 * 1_000 })).margin_ns();
        assert!((18_000..21_000).contains(&margin_ns), "{margin_ns}");
    }

    #[test]
    fn one_in_a_thousand_is_left_uncovered() {
        let margin_ns = learned((1..2_000).map(|i| if i % 1_000 == 0 { 50_000 } else { 15_000 })).margin_ns();
        assert!((15_000..17_000).contains(&margin_ns), "{margin_ns}");
        // One in fifty is covered.
        let margin_ns = learned((1..2_000).map(|i| if i % 50 == 0 { 50_000 } else { 15_000 })).margin_ns();
        assert!((50_000..54_000).contains(&margin_ns), "{margin_ns}");
    }

    #[test]
    fn the_reach_bounds_the_margin() {
        let margin_ns = learned((0..2_000).map(|i| 10_000 + i % 100 * 10_000)).margin_ns();
        let median_ns = 510_000;
        assert!(margin_ns <= median_ns + median_ns / 16 + REACH_NS, "{margin_ns}");
    }

    #[test]
    fn a_constant_lateness_costs_no_spinning() {
        // With a 15.6 ms tick the margin equals the lateness, which leaves little to spin.
        let margin_ns = learned(std::iter::repeat_n(15_600_000, 100)).margin_ns();
        assert!((15_600_000..=15_600_000 * 17 / 16).contains(&margin_ns), "{margin_ns}");
    }

    #[test]
    fn a_changed_machine_is_learned() {
        let quiet = std::iter::repeat_n(5_000, 10_000);
        let loud = std::iter::repeat_n(40_000, 2_048);
        assert!(learned(quiet.chain(loud)).margin_ns() >= 40_000);
    }

    proptest! {
        #[test]
        fn a_bucket_holds_its_values(ns in 1_024_u64..1 << 26) {
            let upper = upper_ns(bucket(ns));
            prop_assert!(ns < upper && upper - ns <= ns / 16 + 1, "{ns} {upper}");
        }

        #[test]
        fn buckets_are_in_order(ns: u64) {
            prop_assert!(bucket(ns) <= bucket(ns.saturating_add(1)) && bucket(ns) < BUCKETS);
        }
    }

    proptest! {
        // Fewer cases, because each is long.
        #![proptest_config(ProptestConfig::with_cases(32))]

        #[test]
        fn any_history_keeps_the_bound(
            samples in proptest::collection::vec(prop_oneof![8_000_u64..120_000, any::<u64>()], 1..3_000),
        ) {
            let learned = learned(samples);
            prop_assert!(learned.margin_ns() >= learned.median_ns());
            prop_assert!(learned.margin_ns() <= learned.median_ns() + REACH_NS);
        }
    }
}
