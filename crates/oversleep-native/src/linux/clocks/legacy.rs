//! The older calls of the C library.

use oversleep_record::clock::{AcrossSuspend, Counts, Epoch};

use super::{COMMON, FnClock, always, none};
use crate::unix::os;
use oversleep_system::{Clock, ClockInfo};

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
            read: os::gettimeofday_us,
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
            read: os::time_s,
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
            read: os::clock_us,
        }),
    ]
}
