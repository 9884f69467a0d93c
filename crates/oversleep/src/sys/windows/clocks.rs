//! Windows: the performance counter, the kernel's verdict on the processor's counter, and waits.

use std::ffi::CStr;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use windows_sys::Win32::System::Kernel::PROCESSOR_NUMBER;
use windows_sys::Win32::System::LibraryLoader::{GetModuleHandleA, GetProcAddress};
use windows_sys::Win32::System::Performance::{QueryPerformanceCounter, QueryPerformanceFrequency};
use windows_sys::Win32::System::Threading::GetCurrentProcessorNumberEx;

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

/// Nanoseconds on the performance counter, which also runs while the machine sleeps.
pub(crate) fn continuous_ns() -> u64 {
    let mut count = 0;
    // SAFETY: `count` is writable. The call can't fail since Windows XP.
    // https://learn.microsoft.com/windows/win32/api/profileapi/nf-profileapi-queryperformancecounter
    unsafe { QueryPerformanceCounter(&raw mut count) };
    (u128::from(count.unsigned_abs()) * 1_000_000_000 / u128::from(frequency_hz())) as u64
}

/// Nanoseconds on the performance counter without the time that the machine has slept since this process read it first.
pub(crate) fn monotonic_ns() -> u64 {
    let ns = continuous_ns();
    if ns.wrapping_sub(NOTED_NS.load(Ordering::Acquire)) >= GRAIN_NS {
        note_sleep(ns);
    }
    ns.saturating_sub(SLEPT_NS.load(Ordering::Relaxed))
}

/// When this process last checked whether the machine has slept. A sleep is longer than the time between two checks, so
/// the first read after a sleep checks.
static NOTED_NS: AtomicU64 = AtomicU64::new(0);
const GRAIN_NS: u64 = 1_000_000;
/// How long the machine had slept at the first read, plus one so that it isn't zero; and how long it has slept since then.
static SLEPT_BEFORE_NS: AtomicU64 = AtomicU64::new(0);
static SLEPT_NS: AtomicU64 = AtomicU64::new(0);

#[cold]
fn note_sleep(ns: u64) {
    if let Some(asleep_ns) = asleep_ns() {
        let first = SLEPT_BEFORE_NS.compare_exchange(0, asleep_ns + 1, Ordering::Relaxed, Ordering::Relaxed);
        let slept_ns = (asleep_ns + 1).saturating_sub(first.err().unwrap_or(asleep_ns + 1));
        // Smaller differences are the time between the readings.
        if slept_ns >= SLEPT_NS.load(Ordering::Relaxed) + GRAIN_NS {
            SLEPT_NS.fetch_max(slept_ns, Ordering::Relaxed);
        }
    }
    NOTED_NS.store(ns, Ordering::Release);
}

/// How long the machine has slept since boot: interrupt time less unbiased interrupt time. `None` before Windows 10 and in
/// Wine 8, which don't have both, and if this thread keeps losing its processor between two readings.
/// <https://learn.microsoft.com/windows/win32/api/realtimeapiset/nf-realtimeapiset-queryunbiasedinterrupttimeprecise>
fn asleep_ns() -> Option<u64> {
    static WITH_SLEEP: InterruptTime = InterruptTime::named(c"QueryInterruptTimePrecise");
    static WITHOUT: InterruptTime = InterruptTime::named(c"QueryUnbiasedInterruptTimePrecise");
    const TRIES: usize = 16;
    const WIDTH_NS: u64 = 100_000;
    for _ in 0..TRIES {
        let (before_ns, with_ns, after_ns) = (WITHOUT.ns()?, WITH_SLEEP.ns()?, WITHOUT.ns()?);
        if after_ns.wrapping_sub(before_ns) <= WIDTH_NS {
            return Some(with_ns.saturating_sub(before_ns));
        }
    }
    None
}

/// A query for an interrupt time. Looked up while running, because a program that imports a missing function doesn't
/// start.
struct InterruptTime {
    name: &'static CStr,
    /// The function's address; 0 if it wasn't looked up yet, 1 if it doesn't exist.
    address: AtomicUsize,
}

impl InterruptTime {
    const fn named(name: &'static CStr) -> Self {
        Self { name, address: AtomicUsize::new(0) }
    }

    fn ns(&self) -> Option<u64> {
        let address = match self.address.load(Ordering::Relaxed) {
            0 => self.look_up(),
            known => known,
        };
        if address == 1 {
            return None;
        }
        // SAFETY: the address is that of a function of this type in a library that stays loaded.
        let query: unsafe extern "system" fn(*mut u64) = unsafe { std::mem::transmute(address) };
        let mut hundreds_of_ns = 0;
        // SAFETY: the number is writable.
        unsafe { query(&raw mut hundreds_of_ns) };
        Some(hundreds_of_ns * 100)
    }

    #[cold]
    fn look_up(&self) -> usize {
        // SAFETY: both names end with a zero byte, and kernelbase is loaded into every process.
        let found = unsafe {
            let library = GetModuleHandleA(c"kernelbase.dll".as_ptr().cast());
            if library.is_null() { None } else { GetProcAddress(library, self.name.as_ptr().cast()) }
        };
        let address = found.map_or(1, |function| function as usize);
        self.address.store(address, Ordering::Relaxed);
        address
    }
}

/// Nobody adjusts the performance counter.
pub(crate) fn steady_ns() -> u64 {
    monotonic_ns()
}

/// The processor that this thread runs on, with its group.
pub(crate) fn current_cpu() -> Option<u32> {
    let mut number = PROCESSOR_NUMBER { Group: 0, Number: 0, Reserved: 0 };
    // SAFETY: the number is writable.
    // https://learn.microsoft.com/windows/win32/api/processthreadsapi/nf-processthreadsapi-getcurrentprocessornumberex
    unsafe { GetCurrentProcessorNumberEx(&raw mut number) };
    Some(u32::from(number.Group) << 8 | u32::from(number.Number))
}

/// Waits once until `deadline_ns` by the clock that also runs during sleep. The waits of Windows don't count sleep, so
/// this one looks at the clock every quarter of a second.
pub(crate) fn wait_once_until_continuous(deadline_ns: u64) {
    let left_ns = deadline_ns.saturating_sub(continuous_ns());
    super::wait_once_until(monotonic_ns().saturating_add(left_ns.min(250_000_000)));
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
