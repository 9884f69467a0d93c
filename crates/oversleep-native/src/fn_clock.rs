//! Clocks made of a function: what the entries of every platform share.

use std::hint::black_box;

use oversleep_record::clock::{AcrossSuspend, Counts, Epoch};
use oversleep_record::{Nanos, Unavailable};

use oversleep_system::{Clock, ClockInfo};

/// A clock made of a function. Each has a type of its own, so that the loops around its read are compiled for it alone.
pub(super) struct FnClock<F> {
    pub(super) info: ClockInfo,
    pub(super) available: fn() -> Result<(), Unavailable>,
    pub(super) frequency_hz: fn() -> Option<u64>,
    pub(super) step: fn() -> Option<Nanos>,
    pub(super) read: F,
}

impl<F: Fn() -> u64 + Send + Sync> Clock for FnClock<F> {
    fn info(&self) -> &ClockInfo {
        &self.info
    }

    fn available(&self) -> Result<(), Unavailable> {
        (self.available)()
    }

    fn stated_frequency_hz(&self) -> Option<u64> {
        (self.frequency_hz)()
    }

    fn stated_step_ns(&self) -> Option<Nanos> {
        (self.step)()
    }

    fn read(&self) -> u64 {
        (self.read)()
    }

    fn read_batch(&self, count: u64) {
        for _ in 0..count {
            black_box((self.read)());
        }
    }

    fn read_into(&self, out: &mut [u64]) {
        for slot in out {
            *slot = black_box((self.read)());
        }
    }
}

/// What most clocks have in common, for the entries to change what differs.
pub(super) const COMMON: ClockInfo = ClockInfo {
    name: "",
    call: "",
    doc: "",
    counts: Counts::ElapsedTime,
    epoch: Epoch::Boot,
    unit: "ns",
    across_suspend: AcrossSuspend::Stops,
    bits: 64,
    may_avoid_syscall: true,
    since: "2.6",
    page: "https://man7.org/linux/man-pages/man2/clock_gettime.2.html",
};

pub(super) fn always() -> Result<(), Unavailable> {
    Ok(())
}

pub(super) fn none() -> Option<Nanos> {
    None
}
