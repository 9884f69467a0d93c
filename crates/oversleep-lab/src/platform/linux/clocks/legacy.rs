//! The older calls of the C library.

use oversleep_record::clock::{AcrossSuspend, Counts, Epoch};

use super::{COMMON, FnClock, always, none};
use crate::platform::interface::{Clock, ClockInfo};

pub(super) fn registry() -> Vec<Box<dyn Clock>> {
    vec![
        Box::new(FnClock {
            info: ClockInfo {
                name: "gettimeofday",
                call: "gettimeofday",
                doc: "Time of day in microseconds. It can be set, and steps then; POSIX has marked it obsolescent \
                      since 2008.",
                counts: Counts::TimeOfDay,
                epoch: Epoch::Unix,
                unit: "us",
                across_suspend: AcrossSuspend::Continues,
                since: "1.0",
                page: "https://man7.org/linux/man-pages/man2/gettimeofday.2.html",
                ..COMMON
            },
            available: always,
            frequency_hz: || Some(1_000_000),
            step: none,
            read: || {
                let mut time = libc::timeval { tv_sec: 0, tv_usec: 0 };
                // SAFETY: `time` is a valid timeval; a null time zone is allowed.
                unsafe { libc::gettimeofday(&mut time, std::ptr::null_mut()) };
                (time.tv_sec as u64).wrapping_mul(1_000_000).wrapping_add(time.tv_usec as u64)
            },
        }),
        Box::new(FnClock {
            info: ClockInfo {
                name: "time",
                call: "time(NULL)",
                doc: "Time of day in whole seconds, as of the last timer tick: up to one tick behind CLOCK_REALTIME \
                      at the turn of a second.",
                counts: Counts::TimeOfDay,
                epoch: Epoch::Unix,
                unit: "s",
                across_suspend: AcrossSuspend::Continues,
                since: "1.0",
                page: "https://man7.org/linux/man-pages/man2/time.2.html",
                ..COMMON
            },
            available: always,
            frequency_hz: || Some(1),
            step: none,
            // SAFETY: a null pointer is allowed: the time is only returned.
            read: || unsafe { libc::time(std::ptr::null_mut()) as u64 },
        }),
        Box::new(FnClock {
            info: ClockInfo {
                name: "clock",
                call: "clock()",
                doc: "CPU time of this process in microseconds (on Windows the same name is elapsed time). It stands \
                      still while the process waits and runs faster than time with several threads. Always a system \
                      call.",
                counts: Counts::ProcessCpuTime,
                epoch: Epoch::Process,
                unit: "us",
                may_avoid_syscall: false,
                since: "1.0",
                page: "https://man7.org/linux/man-pages/man3/clock.3.html",
                ..COMMON
            },
            available: always,
            frequency_hz: || Some(1_000_000),
            step: none,
            read: || {
                // SAFETY: takes nothing and returns a number.
                unsafe { clock() as u64 }
            },
        }),
    ]
}

// SAFETY: as <time.h> declares it: no argument, one clock_t.
unsafe extern "C" {
    // The libc crate declares it for other systems only. https://man7.org/linux/man-pages/man3/clock.3.html
    fn clock() -> libc::clock_t;
}
