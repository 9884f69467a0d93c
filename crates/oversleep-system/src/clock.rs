//! Clocks: their descriptions, and their reads.

use oversleep_record::clock::{AcrossSuspend, Counts, Epoch};
use oversleep_record::{Nanos, Unavailable};

use super::catalogue::worded;

/// The description of a clock. The catalogues are in [`crate::clocks`].
#[derive(Clone, Copy, Debug)]
pub struct ClockInfo {
    /// Registry name, as typed on the command line: `monotonic`, `monotonic-coarse`, `tsc`.
    pub name: &'static str,
    /// The call as a programmer writes it: `clock_gettime(CLOCK_MONOTONIC)`.
    pub call: &'static str,
    /// One or two sentences about its use and its pitfalls.
    pub doc: &'static str,
    /// What it counts.
    pub counts: Counts,
    /// Its epoch.
    pub epoch: Epoch,
    /// Unit of the raw value.
    pub unit: ClockUnit,
    /// Its behaviour across suspend.
    pub across_suspend: AcrossSuspend,
    /// Bits of the raw value before it wraps; 64 if the unit makes a wrap take centuries.
    pub bits: u32,
    /// Whether a read may need no system call, through the vDSO or an instruction.
    pub may_avoid_syscall: bool,
    /// The source of its value.
    pub follows: Follows,
    /// The clock with the same value read from the hardware, if an interrupt updates this one.
    pub precise: Option<&'static str>,
    /// The clock that a read of this one reads, and so costs at least as much as.
    pub reads: Option<&'static str>,
    /// Clocks with ordered reads of the same counter, if the processor may read this one early.
    pub ordered: &'static [&'static str],
    /// The only architecture that has it; `None` if every one does.
    pub architecture: Option<&'static str>,
    /// Whether modelled machines have it.
    pub is_modelled: bool,
    /// Version of the system that introduced it.
    pub since: &'static str,
    /// The vendor's page.
    pub page: &'static str,
}

impl ClockInfo {
    /// Whether machines of that architecture have it.
    pub fn is_on(&self, architecture: &str) -> bool {
        self.architecture.is_none_or(|only| only == architecture)
    }

    /// The same description of a clock whose reads read that one.
    pub(crate) const fn reading(self, clock: &'static str) -> ClockInfo {
        ClockInfo { reads: Some(clock), ..self }
    }

    /// The same description, absent from modelled machines.
    pub(crate) const fn not_modelled(self) -> ClockInfo {
        ClockInfo { is_modelled: false, ..self }
    }
}

worded! {
    /// Unit of a clock's raw value.
    pub enum ClockUnit {
        /// Nanoseconds.
        Nanoseconds = "ns",
        /// Units of 100 ns, as Windows counts.
        HundredNanoseconds = "100ns",
        /// Microseconds.
        Microseconds = "us",
        /// Milliseconds.
        Milliseconds = "ms",
        /// Seconds.
        Seconds = "s",
        /// Ticks of a counter, whose frequency the machine states or which has to be calibrated.
        Ticks = "ticks",
    }
    /// The name in results.
    pub const fn name
}

impl ClockUnit {
    /// The symbol in tables: `µs` for `us`.
    pub const fn symbol(self) -> &'static str {
        match self {
            ClockUnit::HundredNanoseconds => "100 ns",
            ClockUnit::Microseconds => "µs",
            other => other.name(),
        }
    }

    /// Length of one unit; `None` for the ticks of a counter.
    pub const fn length(self) -> Option<Nanos> {
        match self {
            ClockUnit::Nanoseconds => Some(Nanos(1)),
            ClockUnit::HundredNanoseconds => Some(Nanos(100)),
            ClockUnit::Microseconds => Some(Nanos(1_000)),
            ClockUnit::Milliseconds => Some(Nanos(1_000_000)),
            ClockUnit::Seconds => Some(Nanos(1_000_000_000)),
            ClockUnit::Ticks => None,
        }
    }

    /// Units per second; `None` for the ticks of a counter.
    pub const fn frequency_hz(self) -> Option<u64> {
        match self.length() {
            Some(Nanos(length)) => Some(1_000_000_000 / length.unsigned_abs()),
            None => None,
        }
    }
}

worded! {
    /// The source of a clock's value.
    pub enum Follows {
        /// Time itself, with the precision of the unit or the counter.
        Time = "as fine as its unit or its counter",
        /// The kernel's tick, 1/HZ.
        KernelTick = "the kernel's tick, 1/HZ",
        /// The timer interrupt at its default period, whatever the period is now.
        DefaultTick = "the default timer resolution",
        /// The last timer interrupt.
        LastInterrupt = "the timer resolution in effect",
    }
    /// Its steps, in a few words for tables.
    pub const fn words
}

/// One clock of one platform.
pub trait Clock: Send + Sync {
    /// Its description.
    fn info(&self) -> &ClockInfo;

    /// Whether it can be read here.
    ///
    /// # Errors
    /// Why not.
    fn available(&self) -> Result<(), Unavailable>;

    /// Units of the raw value per second; `None` if a counter's frequency is not stated and has to be calibrated.
    fn stated_frequency_hz(&self) -> Option<u64>;

    /// The step that the system states (`clock_getres`), if it states one.
    fn stated_step_ns(&self) -> Option<Nanos>;

    /// The rule by which it moves, in a sentence. Only models know theirs.
    fn rule(&self) -> Option<String> {
        None
    }

    /// One read, in raw units. Call it only if [`Clock::available`] returned `Ok`.
    fn read(&self) -> u64;

    /// Reads until the value differs from `seen`, at most `reads_max` times, and returns the last value.
    fn poll(&self, seen: u64, reads_max: u64) -> u64 {
        (0..reads_max).map(|_| self.read()).find(|&raw| raw != seen).unwrap_or(seen)
    }

    /// Reads `count` times in a loop compiled for this clock alone, so that the interface isn't timed. The values are
    /// kept from the optimiser.
    fn read_batch(&self, count: u64);

    /// Fills `out` with consecutive reads, in the same way.
    fn read_into(&self, out: &mut [u64]);
}
