//! Time of day.

use windows_sys::Win32::Foundation::FILETIME;
use windows_sys::Win32::System::SystemInformation::GetSystemTimeAsFileTime;

use super::step::timer_resolution;
use crate::fn_clock::{FnClock, Read};
use crate::windows::os::{self, Newer};

type Query = unsafe extern "system" fn(*mut FILETIME);

// SAFETY: the type of the call: a pointer to the time it fills in.
static PRECISE: Newer<Query> = unsafe { Newer::new(c"kernel32.dll", c"GetSystemTimePreciseAsFileTime", "Windows 8") };

pub(super) const READS: &[Read] = &[
    ("system-time", |info| FnClock::new(info, system_time).step(timer_resolution).boxed()),
    ("system-time-precise", |info| {
        FnClock::new(info, system_time_precise).available(|| PRECISE.required().map(drop)).boxed()
    }),
];

#[inline(always)]
fn system_time() -> u64 {
    let mut time = os::NO_FILETIME;
    // SAFETY: `time` is valid to write to.
    unsafe { GetSystemTimeAsFileTime(&raw mut time) };
    os::hundred_ns(time)
}

#[inline(always)]
fn system_time_precise() -> u64 {
    let mut time = os::NO_FILETIME;
    if let Some(query) = PRECISE.get() {
        // SAFETY: `time` is valid to write to.
        unsafe { query(&raw mut time) };
    }
    os::hundred_ns(time)
}
