//! What several folders of this platform share: the reference clock, functions that older versions of Windows lack, and
//! reasons for failed calls. A call used once is where it is used.

use std::ffi::CStr;
use std::io;
use std::mem::transmute_copy;
use std::sync::OnceLock;

use oversleep_record::{Nanos, Unavailable};
use windows_sys::Wdk::System::SystemInformation::NtQueryTimerResolution;
use windows_sys::Win32::Foundation::{FILETIME, HMODULE, RtlNtStatusToDosError};
use windows_sys::Win32::System::LibraryLoader::{
    GetModuleHandleA, GetProcAddress, LOAD_LIBRARY_SEARCH_SYSTEM32, LOAD_WITH_ALTERED_SEARCH_PATH, LoadLibraryExA,
};
use windows_sys::Win32::System::Performance::{QueryPerformanceCounter, QueryPerformanceFrequency};
use windows_sys::Win32::System::SystemInformation::GetSystemDirectoryA;
use windows_sys::Win32::System::Threading::{GetCurrentProcess, GetCurrentThread, GetProcessTimes, GetThreadTimes};

/// Ticks of the performance counter.
#[inline(always)]
pub fn performance_count() -> u64 {
    let mut count = 0;
    // SAFETY: `count` is writable. The call can't fail since Windows XP.
    // https://learn.microsoft.com/windows/win32/api/profileapi/nf-profileapi-queryperformancecounter
    unsafe { QueryPerformanceCounter(&raw mut count) };
    count.unsigned_abs()
}

/// Ticks of the performance counter per second; fixed at boot.
#[inline]
pub fn performance_frequency() -> u64 {
    static HZ: OnceLock<u64> = OnceLock::new();
    *HZ.get_or_init(|| {
        let mut hz = 0;
        // SAFETY: `hz` is writable. The call can't fail since Windows XP.
        // https://learn.microsoft.com/windows/win32/api/profileapi/nf-profileapi-queryperformancefrequency
        unsafe { QueryPerformanceFrequency(&raw mut hz) };
        hz.unsigned_abs().max(1)
    })
}

/// The reference clock: the performance counter in ns. The arithmetic is in 128 bits, because at 10 MHz the product of
/// ticks and 10⁹ exceeds 64 bits half an hour after boot.
#[inline]
pub fn now() -> Nanos {
    Nanos(ticks_to_ns(performance_count(), performance_frequency()) as i64)
}

fn ticks_to_ns(ticks: u64, per_second: u64) -> u64 {
    (u128::from(ticks) * 1_000_000_000 / u128::from(per_second)) as u64
}

/// Periods of the timer interrupt.
#[derive(Clone, Copy, Debug)]
pub struct TimerPeriods {
    /// The longest, in effect while no process requests a shorter one.
    pub default: Nanos,
    /// The shortest that a process can request.
    pub shortest: Nanos,
    /// The one in effect, whoever requested it.
    pub now: Nanos,
}

/// The system's periods of the timer interrupt.
pub fn timer_periods() -> Result<TimerPeriods, Unavailable> {
    let (mut longest, mut shortest, mut now) = (0, 0, 0);
    // SAFETY: the three numbers are writable.
    // https://learn.microsoft.com/windows-hardware/drivers/ddi/wdm/nf-wdm-exquerytimerresolution has the same values.
    let status = unsafe { NtQueryTimerResolution(&raw mut longest, &raw mut shortest, &raw mut now) };
    if status < 0 {
        return Err(failed_status("NtQueryTimerResolution", status));
    }
    let nanos = |hundred_ns: u32| Nanos(i64::from(hundred_ns) * 100);
    Ok(TimerPeriods { default: nanos(longest), shortest: nanos(shortest), now: nanos(now) })
}

/// An empty time, for a call to fill in.
pub const NO_FILETIME: FILETIME = FILETIME { dwLowDateTime: 0, dwHighDateTime: 0 };

/// A time as one number, in units of 100 ns.
#[inline(always)]
pub fn hundred_ns(time: FILETIME) -> u64 {
    u64::from(time.dwHighDateTime) << 32 | u64::from(time.dwLowDateTime)
}

