//! The bare loops: the calls the laboratory makes, with nothing around them. The only room of this crate that knows
//! the operating system and may be unsafe.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
use linux as native;

#[cfg(not(target_os = "linux"))]
mod other;
#[cfg(not(target_os = "linux"))]
use other as native;

use std::hint::black_box;

use crate::{Reason, pairs};

/// A batch lasts at least this long, so that the two stamps around it don't count; the laboratory's own figure.
const BATCH_MIN_NS: i64 = 50_000;

/// Cost of one read in a bare loop, in ns: the median of that many batches, on a fresh thread.
///
/// # Errors
/// That the clock of that registry name has no bare loop here.
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

/// How long that many bare reads of the clock of that registry name take, one after the other, in ns. The caller makes
/// sure that the clock may be read here.
pub fn bare_reads_ns(clock: &str, reads: u64) -> Option<i64> {
    native::bare_loop(clock).map(|timed| timed(reads))
}

/// Lets every instruction before it end first, where the processor has such a fence and it is written here; nothing
/// elsewhere.
#[inline(always)]
pub fn finish_earlier() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: part of SSE2, which every x86-64 has; touches no memory.
    unsafe {
        core::arch::x86_64::_mm_lfence();
    }
}

/// CPU time that the calling thread has used, in ns; `None` where it isn't told.
pub fn thread_cpu_ns() -> Option<u64> {
    native::thread_cpu_ns()
}

/// Lateness of that many bare absolute waits one interval apart, in ns, on the calling thread.
///
/// # Errors
/// That there is no such loop on this platform, or the call failed.
pub fn periodic_lateness_ns(interval_ns: i64, count: usize) -> Result<Vec<i64>, Reason> {
    native::periodic_lateness_ns(interval_ns, count)
}
