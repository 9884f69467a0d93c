//! How long before the deadline of a park the system should wake the thread, learned from earlier parks.

use core::sync::atomic::{AtomicU64, Ordering};

/// How far a margin may exceed the median lateness, for a long wait and for the short one after it. Lateness beyond
/// that rarely comes from the timer: another thread had the processor, and no margin helps.
const REACH_NS: [u32; 2] = [60_000, 24_000];
/// The bounds of a margin.
const MIN_NS: u32 = 4_000;
const MAX_NS: u32 = 600_000;
/// A wait costs about as much CPU time, so anything shorter is spun.
pub(super) const WAIT_COST_NS: u64 = 8_000;

/// What was learned about waits of one kind: half of them end later than the median, and few later than the margin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Learned {
    median_ns: u32,
    margin_ns: u32,
}

impl Learned {
    /// The estimate after another wake-up. The median moves towards it by a 16th. A margin that was too short grows by a
    /// quarter of the difference, and one that was too long shrinks by a 64th, so that about one wake-up in 17 of a steady
    /// distribution exceeds it.
    fn after(self, lateness_ns: u64, reach_ns: u32) -> Learned {
        let lateness_ns = lateness_ns.min(MAX_NS.into()) as u32;
        let step_ns = self.median_ns / 16 + 1;
        let median_ns = if lateness_ns > self.median_ns {
            self.median_ns + step_ns
        } else {
            self.median_ns.saturating_sub(step_ns)
        };
        let median_ns = median_ns.clamp(1_000, MAX_NS);
        let margin_ns = match lateness_ns.checked_sub(self.margin_ns) {
            // A stall, which no margin would have covered.
            Some(_) if lateness_ns > median_ns.saturating_add(2 * reach_ns) => self.margin_ns,
            Some(short_ns) => self.margin_ns + short_ns.div_ceil(4),
            None => self.margin_ns - (self.margin_ns - lateness_ns) / 64,
        };
        Learned { median_ns, margin_ns: margin_ns.clamp(MIN_NS, MAX_NS.min(median_ns + reach_ns)) }
    }
}

/// How long before the deadline the system should wake the thread, for a long wait and for a short one, learned from
/// both. Threads may share it: a lost update loses one sample and nothing else.
#[derive(Debug)]
pub(crate) struct Margins([AtomicU64; 2]);

impl Margins {
    pub(crate) const fn new() -> Self {
        Self([AtomicU64::new(20_000 << 32 | 80_000), AtomicU64::new(8_000 << 32 | 20_000)])
    }

    fn learned(&self, which: usize) -> Learned {
        let both = self.0[which].load(Ordering::Relaxed);
        Learned { median_ns: (both >> 32) as u32, margin_ns: both as u32 }
    }

    pub(super) fn margin_ns(&self, which: usize) -> u64 {
        self.learned(which).margin_ns.into()
    }

    pub(super) fn learn(&self, which: usize, lateness_ns: u64) {
        self.store(which, self.learned(which).after(lateness_ns, REACH_NS[which]));
    }

    /// Too little time was left for a wait of this kind. Its margin decays, so that the wait is tried again.
    pub(super) fn forget(&self, which: usize) {
        let Learned { median_ns, margin_ns } = self.learned(which);
        let margin_ns = margin_ns - (margin_ns - MIN_NS) / 64;
        self.store(which, Learned { median_ns, margin_ns });
    }

    fn store(&self, which: usize, Learned { median_ns, margin_ns }: Learned) {
        self.0[which].store(u64::from(median_ns) << 32 | u64::from(margin_ns), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The estimate after many such wake-ups.
    fn learned(lateness_ns: impl Fn(u64) -> u64) -> Learned {
        let first = Learned { median_ns: 20_000, margin_ns: 80_000 };
        (0..5_000).fold(first, |learned, i| learned.after(lateness_ns(i), REACH_NS[0]))
    }

    #[test]
    fn a_margin_covers_most_of_a_steady_spread() {
        // 10 to 59 µs late, in an order without pattern.
        let lateness_ns = |i: u64| 10_000 + i * 7_919 % 50 * 1_000;
        let Learned { median_ns, margin_ns } = learned(lateness_ns);
        assert!((24_000..46_000).contains(&median_ns), "{median_ns}");
        let late = (0..1_000).filter(|&i| lateness_ns(i) > u64::from(margin_ns)).count();
        assert!((10..=200).contains(&late), "{late} of 1,000 beyond {margin_ns} ns");
    }

    #[test]
    fn a_wait_that_was_skipped_is_tried_again() {
        let margins = Margins::new();
        (0..500).for_each(|_| margins.learn(1, 90_000));
        assert!(margins.learned(1).margin_ns >= 80_000);
        (0..200).for_each(|_| margins.forget(1));
        assert!(margins.learned(1).margin_ns <= 10_000);
    }

    #[test]
    fn stalls_do_not_make_it_spin() {
        // Every fifth wake-up comes while another thread has the processor.
        let stalls = learned(|i| if i % 5 == 0 { 3_000_000 } else { 12_000 });
        assert!(stalls.margin_ns <= 90_000, "{stalls:?}");
    }

    #[test]
    fn a_coarse_timer_gets_a_wide_margin_and_an_exact_one_a_narrow_one() {
        // A grid of half a millisecond.
        let coarse = learned(|i| i * 7_919 % 500 * 1_000);
        assert!((200_000..400_000).contains(&coarse.margin_ns), "{coarse:?}");
        assert_eq!(learned(|_| 0).margin_ns, MIN_NS);
        assert!(learned(|_| u64::MAX).margin_ns <= MAX_NS);
    }
}
