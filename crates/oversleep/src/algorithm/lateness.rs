//! Learns how late this machine ends waits of one kind, and which wake-up time is cheapest.
//!
//! Pure: lateness in, a margin out.

use super::objective::Objective;

/// Sixteen buckets per octave, so a margin exceeds the lateness it covers by at most a sixteenth.
const BUCKETS_PER_OCTAVE: u64 = 16;
/// Lateness below 2^11 ns falls into the first bucket, lateness from 2^25 ns (34 ms) on into the last.
const FIRST_OCTAVE: u32 = 11;
const OCTAVES: u32 = 14;
const BUCKETS: usize = OCTAVES as usize * BUCKETS_PER_OCTAVE as usize;

/// Every count is halved at this many values, so a changed machine is learned within a few hundred sleeps.
const MEMORY: u16 = 768;
/// The lateness that all but one wait in this many exceed counts as certain.
const CERTAIN_ONE_IN: u16 = 32;

/// How late waits of one kind were. All zero at first.
#[derive(Clone)]
pub(crate) struct Lateness {
    counts: [u16; BUCKETS],
    total: u16,
}

/// A margin, and the average cost of a sleep with it: the CPU time after the wait, plus the price of its lateness.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Margin {
    pub(crate) ns: u64,
    pub(crate) cost_ns: u64,
}

impl Lateness {
    pub(crate) const fn new() -> Self {
        Self { counts: [0; BUCKETS], total: 0 }
    }

    /// Forgets everything and assumes these. They keep a stall in the first real sleep from becoming the rule.
    pub(crate) fn assume(&mut self, lateness_ns: [u64; 4]) {
        *self = Self::new();
        lateness_ns.into_iter().for_each(|ns| self.learn(ns));
    }

    pub(crate) fn learn(&mut self, lateness_ns: u64) {
        self.counts[bucket(lateness_ns)] += 1;
        self.total += 1;
        if self.total == MEMORY {
            for count in &mut self.counts {
                *count /= 2;
            }
            self.total = self.counts.iter().sum();
        }
    }

    pub(crate) fn count(&self) -> u16 {
        self.total
    }

    /// The median, to a sixteenth.
    pub(crate) fn median_ns(&self) -> u64 {
        upper_ns(self.at_rank(self.total.div_ceil(2)))
    }

    /// A wait that ends later than this was slow: half as late again as one wait in four, at least.
    pub(crate) fn slow_ns(&self) -> u64 {
        upper_ns(self.at_rank(self.total.div_ceil(4))).saturating_mul(3) / 2
    }

    /// A wait that ends later than this was a stall: another thread or the hypervisor had the processor. That is twice as
    /// late as three waits in four, and no less than 150 µs.
    pub(crate) fn stall_ns(&self) -> u64 {
        const LEAST_NS: u64 = 150_000;
        let most_ns = upper_ns(self.at_rank((self.total * 3).div_ceil(4)));
        most_ns.saturating_mul(2).max(LEAST_NS)
    }

    /// Almost no wait is less late than this.
    fn certain_ns(&self) -> u64 {
        lower_ns(self.at_rank(self.total / CERTAIN_ONE_IN + 1))
    }

    /// The bucket that holds the value of this rank, counted from 1.
    fn at_rank(&self, rank: u16) -> usize {
        let mut seen = 0;
        let index = self.counts.iter().position(|&count| {
            seen += count;
            seen >= rank
        });
        index.unwrap_or(BUCKETS - 1)
    }

    /// The margin that costs least, where `after` is the cost of waking up this long before the deadline (negative:
    /// after it).
    ///
    /// Stalls aren't counted, and neither is what the budget can't reach. An earlier request would not have prevented
    /// them.
    pub(crate) fn cheapest(&self, objective: Objective, after: impl Fn(i64) -> u64) -> Margin {
        let longest_ns = self.longest_ns(objective);
        let mut values = [(0_u64, 0_u64); BUCKETS];
        let mut kinds = 0;
        for value in self.reached(objective) {
            values[kinds] = value;
            kinds += 1;
        }
        let values = &values[..kinds];
        let total = values.iter().map(|(_, count)| count).sum::<u64>().max(1);
        let cost_ns = |margin_ns: u64| {
            let cost = |&(ns, count): &(u64, u64)| after(margin_ns as i64 - ns as i64).saturating_mul(count);
            values.iter().map(cost).fold(0, u64::saturating_add) / total
        };
        let covering = values.iter().map(|&(ns, _)| ns).filter(|&ns| ns < longest_ns);
        let longest_ns = longest_ns.min(values.last().map_or(0, |&(ns, _)| ns));
        let margins = covering.chain([longest_ns]).map(|ns| Margin { ns, cost_ns: cost_ns(ns) });
        margins.min_by_key(|margin| margin.cost_ns).unwrap_or(Margin { ns: 0, cost_ns: 0 })
    }

    /// The margin that leaves one wait in `late_one_in` late, of those that a margin can cover at all; no longer than the
    /// budget allows.
    pub(crate) fn covering_ns(&self, objective: Objective, late_one_in: u64) -> u64 {
        let total: u64 = self.reached(objective).map(|(_, count)| count).sum();
        let mut left = total - total / late_one_in;
        let covering = self.reached(objective).find(|&(_, count)| {
            left = left.saturating_sub(count);
            left == 0
        });
        covering.map_or(0, |(ns, _)| ns).min(self.longest_ns(objective))
    }

