//! Clocks made from a function: a description of the catalogue, and the read on this machine.

use std::hint::black_box;

use oversleep_record::{Nanos, Unavailable};
use oversleep_system::pairing::Made;
use oversleep_system::{Clock, ClockInfo};

/// Registry name of a clock, and the function that makes it from its description.
pub(crate) type Read = Made<ClockInfo, dyn Clock>;

/// A clock made from a function. Each has its own type, so that the loops around its read are compiled for it alone.
pub(crate) struct FnClock<F> {
    info: &'static ClockInfo,
    available: fn() -> Result<(), Unavailable>,
    ticks_hz: fn() -> Option<u64>,
    step: fn() -> Option<Nanos>,
    read: F,
}

impl<F: Fn() -> u64 + Send + Sync + 'static> FnClock<F> {
    /// A clock that is always available, and whose step the system doesn't state.
    pub(crate) fn new(info: &'static ClockInfo, read: F) -> FnClock<F> {
        FnClock { info, available: || Ok(()), ticks_hz: || None, step: || None, read }
    }

    /// Whether it can be read here, where it isn't always available.
    pub(crate) fn available(self, available: fn() -> Result<(), Unavailable>) -> FnClock<F> {
        FnClock { available, ..self }
    }

    /// How often the counter ticks per second, where its unit is a tick.
    pub(crate) fn ticks_hz(self, ticks_hz: fn() -> Option<u64>) -> FnClock<F> {
        FnClock { ticks_hz, ..self }
    }

    /// The step that the system states.
    pub(crate) fn step(self, step: fn() -> Option<Nanos>) -> FnClock<F> {
        FnClock { step, ..self }
    }

    pub(crate) fn boxed(self) -> Box<dyn Clock> {
        Box::new(self)
    }
}

impl<F: Fn() -> u64 + Send + Sync> Clock for FnClock<F> {
    fn info(&self) -> &ClockInfo {
        self.info
    }

    fn available(&self) -> Result<(), Unavailable> {
        (self.available)()
    }

    fn stated_frequency_hz(&self) -> Option<u64> {
        self.info.unit.frequency_hz().or_else(self.ticks_hz)
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
