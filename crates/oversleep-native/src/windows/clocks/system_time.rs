//! Time of day.

use oversleep_record::clock::{Counts, Epoch};
use windows_sys::Win32::Foundation::FILETIME;
use windows_sys::Win32::System::SystemInformation::GetSystemTimeAsFileTime;

use super::{COMMON, always, hundred_ns_hz, none, timer_period};
use crate::fn_clock::FnClock;
use crate::windows::os::{self, Newer};
use oversleep_system::{Clock, ClockInfo};

type Query = unsafe extern "system" fn(*mut FILETIME);

// SAFETY: the type of the call: a pointer to the time it fills in.
static PRECISE: Newer<Query> = unsafe { Newer::new(c"kernel32.dll", c"GetSystemTimePreciseAsFileTime", "Windows 8") };

const TIME_OF_DAY: ClockInfo = ClockInfo { counts: Counts::TimeOfDay, epoch: Epoch::Windows, ..COMMON };

pub(super) fn registry() -> Vec<Box<dyn Clock>> {
    vec![
        Box::new(FnClock {
            info: ClockInfo {
                name: "system-time",
                call: "GetSystemTimeAsFileTime",
                doc: "Time of day as of the last timer interrupt: steps of the timer period in effect on the machine. It \
                      can be set, and steps then; not for durations.",
                since: "Windows NT",
                page: "https://learn.microsoft.com/windows/win32/api/sysinfoapi/nf-sysinfoapi-getsystemtimeasfiletime",
                ..TIME_OF_DAY
            },
            available: always,
            frequency_hz: hundred_ns_hz,
            step: timer_period,
            read: || {
                let mut time = os::NO_FILETIME;
                // SAFETY: `time` is valid to write to.
                unsafe { GetSystemTimeAsFileTime(&raw mut time) };
                os::hundred_ns(time)
            },
        }),
        Box::new(FnClock {
            info: ClockInfo {
                name: "system-time-precise",
                call: "GetSystemTimePreciseAsFileTime",
                doc: "Time of day read from the hardware, in units of 100 ns. It can be set, and steps then; not for \
                      durations.",
                since: "Windows 8",
                page: "https://learn.microsoft.com/windows/win32/api/sysinfoapi/nf-sysinfoapi-getsystemtimepreciseasfiletime",
                ..TIME_OF_DAY
            },
            available: || PRECISE.required().map(drop),
            frequency_hz: hundred_ns_hz,
            step: none,
            read: || {
                let mut time = os::NO_FILETIME;
                if let Some(query) = PRECISE.get() {
                    // SAFETY: `time` is valid to write to.
                    unsafe { query(&raw mut time) };
                }
                os::hundred_ns(time)
            },
        }),
    ]
}