    /// The longest margin: what is certainly late can't be spun, so it isn't part of the budget.
    pub(crate) fn longest_ns(&self, objective: Objective) -> u64 {
        match objective.budget_ns {
            0 => 0,
            budget_ns => budget_ns.saturating_add(self.certain_ns()),
        }
    }

    /// The mean of what follows with this margin, if `after` follows a wait that ends this long before the deadline
    /// (negative: after it).
    pub(crate) fn mean(&self, objective: Objective, margin_ns: u64, after: impl Fn(i64) -> u64) -> u64 {
        let add = |(sum, total): (u64, u64), (ns, count): (u64, u64)| {
            (sum.saturating_add(after(margin_ns as i64 - ns as i64).saturating_mul(count)), total + count)
        };
        let (sum, total) = self.reached(objective).fold((0, 0), add);
        sum / total.max(1)
    }

    /// The values that a margin can cover, each with its count.
    fn reached(&self, objective: Objective) -> impl Iterator<Item = (u64, u64)> {
        let reach_ns = self.median_ns().saturating_add(objective.budget_ns).min(self.stall_ns());
        let counts = self.counts[..=bucket(reach_ns)].iter().enumerate();
        counts.filter(|&(_, &count)| count > 0).map(|(index, &count)| (upper_ns(index), u64::from(count)))
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

/// The first bucket also holds everything below it.
fn lower_ns(bucket: usize) -> u64 {
    if bucket == 0 { 0 } else { upper_ns(bucket - 1) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const BUDGET_NS: u64 = 600_000;

    fn learned(values: impl IntoIterator<Item = u64>) -> Lateness {
        let mut lateness = Lateness::new();
        lateness.assume([30_000, 30_000, 30_000, 66_000]);
        values.into_iter().for_each(|ns| lateness.learn(ns));
        lateness
    }

    /// The margin if all of the remaining time is spun.
    fn margin_ns(lateness: &Lateness, price: u32) -> u64 {
        let objective = Objective { budget_ns: BUDGET_NS, ..Objective::of_price(price) };
        lateness.cheapest(objective, |left_ns| objective.of(left_ns)).ns
    }

    #[test]
    fn the_price_is_a_quantile() {
        // 10 to 50 µs, evenly. The cheapest margin covers price / (price + 1) of it.
        let lateness = learned((0..1_000).map(|i| 10_000 + i % 100 * 400));
        for (price, expected_ns) in [(1, 30_000), (3, 40_000), (9, 46_000), (99, 49_600)] {
            let margin_ns = margin_ns(&lateness, price);
            assert!((expected_ns..expected_ns * 9 / 8).contains(&margin_ns), "{price}: {margin_ns}");
        }
    }

    #[test]
    fn a_stall_in_the_first_sleep_does_not_become_the_rule() {
        for stalls in 0..4 {
            let margin_ns = margin_ns(&learned(std::iter::repeat_n(5_000_000, stalls)), 20);
            assert!((66_000..70_000).contains(&margin_ns), "{stalls}: {margin_ns}");
        }
        // A machine that is always this late is still learned.
        assert!(margin_ns(&learned(std::iter::repeat_n(5_000_000, 200)), 20) >= 5_000_000);
    }

    #[test]
    fn stalls_do_not_widen_the_margin() {
        // One wake-up in five is milliseconds late, because another thread has the processor.
        let lateness = learned((0..2_000).map(|i| if i % 5 == 0 { i % 7 * 1_000_000 } else { 12_000 + i % 8 * 1_000 }));
        let margin_ns = margin_ns(&lateness, 20);
        assert!((18_000..21_000).contains(&margin_ns), "{margin_ns}");
    }

    #[test]
    fn a_constant_lateness_costs_no_spinning() {
        let margin_ns = margin_ns(&learned(std::iter::repeat_n(15_600_000, 300)), 20);
        assert!((15_600_000..=15_600_000 * 17 / 16).contains(&margin_ns), "{margin_ns}");
    }

    #[test]
    fn a_changed_machine_is_learned() {
        let margin_ns = margin_ns(&learned(std::iter::repeat_n(5_000, 10_000).chain([40_000; 200])), 20);
        assert!(margin_ns >= 40_000, "{margin_ns}");
    }

    proptest! {
        #[test]
        fn a_bucket_holds_its_values(ns in 2_048_u64..1 << 25) {
            let (lower, upper) = (lower_ns(bucket(ns)), upper_ns(bucket(ns)));
            prop_assert!(ns < upper && upper - ns <= ns / 16 + 1, "{ns} {upper}");
            prop_assert!(bucket(ns) == 0 || lower <= ns, "{ns} {lower}");
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
            values in proptest::collection::vec(prop_oneof![8_000_u64..120_000, any::<u64>()], 1..1_000),
            price in 0_u32..1_000,
            budget_ns in prop_oneof![Just(0), 0_u64..1_000_000, any::<u64>()],
        ) {
            let lateness = learned(values);
            let objective = Objective { budget_ns, ..Objective::of_price(price) };
            let margin = lateness.cheapest(objective, |left_ns| objective.of(left_ns));
            prop_assert!(margin.ns <= budget_ns.saturating_add(lateness.certain_ns()));
        }
    }
}