/// CPU time of this process, kernel and user, in units of 100 ns.
#[inline]
pub fn process_cpu_time() -> Option<u64> {
    // SAFETY: the pseudo-handle needs no closing; the four times are writable.
    // https://learn.microsoft.com/windows/win32/api/processthreadsapi/nf-processthreadsapi-getprocesstimes
    cpu_time(|born, ended, kernel, user| unsafe { GetProcessTimes(GetCurrentProcess(), born, ended, kernel, user) })
}

/// CPU time of the calling thread, kernel and user, in units of 100 ns.
#[inline]
pub fn thread_cpu_time() -> Option<u64> {
    // SAFETY: as above.
    // https://learn.microsoft.com/windows/win32/api/processthreadsapi/nf-processthreadsapi-getthreadtimes
    cpu_time(|born, ended, kernel, user| unsafe { GetThreadTimes(GetCurrentThread(), born, ended, kernel, user) })
}

#[inline(always)]
fn cpu_time(call: impl Fn(*mut FILETIME, *mut FILETIME, *mut FILETIME, *mut FILETIME) -> i32) -> Option<u64> {
    let [mut born, mut ended, mut kernel, mut user] = [NO_FILETIME; 4];
    let result = call(&raw mut born, &raw mut ended, &raw mut kernel, &raw mut user);
    (result != 0).then(|| hundred_ns(kernel) + hundred_ns(user))
}

/// A failed call with the error it just left.
pub fn failed(call: &str) -> Unavailable {
    Unavailable::failed(call, io::Error::last_os_error())
}

/// A failed call of the native interface, which returns a status.
/// https://learn.microsoft.com/windows/win32/api/winternl/nf-winternl-rtlntstatustodoserror
pub fn failed_status(call: &str, status: i32) -> Unavailable {
    // SAFETY: takes a number and returns one.
    let error = unsafe { RtlNtStatusToDosError(status) };
    Unavailable::failed(call, io::Error::from_raw_os_error(error as i32))
}

/// A function of the system that older versions lack, looked up at first use.
pub struct Newer<F> {
    library: &'static CStr,
    name: &'static CStr,
    since: &'static str,
    found: OnceLock<Option<F>>,
}

impl<F: Copy> Newer<F> {
    /// The function of this name in one of the system's own libraries.
    ///
    /// # Safety
    /// `F` is a pointer to a function of the type that this library exports.
    pub const unsafe fn new(library: &'static CStr, name: &'static CStr, since: &'static str) -> Newer<F> {
        assert!(size_of::<F>() == size_of::<usize>(), "not a function pointer");
        Newer { library, name, since, found: OnceLock::new() }
    }

    /// The function, if this system exports it.
    #[inline]
    pub fn get(&self) -> Option<F> {
        *self.found.get_or_init(|| self.look_up())
    }

    /// The function.
    ///
    /// # Errors
    /// The version that introduced it.
    pub fn required(&self) -> Result<F, Unavailable> {
        self.get().ok_or_else(|| Unavailable::TooOld { needs: self.since.to_owned() })
    }

    fn look_up(&self) -> Option<F> {
        let module = system_library(self.library)?;
        // SAFETY: the module is one of the system's, which are never unloaded, and the name ends with a zero byte.
        // https://learn.microsoft.com/windows/win32/api/libloaderapi/nf-libloaderapi-getprocaddress
        let function = unsafe { GetProcAddress(module, self.name.as_ptr().cast()) }?;
        // SAFETY: both are function pointers, and the creator of `self` guarantees the type.
        Some(unsafe { transmute_copy(&function) })
    }
}

