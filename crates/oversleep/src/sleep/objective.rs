//! The objective of a sleep: the price of lateness in CPU time, and how long it may spin.

/// The objective of a sleeper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Objective {
    /// How much CPU time a unit of lateness is worth.
    pub(super) price: u32,
    /// The longest that a sleep may spin.
    pub(super) budget_ns: u64,
}

impl Objective {
    /// The default: a microsecond of lateness is worth 30 µs of CPU time, and the budget covers timers that end on a grid
    /// of half a millisecond, as on Windows.
    ///
    /// On a 2-vCPU KVM guest (EPYC, Linux 6.18, 2026-11-26), with waits of 1 ms recorded beside spin_sleep's in two runs,
    /// this price used 0.46 and 0.57 times the CPU time of spin_sleep's default, and twice the price 0.52 and 0.62 times.
    /// `library_sleep` measures it.
    pub(super) const DEFAULT: Objective = Objective { price: 30, budget_ns: 600_000 };

    /// Lateness beyond this costs ten times as much.
    const TOLERABLE_NS: u64 = 50_000;

    /// The cost of waking up this long before the deadline and spinning, or after it if negative.
    pub(super) fn of(self, left_ns: i64) -> u64 {
        let ns = left_ns.unsigned_abs();
        if left_ns >= 0 {
            return ns;
        }
        let beyond_ns = ns.saturating_sub(Self::TOLERABLE_NS);
        ns.saturating_add(beyond_ns.saturating_mul(9)).saturating_mul(self.price.into())
    }
}
