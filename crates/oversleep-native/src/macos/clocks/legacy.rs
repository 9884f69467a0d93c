//! The older calls of the C library.

use oversleep_record::clock::{AcrossSuspend, Counts, Epoch};

use super::{FnClock, HERE, always, none};
use crate::unix::os;
use oversleep_system::{Clock, ClockInfo};

const TIME_OF_DAY: ClockInfo = ClockInfo {
    counts: Counts::TimeOfDay,
    epoch: Epoch::Unix,
    across_suspend: AcrossSuspend::Continues,
    since: "Mac OS X 10.0",
    ..HERE
};

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
            read: os::gettimeofday_us,
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
            read: os::time_s,
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
            read: os::clock_us,
        }),
    ]
}
