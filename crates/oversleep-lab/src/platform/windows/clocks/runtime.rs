//! The calls of the C library.

use oversleep_record::Nanos;
use oversleep_record::clock::{Counts, Epoch};

use super::{COMMON, always, milliseconds_hz, none};
use crate::platform::fn_clock::FnClock;
use crate::platform::interface::{Clock, ClockInfo};

pub(super) fn registry() -> Vec<Box<dyn Clock>> {
    vec![
        Box::new(FnClock {
            info: ClockInfo {
                name: "clock",
                call: "clock()",
                doc: "Milliseconds since the process started: elapsed time, where POSIX systems give CPU time under the \
                      same name. Ends after 24.8 days.",
                epoch: Epoch::Process,
                unit: "ms",
                bits: 31,
                since: "Windows NT",
                page: "https://learn.microsoft.com/cpp/c-runtime-library/reference/clock",
                ..COMMON
            },
            available: always,
            frequency_hz: milliseconds_hz,
            // CLOCKS_PER_SEC.
            step: || Some(Nanos::from_millis(1)),
            // SAFETY: takes nothing and returns a number.
            read: || u64::try_from(unsafe { clock() }).unwrap_or(0),
        }),
        Box::new(FnClock {
            info: ClockInfo {
                name: "time",
                call: "_time64(NULL)",
                doc: "Time of day in whole seconds.",
                counts: Counts::TimeOfDay,
                epoch: Epoch::Unix,
                unit: "s",
                since: "Windows NT",
                page: "https://learn.microsoft.com/cpp/c-runtime-library/reference/time-time32-time64",
                ..COMMON
            },
            available: always,
            frequency_hz: || Some(1),
            step: none,
            // SAFETY: a null pointer is allowed: the time is only returned.
            read: || u64::try_from(unsafe { _time64(std::ptr::null_mut()) }).unwrap_or(0),
        }),
    ]
}

// SAFETY: as <time.h> of Microsoft's C library declares them: clock_t is a 32-bit long, __time64_t has 64 bits.
unsafe extern "C" {
    fn clock() -> i32;
    fn _time64(time: *mut i64) -> i64;
}
