//! The objective of a sleep: the price of lateness in CPU time, and how long it may spin.

use core::num::NonZeroU32;

/// The objective of a sleeper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Objective {
    /// How much CPU time a unit of lateness is worth.
    pub(crate) price: u32,
    /// At most one sleep in this many is to end late, where that costs no more CPU time than [`FIXED_MARGIN_NS`].
    pub(crate) late_one_in: Option<NonZeroU32>,
    /// The longest that a sleep may spin.
    pub(crate) budget_ns: u64,
}

/// The margin of a sleeper that learns nothing: spin_sleep's default accuracy. Its CPU time is the yardstick of what
/// precision may cost.
pub(crate) const FIXED_MARGIN_NS: u64 = 125_000;

impl Objective {
    /// The default: one sleep in a hundred may be late, and the budget covers timers that end on a grid of half a
    /// millisecond, as on Windows. `library_sleep` compares it with spin_sleep's.
    pub(crate) const DEFAULT: Objective = Objective { late_one_in: NonZeroU32::new(100), ..Objective::of_price(100) };

    /// The default budget at this price.
    pub(crate) const fn of_price(price: u32) -> Objective {
        Objective { price, late_one_in: None, budget_ns: 600_000 }
    }

    /// The objective where other threads want the processor: a price instead of a quantile. With 2 and 4 busy threads on 2
    /// CPUs (a KVM guest, EPYC, Linux 6.18, 2026-11-29) the quantile took 59 and 53 µs of CPU time, the price 39 and 44, and
    /// neither had the better p99 (27 and 51 µs, 22 and 75).
    pub(super) fn beside_busy_threads(self) -> Objective {
        const PRICE: u32 = 30;
        match self.late_one_in {
            Some(_) => Objective { price: self.price.min(PRICE), late_one_in: None, ..self },
            None => self,
        }
    }

    /// What waits cover in any case, if a quantile is the aim. Without it, a kind of waits that are hardly ever late would
    /// pay for the tail of the other kind.
    pub(crate) fn least(self) -> Objective {
        const PRICE: u32 = 10;
        Objective { price: if self.late_one_in.is_some() { PRICE } else { self.price }, ..self }
    }

    /// What an approach covers, if a quantile is the aim: it follows a wait that may have been late, too, so a quarter of
    /// what may be late is left for it. (A quantile of 0.99 with 10 µs of CPU time to spare had a p99 of 108 µs on one host,
    /// because one approach in a hundred was late: a KVM guest, EPYC, Linux 6.18, 2026-12-01. Now it has 29 µs there.)
    pub(super) fn of_approach(self) -> Objective {
        let price = self.late_one_in.map_or(self.price, |one_in| one_in.get().saturating_mul(4));
        Objective { price, ..self }
    }

    /// Lateness beyond this costs ten times as much.
    const TOLERABLE_NS: u64 = 50_000;

    /// The cost of waking up this long before the deadline and spinning, or after it if negative.
    pub(crate) fn of(self, left_ns: i64) -> u64 {
        let ns = left_ns.unsigned_abs();
        if left_ns >= 0 {
            return ns;
        }
        let beyond_ns = ns.saturating_sub(Self::TOLERABLE_NS);
        ns.saturating_add(beyond_ns.saturating_mul(9)).saturating_mul(self.price.into())
    }
}
