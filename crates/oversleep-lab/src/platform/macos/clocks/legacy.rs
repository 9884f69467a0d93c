//! The older calls of the C library.

use oversleep_record::clock::{AcrossSuspend, Counts, Epoch};

use super::{FnClock, HERE, always, none};
use crate::platform::interface::{Clock, ClockInfo};

const TIME_OF_DAY: ClockInfo = ClockInfo {
    counts: Counts::TimeOfDay,
    epoch: Epoch::Unix,
    across_suspend: AcrossSuspend::Continues,
    since: "Mac OS X 10.0",
    ..HERE
};

// SAFETY: as <time.h> declares it: no argument, one clock_t.
unsafe extern "C" {
    // https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man3/clock.3.html
    fn clock() -> libc::clock_t;
}

pub(super) fn registry() -> Vec<Box<dyn Clock>> {
    vec![
        Box::new(FnClock {
            info: ClockInfo {
                name: "gettimeofday",
                call: "gettimeofday",
                doc: "Time of day in microseconds. It can be set, and steps then; POSIX has marked it obsolescent since \
                      2008.",
                unit: "us",
                page: "https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/gettimeofday.2.html",
                ..TIME_OF_DAY
            },
            available: always,
            frequency_hz: || Some(1_000_000),
            step: none,
            read: || {
                let mut time = libc::timeval { tv_sec: 0, tv_usec: 0 };
                // SAFETY: `time` is a valid timeval; a null time zone is allowed.
                unsafe { libc::gettimeofday(&raw mut time, std::ptr::null_mut()) };
                (time.tv_sec as u64).wrapping_mul(1_000_000).wrapping_add(time.tv_usec as u64)
            },
        }),
        Box::new(FnClock {
            info: ClockInfo {
                name: "time",
                call: "time(NULL)",
                doc: "Time of day in whole seconds.",
                unit: "s",
                page: "https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man3/time.3.html",
                ..TIME_OF_DAY
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
                doc: "CPU time of this process in microseconds (on Windows the same name is elapsed time). It stands still \
                      while the process waits and runs faster than time with several threads. Always a system call.",
                counts: Counts::ProcessCpuTime,
                epoch: Epoch::Process,
                unit: "us",
                may_avoid_syscall: false,
                since: "Mac OS X 10.0",
                page: "https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man3/clock.3.html",
                ..HERE
            },
            available: always,
            frequency_hz: || Some(1_000_000),
            step: none,
            // SAFETY: takes nothing and returns a number.
            read: || unsafe { clock() as u64 },
        }),
    ]
}
