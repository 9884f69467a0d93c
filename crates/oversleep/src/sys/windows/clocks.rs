//! Windows: the performance counter, what the kernel thinks of the processor's counter, and waits.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use windows_sys::Win32::System::Performance::{QueryPerformanceCounter, QueryPerformanceFrequency};

use crate::clock::Verdict;

/// The frequency that Windows reports when the performance counter is made of the processor's counter on x86-64.
const FROM_TSC_HZ: u64 = 10_000_000;

fn frequency_hz() -> u64 {
    // Fixed at boot, so that threads that race to store it store the same.
    static HZ: AtomicU64 = AtomicU64::new(0);
    let known = HZ.load(Ordering::Relaxed);
    if known != 0 {
        return known;
    }
    let mut hz = 0;
    // SAFETY: `hz` is valid to write to. The call can't fail since Windows XP.
    // https://learn.microsoft.com/windows/win32/api/profileapi/nf-profileapi-queryperformancefrequency
    unsafe { QueryPerformanceFrequency(&raw mut hz) };
    let hz = u64::try_from(hz).unwrap_or(1).max(1);
    HZ.store(hz, Ordering::Relaxed);
    hz
}

/// Nanoseconds on the performance counter, which counts from boot and goes on during sleep.
pub(crate) fn monotonic_ns() -> u64 {
    let mut count = 0;
    // SAFETY: `count` is valid to write to. The call can't fail since Windows XP.
    // https://learn.microsoft.com/windows/win32/api/profileapi/nf-profileapi-queryperformancecounter
    unsafe { QueryPerformanceCounter(&raw mut count) };
    (u128::from(count.unsigned_abs()) * 1_000_000_000 / u128::from(frequency_hz())) as u64
}

/// Waits once towards `deadline_ns`: the standard library uses a high-resolution waitable timer, which ends on a grid of
/// about 0.5 ms, and never early.
pub(crate) fn wait_once_until(deadline_ns: u64) {
    std::thread::sleep(Duration::from_nanos(deadline_ns.saturating_sub(monotonic_ns())));
}

/// The coarse clocks count from elsewhere, so there is none on this time line.
pub(crate) fn coarse_ns() -> Option<u64> {
    None
}

pub(crate) fn coarse_step_ns() -> Option<u64> {
    None
}

/// Windows doesn't take the counter away from a process.
pub(crate) fn counter_is_readable() -> bool {
    true
}

/// On AArch64 the performance counter is the generic timer; on x86-64 its frequency tells whether it is made of the TSC.
pub(crate) fn kernel_verdict() -> Verdict {
    if super::super::counter::COUNTER == Some(crate::clock::Source::Cntvct) || frequency_hz() == FROM_TSC_HZ {
        Verdict::Counter
    } else {
        Verdict::Unknown
    }
}
