//! Clocks: what is known of each before it is read, and the reads.

use oversleep_record::clock::{AcrossSuspend, Counts, Epoch};
use oversleep_record::{Nanos, Unavailable};

/// What is known of a clock before it is read.
#[derive(Clone, Debug)]
pub struct ClockInfo {
    /// Registry name, as typed on the command line: `monotonic`, `monotonic-coarse`, `tsc`.
    pub name: &'static str,
    /// The call as a programmer writes it: `clock_gettime(CLOCK_MONOTONIC)`.
    pub call: &'static str,
    /// One or two sentences: what it is good for and what to beware of.
    pub doc: &'static str,
    /// What it counts.
    pub counts: Counts,
    /// From when.
    pub epoch: Epoch,
    /// Unit of the raw value: `ns`, `us`, `s`, `ticks`.
    pub unit: &'static str,
    /// Across suspend.
    pub across_suspend: AcrossSuspend,
    /// Bits of the raw value before it wraps; 64 where the unit makes a wrap a matter of centuries.
    pub bits: u32,
    /// Whether the system may answer without a system call (vDSO) or no system is asked at all.
    pub may_avoid_syscall: bool,
    /// Version of the system that introduced it.
    pub since: &'static str,
    /// The vendor's page.
    pub page: &'static str,
}

/// One clock of one platform.
pub trait Clock: Send + Sync {
    /// What is known of it.
    fn info(&self) -> &ClockInfo;

    /// Whether it can be read here.
    ///
    /// # Errors
    /// Why not.
    fn available(&self) -> Result<(), Unavailable>;

    /// Ticks per second of the raw value; `None` where the system states none (it is then calibrated).
    fn stated_frequency_hz(&self) -> Option<u64>;

    /// The step the system states (`clock_getres`), if it states one.
    fn stated_step_ns(&self) -> Option<Nanos>;

    /// The rule by which it moves, in a sentence. Models know theirs; a real system doesn't tell.
    fn rule(&self) -> Option<String> {
        None
    }

    /// One read, in raw units. Only after [`Clock::available`] said yes.
    fn read(&self) -> u64;

    /// Reads until it shows something else than `shown`, at most so many times; what it shows then.
    fn poll(&self, shown: u64, reads_max: u64) -> u64 {
        (0..reads_max).map(|_| self.read()).find(|&raw| raw != shown).unwrap_or(shown)
    }

    /// Reads `count` times in a loop compiled for this clock alone, so that what is timed is the clock and not the
    /// interface. The values are kept from the optimiser.
    fn read_batch(&self, count: u64);

    /// Fills `out` with consecutive reads, likewise.
    fn read_into(&self, out: &mut [u64]);
}
