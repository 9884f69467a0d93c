//! The kernel program's counters, by CPU.

use aya::maps::{Array, MapData};

use super::u64_at;

/// Size of a CPU's state in the kernel program in bytes, and the offset of its counters.
pub const CPU_BYTES: usize = 488;
const CPU_SENT_AT: usize = 128;
const CPU_LOST_AT: usize = 304;
const CPU_FULL_AT: usize = 480;
const KINDS: usize = 22;

/// What is counted.
#[derive(Clone, Copy, Debug)]
pub enum Counter {
    /// Events that were sent.
    Sent,
    /// Events for which the buffer had no room.
    Lost,
    /// Threads for which there was no room.
    Full,
}

/// The counters of all CPUs.
pub struct Counters {
    cpus: Array<MapData, [u8; CPU_BYTES]>,
    cpu_count: u32,
}

impl Counters {
    pub fn of(cpus: Array<MapData, [u8; CPU_BYTES]>) -> Counters {
        Counters { cpus, cpu_count: cpu_count() }
    }

    /// The sum of one counter over all CPUs.
    pub fn sum(&self, counter: Counter) -> u64 {
        let (at, count) = match counter {
            Counter::Sent => (CPU_SENT_AT, KINDS),
            Counter::Lost => (CPU_LOST_AT, KINDS),
            Counter::Full => (CPU_FULL_AT, 1),
        };
        let states = (0..self.cpu_count).filter_map(|cpu| self.cpus.get(&cpu, 0).ok());
        states.flat_map(|cpu| (0..count).map(move |n| u64_at(&cpu, at + 8 * n))).sum()
    }
}

/// The number of CPUs that this machine may have.
fn cpu_count() -> u32 {
    let possible = std::fs::read_to_string("/sys/devices/system/cpu/possible").unwrap_or_default();
    possible.trim().rsplit(['-', ',']).next().and_then(|last| last.parse::<u32>().ok()).map_or(1024, |last| last + 1)
}
