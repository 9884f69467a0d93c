//! Windows: the performance counter, the kernel's verdict on the processor's counter, and waits.

use std::sync::atomic::{AtomicU64, Ordering};

use windows_sys::Win32::System::LibraryLoader::{GetModuleHandleA, GetProcAddress};
use windows_sys::Win32::System::Performance::{QueryPerformanceCounter, QueryPerformanceFrequency};

use super::super::counter;
use crate::clock::Verdict;

/// The frequency that Windows reports on x86-64 if the performance counter is based on the processor's counter.
const FROM_TSC_HZ: u64 = 10_000_000;

fn frequency_hz() -> u64 {
    // Fixed at boot, so racing threads store the same value.
    static HZ: AtomicU64 = AtomicU64::new(0);
    let known = HZ.load(Ordering::Relaxed);
    if known != 0 {
        return known;
    }
    let mut hz = 0;
    // SAFETY: `hz` is writable. The call can't fail since Windows XP.
    // https://learn.microsoft.com/windows/win32/api/profileapi/nf-profileapi-queryperformancefrequency
    unsafe { QueryPerformanceFrequency(&raw mut hz) };
    let hz = u64::try_from(hz).unwrap_or(1).max(1);
    HZ.store(hz, Ordering::Relaxed);
    hz
}

/// Nanoseconds on the performance counter, which counts from boot and also runs during sleep.
pub(crate) fn monotonic_ns() -> u64 {
    let mut count = 0;
    // SAFETY: `count` is writable. The call can't fail since Windows XP.
    // https://learn.microsoft.com/windows/win32/api/profileapi/nf-profileapi-queryperformancecounter
    unsafe { QueryPerformanceCounter(&raw mut count) };
    (u128::from(count.unsigned_abs()) * 1_000_000_000 / u128::from(frequency_hz())) as u64
}

/// The performance counter also runs during sleep.
pub(crate) fn continuous_ns() -> u64 {
    monotonic_ns()
}

/// The coarse clocks have other epochs, so none is on this time line.
pub(crate) fn coarse_ns() -> Option<u64> {
    None
}

pub(crate) fn coarse_step_ns() -> Option<u64> {
    None
}

/// Windows doesn't forbid a process to read the counter.
pub(crate) fn counter_is_readable() -> bool {
    true
}

/// What the performance counter shows about the processor's counter.
pub(crate) fn kernel_verdict() -> Verdict {
    let is_generic_timer = counter::COUNTER == Some(crate::clock::Source::Cntvct);
    verdict(is_generic_timer, frequency_hz(), counter::is_virtual(), is_wine())
}

/// On AArch64 the performance counter is the generic timer. On x86-64 its frequency shows whether it is based on the
/// TSC, with two exceptions: a hypervisor's reference counter has the same frequency with or without the TSC (Hyper-V's
/// top-level functional specification, partition reference counter), and so has Wine on every host.
fn verdict(is_generic_timer: bool, hz: u64, is_virtual: bool, is_wine: bool) -> Verdict {
    let is_based_on_counter = is_generic_timer || (hz == FROM_TSC_HZ && !is_virtual);
    if is_based_on_counter && !is_wine { Verdict::Counter } else { Verdict::Unknown }
}

/// Whether Wine emulates Windows: its ntdll has a function that the original lacks.
fn is_wine() -> bool {
    // SAFETY: both names end with a zero byte, and ntdll is loaded into every process.
    // https://learn.microsoft.com/windows/win32/api/libloaderapi/nf-libloaderapi-getmodulehandlea
    // https://learn.microsoft.com/windows/win32/api/libloaderapi/nf-libloaderapi-getprocaddress
    unsafe {
        let ntdll = GetModuleHandleA(c"ntdll.dll".as_ptr().cast());
        !ntdll.is_null() && GetProcAddress(ntdll, c"wine_get_version".as_ptr().cast()).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_megahertz_means_the_processors_counter_on_bare_metal() {
        let of = |hz, is_virtual, is_wine| verdict(false, hz, is_virtual, is_wine);
        assert_eq!(of(FROM_TSC_HZ, false, false), Verdict::Counter);
        assert_eq!(of(FROM_TSC_HZ, true, false), Verdict::Unknown, "so has a hypervisor's reference counter");
        assert_eq!(of(FROM_TSC_HZ, false, true), Verdict::Unknown);
        assert_eq!(of(3_579_545, false, false), Verdict::Unknown);
        assert_eq!(verdict(true, 24_000_000, true, false), Verdict::Counter, "the generic timer at any frequency");
    }

    /// Wine sets its own variables in every process it starts.
    #[test]
    fn wines_constant_frequency_says_nothing_about_the_counter() {
        assert_eq!(is_wine(), std::env::var_os("WINEUSERNAME").is_some());
        assert!(!is_wine() || kernel_verdict() == Verdict::Unknown);
    }
}
