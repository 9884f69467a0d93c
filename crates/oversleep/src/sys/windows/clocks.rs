//! Windows: the performance counter, what the kernel thinks of the processor's counter, and waits.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use windows_sys::Win32::System::LibraryLoader::{GetModuleHandleA, GetProcAddress};
use windows_sys::Win32::System::Performance::{QueryPerformanceCounter, QueryPerformanceFrequency};

use super::super::counter;
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

/// The performance counter goes on during sleep.
pub(crate) fn continuous_ns() -> u64 {
    monotonic_ns()
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

/// What the performance counter says of the processor's.
pub(crate) fn kernel_verdict() -> Verdict {
    let is_generic_timer = counter::COUNTER == Some(crate::clock::Source::Cntvct);
    verdict(is_generic_timer, frequency_hz(), counter::is_virtual(), is_wine())
}

/// On AArch64 the performance counter is the generic timer; on x86-64 its frequency tells whether it is made of the TSC.
/// A hypervisor's reference counter counts units of 100 ns as well, with the TSC or without (Hyper-V's top-level functional
/// specification, partition reference counter), and Wine gives the same frequency whatever its host's clock is made of.
fn verdict(is_generic_timer: bool, hz: u64, is_virtual: bool, is_wine: bool) -> Verdict {
    let is_made_of_it = is_generic_timer || (hz == FROM_TSC_HZ && !is_virtual);
    if is_made_of_it && !is_wine { Verdict::Counter } else { Verdict::Unknown }
}

/// Whether Wine is in the place of Windows: its ntdll has a function that Windows' hasn't.
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
    fn ten_megahertz_is_the_processors_counter_where_nothing_stands_between() {
        let of = |hz, is_virtual, is_wine| verdict(false, hz, is_virtual, is_wine);
        assert_eq!(of(FROM_TSC_HZ, false, false), Verdict::Counter);
        assert_eq!(of(FROM_TSC_HZ, true, false), Verdict::Unknown, "a hypervisor's reference counter has it too");
        assert_eq!(of(FROM_TSC_HZ, false, true), Verdict::Unknown);
        assert_eq!(of(3_579_545, false, false), Verdict::Unknown);
        assert_eq!(verdict(true, 24_000_000, true, false), Verdict::Counter, "the generic timer is one");
    }

    /// Wine sets variables of its own in every process it starts.
    #[test]
    fn wines_constant_frequency_says_nothing_of_the_counter() {
        assert_eq!(is_wine(), std::env::var_os("WINEUSERNAME").is_some());
        assert!(!is_wine() || kernel_verdict() == Verdict::Unknown);
    }
}
