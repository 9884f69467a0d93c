//! Milliseconds since boot.

use oversleep_record::Nanos;
use windows_sys::Win32::Media::timeGetTime;
use windows_sys::Win32::System::SystemInformation::{GetSystemTimeAdjustment, GetTickCount, GetTickCount64};

use super::{COMMON, always, milliseconds_hz, timer_period};
use crate::fn_clock::FnClock;
use oversleep_system::{Clock, ClockInfo};

const MILLISECONDS: ClockInfo = ClockInfo { unit: "ms", ..COMMON };

pub(super) fn registry() -> Vec<Box<dyn Clock>> {
    vec![
        Box::new(FnClock {
            info: ClockInfo {
                name: "get-tick-count-64",
                call: "GetTickCount64",
                doc: "Milliseconds since boot in steps of 15 or 16 ms, whatever timer resolution is asked for: a program \
                      timed with it seems to take 0, 15 or 16 ms.",
                since: "Windows Vista",
                page: "https://learn.microsoft.com/windows/win32/api/sysinfoapi/nf-sysinfoapi-gettickcount64",
                ..MILLISECONDS
            },
            available: always,
            frequency_hz: milliseconds_hz,
            step: clock_interrupt_period,
            // SAFETY: takes nothing and returns a number.
            read: || unsafe { GetTickCount64() },
        }),
        Box::new(FnClock {
            info: ClockInfo {
                name: "get-tick-count",
                call: "GetTickCount",
                doc: "Milliseconds since boot in steps of 15 or 16 ms, whatever timer resolution is asked for. Wraps \
                      after 49.7 days.",
                bits: 32,
                since: "Windows NT",
                page: "https://learn.microsoft.com/windows/win32/api/sysinfoapi/nf-sysinfoapi-gettickcount",
                ..MILLISECONDS
            },
            available: always,
            frequency_hz: milliseconds_hz,
            step: clock_interrupt_period,
            // SAFETY: takes nothing and returns a number.
            read: || u64::from(unsafe { GetTickCount() }),
        }),
        Box::new(FnClock {
            info: ClockInfo {
                name: "time-get-time",
                call: "timeGetTime",
                doc: "Milliseconds since boot in steps of the timer period in effect on the machine, no finer than 1 ms. \
                      Wraps after 49.7 days.",
                bits: 32,
                since: "Windows 95",
                page: "https://learn.microsoft.com/windows/win32/api/timeapi/nf-timeapi-timegettime",
                ..MILLISECONDS
            },
            available: always,
            frequency_hz: milliseconds_hz,
            step: timer_period_in_milliseconds,
            // SAFETY: takes nothing and returns a number.
            read: || u64::from(unsafe { timeGetTime() }),
        }),
    ]
}

/// This clock's unit hides what is finer.
pub(super) fn timer_period_in_milliseconds() -> Option<Nanos> {
    timer_period().map(|period| period.max(Nanos::from_millis(1)))
}

/// The period of the clock interrupt by which the system keeps its time, which the tick count advances by.
pub(in crate::windows) fn clock_interrupt_period() -> Option<Nanos> {
    let (mut adjustment, mut increment, mut disabled) = (0, 0, 0);
    // SAFETY: the three numbers are valid to write to.
    // https://learn.microsoft.com/windows/win32/api/sysinfoapi/nf-sysinfoapi-getsystemtimeadjustment
    let result = unsafe { GetSystemTimeAdjustment(&raw mut adjustment, &raw mut increment, &raw mut disabled) };
    (result != 0 && increment > 0).then_some(Nanos(i64::from(increment) * 100))
}
