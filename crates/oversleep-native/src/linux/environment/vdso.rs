//! Whether clock reads avoid a system call.
//!
//! The presence of the vDSO isn't enough, because its code may fall back to a system call. So this measures: a read
//! makes no system call if it is cheaper than a real call by at least half of a trivial system call. It compares the
//! fastest batches, which interruptions can't affect, and only their difference, which holds even if reading the
//! counter takes a microsecond.

use std::hint::black_box;
use std::time::Instant;

use crate::linux::os;

const BATCHES: u32 = 40;
const READS: u32 = 16;

pub(super) fn is_present() -> bool {
    // SAFETY: takes a number and returns one. https://man7.org/linux/man-pages/man7/vdso.7.html
    unsafe { libc::getauxval(libc::AT_SYSINFO_EHDR) != 0 }
}

pub(super) fn avoids_system_call() -> bool {
    let mut best_ns = [u128::MAX; 3];
    // Interleaved, so that a slow phase of the machine affects all three.
    for _ in 0..BATCHES {
        let batches = [
            batch_ns(|| os::clock_ns(libc::CLOCK_MONOTONIC)),
            batch_ns(os::monotonic_ns_by_syscall),
            // SAFETY: takes no argument and can't fail.
            batch_ns(|| unsafe { libc::syscall(libc::SYS_getppid) as u64 }),
        ];
        for (best, batch) in best_ns.iter_mut().zip(batches) {
            *best = batch.min(*best);
        }
    }
    let [read_ns, call_ns, trivial_call_ns] = best_ns;
    judge(read_ns, call_ns, trivial_call_ns)
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
    use super::*;

    #[test]
    fn the_difference_decides() {
        assert!(judge(500, 3_000, 2_400), "ordinary machine");
        assert!(!judge(3_100, 3_000, 2_400), "the vDSO fell back to a call");
        assert!(judge(16_500, 19_000, 2_400), "counter reads trap, yet no system call is made");
        assert!(!judge(2_900, 3_000, 2_400), "within the noise");
    }
}
