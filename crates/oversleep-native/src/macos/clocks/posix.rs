//! `clock_gettime` by clock id, and the same clocks as one number of nanoseconds.

use oversleep_record::clock::{AcrossSuspend, Counts, Epoch};

use super::{FnClock, HERE, nanosecond};
use crate::unix::clocks::{posix_clock, readable};
use oversleep_system::{Clock, ClockInfo};

// SAFETY: as <time.h> declares it, in libSystem since macOS 10.12.
unsafe extern "C" {
    // https://keith.github.io/xcode-man-pages/clock_gettime.3.html
    fn clock_gettime_nsec_np(clock: libc::clockid_t) -> u64;
}

/// The same through the call without a structure.
macro_rules! nsec_clock {
    ($id:ident, $info:expr) => {
        Box::new(FnClock {
            info: $info,
            available: || readable(libc::$id),
            frequency_hz: || Some(1_000_000_000),
            step: nanosecond,
            // SAFETY: takes a number and returns one.
            read: || unsafe { clock_gettime_nsec_np(libc::$id) },
        }) as Box<dyn Clock>
    };
}

const CONTINUES: ClockInfo = ClockInfo { across_suspend: AcrossSuspend::Continues, ..HERE };
const CPU_TIME: ClockInfo = ClockInfo { may_avoid_syscall: false, ..HERE };

pub(super) fn registry() -> Vec<Box<dyn Clock>> {
    vec![
        posix_clock!(
            CLOCK_UPTIME_RAW,
            ClockInfo {
                name: "uptime-raw",
                call: "clock_gettime(CLOCK_UPTIME_RAW)",
                doc: "mach_absolute_time in ns: elapsed time without the time asleep, never set and not steered. The clock \
                      to measure with; Rust's Instant reads it.",
                ..HERE
            }
        ),
        posix_clock!(
            CLOCK_UPTIME_RAW_APPROX,
            ClockInfo {
                name: "uptime-raw-approx",
                call: "clock_gettime(CLOCK_UPTIME_RAW_APPROX)",
                doc: "CLOCK_UPTIME_RAW as the kernel last noted it, at a context switch or timer: for log lines, not for \
                      durations near its step.",
                ..HERE
            }
        ),
        posix_clock!(
            CLOCK_MONOTONIC,
            ClockInfo {
                name: "monotonic",
                call: "clock_gettime(CLOCK_MONOTONIC)",
                doc: "Time of day less the time of boot, in whole microseconds: it follows NTP's steering and counts the \
                      time asleep. Not the clock that waits and Instant use here.",
                ..CONTINUES
            }
        ),
        posix_clock!(
            CLOCK_MONOTONIC_RAW,
            ClockInfo {
                name: "monotonic-raw",
                call: "clock_gettime(CLOCK_MONOTONIC_RAW)",
                doc: "mach_continuous_time in ns: elapsed time with the time asleep, not steered.",
                ..CONTINUES
            }
        ),
        posix_clock!(
            CLOCK_MONOTONIC_RAW_APPROX,
            ClockInfo {
                name: "monotonic-raw-approx",
                call: "clock_gettime(CLOCK_MONOTONIC_RAW_APPROX)",
                doc: "CLOCK_MONOTONIC_RAW as the kernel last noted it, at a context switch or timer.",
                ..CONTINUES
            }
        ),
        posix_clock!(
            CLOCK_REALTIME,
            ClockInfo {
                name: "realtime",
                call: "clock_gettime(CLOCK_REALTIME)",
                doc: "Time of day, in whole microseconds. It can be set, and steps then; not for durations.",
                counts: Counts::TimeOfDay,
                epoch: Epoch::Unix,
                ..CONTINUES
            }
        ),
        posix_clock!(
            CLOCK_PROCESS_CPUTIME_ID,
            ClockInfo {
                name: "process-cputime",
                call: "clock_gettime(CLOCK_PROCESS_CPUTIME_ID)",
                doc: "CPU time of all threads of this process, in whole microseconds. It stands still while they wait: not \
                      a clock for durations. Always a system call.",
                counts: Counts::ProcessCpuTime,
                epoch: Epoch::Process,
                ..CPU_TIME
            }
        ),
        posix_clock!(
            CLOCK_THREAD_CPUTIME_ID,
            ClockInfo {
                name: "thread-cputime",
                call: "clock_gettime(CLOCK_THREAD_CPUTIME_ID)",
                doc: "CPU time of the calling thread. It stands still while the thread waits. Always a system call.",
                counts: Counts::ThreadCpuTime,
                epoch: Epoch::Thread,
                ..CPU_TIME
            }
        ),
        nsec_clock!(
            CLOCK_UPTIME_RAW,
            ClockInfo {
                name: "uptime-raw-nsec",
                call: "clock_gettime_nsec_np(CLOCK_UPTIME_RAW)",
                doc: "CLOCK_UPTIME_RAW as one number, which Apple recommends over mach_absolute_time and a conversion.",
                ..HERE
            }
        ),
        nsec_clock!(
            CLOCK_UPTIME_RAW_APPROX,
            ClockInfo {
                name: "uptime-raw-approx-nsec",
                call: "clock_gettime_nsec_np(CLOCK_UPTIME_RAW_APPROX)",
                doc: "CLOCK_UPTIME_RAW_APPROX as one number.",
                ..HERE
            }
        ),
        nsec_clock!(
            CLOCK_MONOTONIC_RAW,
            ClockInfo {
                name: "monotonic-raw-nsec",
                call: "clock_gettime_nsec_np(CLOCK_MONOTONIC_RAW)",
                doc: "CLOCK_MONOTONIC_RAW as one number.",
                ..CONTINUES
            }
        ),
        nsec_clock!(
            CLOCK_MONOTONIC_RAW_APPROX,
            ClockInfo {
                name: "monotonic-raw-approx-nsec",
                call: "clock_gettime_nsec_np(CLOCK_MONOTONIC_RAW_APPROX)",
                doc: "CLOCK_MONOTONIC_RAW_APPROX as one number.",
                ..CONTINUES
            }
        ),
    ]
}
