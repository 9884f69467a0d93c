//! Whether clock reads avoid a system call.
//!
//! The presence of the vDSO isn't enough, because its code may fall back to a system call. So this measures: a read
//! makes no system call if it is cheaper than a real call by at least half of a trivial system call. It compares the
//! fastest batches, which interruptions can't affect, and only their difference, which holds even if reading the
//! counter takes a microsecond.

use std::hint::black_box;
use std::ops::Sub;
use std::time::{Duration, Instant};

use oversleep_record::Unavailable;

use crate::linux::os;

const BATCHES: u32 = 40;
const READS: u32 = 16;
/// Far more batches than fit between two ticks of 100 Hz.
const BATCHES_MAX: u128 = 1 << 19;

pub(super) fn is_present() -> bool {
    // SAFETY: takes a number and returns one. https://man7.org/linux/man-pages/man7/vdso.7.html
    unsafe { libc::getauxval(libc::AT_SYSINFO_EHDR) != 0 }
}

/// # Errors
/// The clock doesn't move.
pub(super) fn avoids_system_call() -> Result<bool, Unavailable> {
    let [read, call, trivial_call] = fastest_batches();
    if trivial_call > 0 {
        return Ok(judge(read, call, trivial_call));
    }
    let [read, call, trivial_call] = [
        batch_in_ticks(|| os::clock_ns(libc::CLOCK_MONOTONIC), Instant::now)?,
        batch_in_ticks(os::monotonic_ns_by_syscall, Instant::now)?,
        batch_in_ticks(trivial_call_once, Instant::now)?,
    ];
    Ok(judge(read, call, trivial_call))
}

fn trivial_call_once() -> u64 {
    // SAFETY: takes no argument and can't fail.
    unsafe { libc::syscall(libc::SYS_getppid) as u64 }
}

/// The fastest batches of reads, calls and trivial calls.
fn fastest_batches() -> [u128; 3] {
    let mut best_ns = [u128::MAX; 3];
    // Interleaved, so that a slow phase of the machine affects all three.
    for _ in 0..BATCHES {
        let batches = [
            batch_ns(|| os::clock_ns(libc::CLOCK_MONOTONIC)),
            batch_ns(os::monotonic_ns_by_syscall),
            batch_ns(trivial_call_once),
        ];
        for (best, batch) in best_ns.iter_mut().zip(batches) {
            *best = batch.min(*best);
        }
    }
    best_ns
}

/// The duration of a batch on a clock that moves by jiffies, where the fastest ones take no time: derived from the
/// number of batches between two of its steps.
fn batch_in_ticks<T: Copy + PartialEq + Sub<Output = Duration>>(
    read: impl Fn() -> u64,
    now: impl Fn() -> T,
) -> Result<u128, Unavailable> {
    let until_step = || {
        let begun = now();
        for batches in 1..BATCHES_MAX {
            (0..READS).for_each(|_| _ = black_box(read()));
            let ended = now();
            if ended != begun {
                return Ok((batches, ended - begun));
            }
        }
        Err(Unavailable::failed("reading the clock", format!("it did not move in {BATCHES_MAX} batches of reads")))
    };
    // The first step is incomplete.
    until_step()?;
    until_step().map(|(batches, step): (u128, Duration)| step.as_nanos() / batches)
}

fn judge(read_ns: u128, call_ns: u128, trivial_call_ns: u128) -> bool {
    call_ns.saturating_sub(read_ns) * 2 >= trivial_call_ns
}

fn batch_ns(read: impl Fn() -> u64) -> u128 {
    let start = Instant::now();
    for _ in 0..READS {
        black_box(read());
    }
    start.elapsed().as_nanos()
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn the_difference_decides() {
        assert!(judge(500, 3_000, 2_400), "ordinary machine");
        assert!(!judge(3_100, 3_000, 2_400), "the vDSO fell back to a call");
        assert!(judge(16_500, 19_000, 2_400), "counter reads trap, yet no system call is made");
        assert!(!judge(2_900, 3_000, 2_400), "within the noise");
    }

    /// A clock of 4 ms, and reads that take that many nanoseconds each.
    fn on_jiffies(read_ns: u64) -> u128 {
        let time = Cell::new(1_234_567_u64);
        let spend = |ns: u64| time.replace(time.get() + ns);
        let now = || {
            spend(40);
            Duration::from_millis(time.get() / 4_000_000 * 4)
        };
        batch_in_ticks(|| spend(read_ns), now).expect("it moves")
    }

    #[test]
    fn on_a_clock_of_jiffies_batches_are_counted() {
        let [read, call, trivial_call] = [20, 200, 150].map(on_jiffies);
        assert!((340..=380).contains(&read) && (3_200..=3_280).contains(&call), "{read} {call}");
        assert!(judge(read, call, trivial_call));
        let [read, call, trivial_call] = [205, 200, 150].map(on_jiffies);
        assert!(!judge(read, call, trivial_call), "both are system calls");
        let standing = batch_in_ticks(|| 0, || Duration::ZERO).unwrap_err().to_string();
        assert!(standing.contains("did not move"), "{standing}");
    }
}