/// One of the system's own libraries: the loaded one, otherwise from the system's folder only. Windows 7 without the
/// update KB2533623 doesn't know that flag, so there the full path of the folder is used.
fn system_library(name: &CStr) -> Option<HMODULE> {
    // SAFETY: the name ends with a zero byte.
    // https://learn.microsoft.com/windows/win32/api/libloaderapi/nf-libloaderapi-getmodulehandlea
    let loaded = unsafe { GetModuleHandleA(name.as_ptr().cast()) };
    if !loaded.is_null() {
        return Some(loaded);
    }
    // SAFETY: as above; no file handle is given, as the call demands.
    // https://learn.microsoft.com/windows/win32/api/libloaderapi/nf-libloaderapi-loadlibraryexa
    let loaded = unsafe { LoadLibraryExA(name.as_ptr().cast(), std::ptr::null_mut(), LOAD_LIBRARY_SEARCH_SYSTEM32) };
    if !loaded.is_null() {
        return Some(loaded);
    }
    from_system_folder(name)
}

fn from_system_folder(name: &CStr) -> Option<HMODULE> {
    let mut path = [0; 512];
    // SAFETY: the path is valid to write to for the length stated.
    // https://learn.microsoft.com/windows/win32/api/sysinfoapi/nf-sysinfoapi-getsystemdirectorya
    let length = unsafe { GetSystemDirectoryA(path.as_mut_ptr(), path.len() as u32) } as usize;
    let file = name.to_bytes_with_nul();
    // Zero is a failure. A length beyond the buffer is the length needed.
    let room = path.get_mut(length..length + 1 + file.len()).filter(|_| length > 0)?;
    room[0] = b'\\';
    room[1..].copy_from_slice(file);
    // SAFETY: the path ends with the zero byte of the name; no file handle is given, as the call demands.
    // https://learn.microsoft.com/windows/win32/api/libloaderapi/nf-libloaderapi-loadlibraryexa
    let loaded = unsafe { LoadLibraryExA(path.as_ptr(), std::ptr::null_mut(), LOAD_WITH_ALTERED_SEARCH_PATH) };
    (!loaded.is_null()).then_some(loaded)
}

#[cfg(test)]
mod tests {
    use super::*;

    type NoArguments = unsafe extern "system" fn() -> u64;

    #[test]
    fn existing_functions_are_found_and_missing_ones_have_a_reason() {
        // SAFETY: the type of the call.
        // https://learn.microsoft.com/windows/win32/api/sysinfoapi/nf-sysinfoapi-gettickcount64
        static PRESENT: Newer<NoArguments> = unsafe { Newer::new(c"kernel32.dll", c"GetTickCount64", "Windows Vista") };
        // SAFETY: there is no such function to call.
        static ABSENT: Newer<NoArguments> = unsafe { Newer::new(c"kernel32.dll", c"NoSuchCall", "Windows 99") };
        // SAFETY: as above.
        static NOWHERE: Newer<NoArguments> = unsafe { Newer::new(c"no-such.dll", c"NoSuchCall", "Windows 99") };
        let ticks = PRESENT.required().expect("since Windows Vista");
        // SAFETY: takes no argument and returns a number.
        assert!(unsafe { ticks() } > 0);
        assert_eq!(ABSENT.required().err(), Some(Unavailable::TooOld { needs: "Windows 99".to_owned() }));
        assert!(NOWHERE.get().is_none());
    }

    #[test]
    fn a_library_is_also_found_by_the_full_path_of_the_systems_folder() {
        assert!(from_system_folder(c"avrt.dll").is_some());
        assert!(from_system_folder(c"no-such.dll").is_none());
    }

    #[test]
    fn ticks_become_ns_even_if_the_product_exceeds_64_bits() {
        assert_eq!(ticks_to_ns(1, 10_000_000), 100);
        assert_eq!(ticks_to_ns(3_579_545, 3_579_545), 1_000_000_000);
        let a_year = 365 * 24 * 3_600;
        assert_eq!(ticks_to_ns(a_year * 24_000_000, 24_000_000), a_year * 1_000_000_000);
    }

    #[test]
    fn the_reference_clock_goes_forward() {
        let first = now();
        assert!(first > Nanos::ZERO && now() >= first);
    }

    #[test]
    fn a_status_becomes_the_systems_message() {
        // STATUS_ACCESS_DENIED
        let Unavailable::Failed { error, .. } = failed_status("NtAny", 0xc000_0022_u32 as i32) else { panic!() };
        assert!(error.contains("os error 5"), "{error}");
    }
}
