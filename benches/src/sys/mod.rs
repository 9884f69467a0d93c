//! The bare loops: the calls that the laboratory makes, with nothing around them. Only this folder of the crate knows
//! the operating system and may be unsafe.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
use linux as native;

#[cfg(not(target_os = "linux"))]
mod other;
use std::hint::black_box;

use crate::{Reason, pairs};
#[cfg(not(target_os = "linux"))]
use other as native;

/// A batch lasts at least this long, so that its two timestamps don't matter. The laboratory uses the same figure.
const BATCH_MIN_NS: i64 = 50_000;

/// The cost of one read in a bare loop, in ns: the median of this many batches, on a fresh thread.
///
/// # Errors
/// The reason if the clock of this registry name has no bare loop here.
pub fn clock_cost_ns(clock: &str, batches: usize) -> Result<f64, Reason> {
    let timed = native::bare_loop(clock).ok_or_else(|| format!("no bare loop of {clock} on this platform"))?;
    let measured = std::thread::spawn(move || {
        let mut reads = 16;
        while timed(black_box(reads)) < BATCH_MIN_NS && reads < 1 << 24 {
            reads *= 2;
        }
        let costs = (0..batches).map(|_| timed(black_box(reads)) as f64 / reads as f64);
        pairs::median(&costs.collect::<Vec<_>>())
    });
    measured.join().ok().flatten().ok_or_else(|| "no batch was measured".to_owned())
}

/// The duration in ns of this many consecutive bare reads of the clock of this registry name. The caller makes sure
/// that the clock may be read here.
pub fn bare_reads_ns(clock: &str, reads: u64) -> Option<i64> {
    native::bare_loop(clock).map(|timed| timed(reads))
}

/// A fence that lets every earlier instruction finish first, on x86-64; does nothing elsewhere.
#[inline(always)]
pub fn finish_earlier() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: part of SSE2, which every x86-64 has; touches no memory.
    unsafe {
        core::arch::x86_64::_mm_lfence();
    }
}

/// The CPU time that the calling thread has used, in ns; `None` if it is not available.
pub fn thread_cpu_ns() -> Option<u64> {
    native::thread_cpu_ns()
}

/// The lateness in ns of this many bare absolute waits, one interval apart, on the calling thread.
///
/// # Errors
/// The reason if this platform has no such loop, or the call failed.
pub fn periodic_lateness_ns(interval_ns: i64, count: usize) -> Result<Vec<i64>, Reason> {
    native::periodic_lateness_ns(interval_ns, count)
}
