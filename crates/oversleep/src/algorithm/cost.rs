//! Learns what a wait costs.
//!
//! Pure: CPU times in, their average out.

/// The CPU time of a wait before one was measured.
const ASSUMED_COST_NS: u32 = 8_000;
/// After the first few, one wait in this many is measured.
const COST_EVERY: u8 = 16;

/// The CPU time of a wait: a moving average, zero before the first.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cost {
    ns: u32,
    due: u8,
    values: u8,
}

impl Cost {
    pub(super) const NEW: Cost = Cost { ns: 0, due: 0, values: 0 };
    /// A quarter of a second. A wait alone never costs more.
    const LONGEST_NS: u64 = 1 << 28;

    pub(super) fn ns(self) -> u64 {
        u64::from(if self.values == 0 { ASSUMED_COST_NS } else { self.ns })
    }

    pub(super) fn learn(&mut self, cpu_ns: Option<u64>) {
        let Some(cpu_ns) = cpu_ns else {
            self.due = self.due.saturating_sub(1);
            return;
        };
        // The average of the first eight, then an eighth of each.
        self.values = (self.values + 1).min(8);
        let was_ns = i64::from(self.ns);
        self.ns = (was_ns + (cpu_ns.min(Self::LONGEST_NS) as i64 - was_ns) / i64::from(self.values)) as u32;
        self.due = if self.values < 8 { 0 } else { COST_EVERY };
    }

    /// Whether the next wait should be measured.
    pub(super) fn is_due(self) -> bool {
        self.due == 0
    }

    /// Whether none was measured yet.
    pub(super) fn is_unknown(self) -> bool {
        self.values == 0
    }
}
