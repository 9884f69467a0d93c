//! The clocks of macOS.

use oversleep_record::clock::{AcrossSuspend, Counts, Epoch};

use super::COMMON;
use super::everywhere::{
    CNTVCT, OVERSLEEP, OVERSLEEP_COARSE, OVERSLEEP_ORDERED, STD_INSTANT, STD_SYSTEMTIME, TSC, TSC_FENCED, TSCP,
};
use crate::clock::{ClockInfo, ClockUnit};

/// A page of the vendor's archived manual.
macro_rules! man {
    ($page:literal) => {
        concat!(
            "https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/",
            $page,
            ".html"
        )
    };
}

const MACH_TIME: &str = "https://github.com/apple-oss-distributions/xnu/blob/main/osfmk/mach/mach_time.h";

/// Without the time asleep.
const UPTIME: ClockInfo =
    ClockInfo { since: "macOS 10.12", page: "https://keith.github.io/xcode-man-pages/clock_gettime.3.html", ..COMMON };

/// With the time asleep.
const CONTINUES: ClockInfo = ClockInfo { across_suspend: AcrossSuspend::Continues, ..UPTIME };

const OF_DAY: ClockInfo = ClockInfo { counts: Counts::TimeOfDay, epoch: Epoch::Unix, ..CONTINUES };

const CPU_OF_PROCESS: ClockInfo =
    ClockInfo { counts: Counts::ProcessCpuTime, epoch: Epoch::Process, may_avoid_syscall: false, ..UPTIME };

/// The clocks of macOS, in the order of its registry.
pub const MACOS: &[ClockInfo] = &[
    ClockInfo {
        name: "mach-absolute",
        call: "mach_absolute_time()",
        doc: "The clock under all others, in units of the timebase: 24 MHz on Apple silicon, ns on Intel. It reads the \
              processor's counter without a system call. A program that takes its units for ns is off by a factor of \
              41.67 on Apple silicon.",
        unit: ClockUnit::Ticks,
        since: "Mac OS X 10.0",
        page: "https://developer.apple.com/documentation/kernel/1462446-mach_absolute_time",
        ..UPTIME
    },
    ClockInfo {
        name: "mach-continuous",
        call: "mach_continuous_time()",
        doc: "mach_absolute_time plus the time asleep.",
        unit: ClockUnit::Ticks,
        page: "https://developer.apple.com/documentation/kernel/1646199-mach_continuous_time",
        ..CONTINUES
    },
    ClockInfo {
        name: "mach-approximate",
        call: "mach_approximate_time()",
        doc: "mach_absolute_time as the kernel last noted it, read from memory. If the kernel keeps that value, \
              this is the cheapest clock; elsewhere it is as fine and as expensive as the precise one.",
        unit: ClockUnit::Ticks,
        is_modelled: false,
        since: "OS X 10.10",
        page: MACH_TIME,
        ..UPTIME
    },
    ClockInfo {
        name: "mach-continuous-approximate",
        call: "mach_continuous_approximate_time()",
        doc: "mach_continuous_time as the kernel last stored it.",
        unit: ClockUnit::Ticks,
        is_modelled: false,
        page: MACH_TIME,
        ..CONTINUES
    },
    ClockInfo {
        name: "uptime-raw",
        call: "clock_gettime(CLOCK_UPTIME_RAW)",
        doc: "mach_absolute_time in ns: elapsed time without the time asleep, which nobody sets or steers. Use it to \
              measure durations; Rust's Instant reads it.",
        ..UPTIME
    },
    ClockInfo {
        name: "uptime-raw-approx",
        call: "clock_gettime(CLOCK_UPTIME_RAW_APPROX)",
        doc: "CLOCK_UPTIME_RAW as the kernel last stored it, at a context switch or timer: good enough for log lines. \
              It can't measure durations close to its step.",
        is_modelled: false,
        ..UPTIME
    },
    ClockInfo {
        name: "monotonic",
        call: "clock_gettime(CLOCK_MONOTONIC)",
        doc: "Time of day less the time of boot, in whole microseconds. It follows NTP's steering and counts the time \
              asleep. Waits and Rust's Instant use CLOCK_UPTIME_RAW instead.",
        ..CONTINUES
    },
    ClockInfo {
        name: "monotonic-raw",
        call: "clock_gettime(CLOCK_MONOTONIC_RAW)",
        doc: "mach_continuous_time in ns: elapsed time with the time asleep, which nobody steers.",
        ..CONTINUES
    },
    ClockInfo {
        name: "monotonic-raw-approx",
        call: "clock_gettime(CLOCK_MONOTONIC_RAW_APPROX)",
        doc: "CLOCK_MONOTONIC_RAW as the kernel last noted it, at a context switch or timer.",
        is_modelled: false,
        ..CONTINUES
    },
    ClockInfo {
        name: "realtime",
        call: "clock_gettime(CLOCK_REALTIME)",
        doc: "Time of day in whole microseconds. It steps when someone sets it, so don't measure durations with it.",
        ..OF_DAY
    },
    ClockInfo {
        name: "process-cputime",
        call: "clock_gettime(CLOCK_PROCESS_CPUTIME_ID)",
        doc: "CPU time of all threads of this process, in whole microseconds. It stands still while they wait, so \
              don't measure durations with it. Every read is a system call.",
        ..CPU_OF_PROCESS
    },
    ClockInfo {
        name: "thread-cputime",
        call: "clock_gettime(CLOCK_THREAD_CPUTIME_ID)",
        doc: "CPU time of the calling thread. It stands still while the thread waits. Every read is a system call.",
        counts: Counts::ThreadCpuTime,
        epoch: Epoch::Thread,
        ..CPU_OF_PROCESS
    },
    ClockInfo {
        name: "uptime-raw-nsec",
        call: "clock_gettime_nsec_np(CLOCK_UPTIME_RAW)",
        doc: "CLOCK_UPTIME_RAW as one number. Apple recommends it over mach_absolute_time and a conversion.",
        is_modelled: false,
        ..UPTIME
    },
    ClockInfo {
        name: "uptime-raw-approx-nsec",
        call: "clock_gettime_nsec_np(CLOCK_UPTIME_RAW_APPROX)",
        doc: "CLOCK_UPTIME_RAW_APPROX as one number.",
        is_modelled: false,
        ..UPTIME
    },
    ClockInfo {
        name: "monotonic-raw-nsec",
        call: "clock_gettime_nsec_np(CLOCK_MONOTONIC_RAW)",
        doc: "CLOCK_MONOTONIC_RAW as one number.",
        is_modelled: false,
        ..CONTINUES
    },
    ClockInfo {
        name: "monotonic-raw-approx-nsec",
        call: "clock_gettime_nsec_np(CLOCK_MONOTONIC_RAW_APPROX)",
        doc: "CLOCK_MONOTONIC_RAW_APPROX as one number.",
        is_modelled: false,
        ..CONTINUES
    },
    ClockInfo {
        name: "gettimeofday",
        call: "gettimeofday",
        doc: "Time of day in microseconds. It steps when someone sets it. POSIX marked it obsolescent in 2008.",
        unit: ClockUnit::Microseconds,
        since: "Mac OS X 10.0",
        page: man!("man2/gettimeofday.2"),
        ..OF_DAY
    },
    ClockInfo {
        name: "time",
        call: "time(NULL)",
        doc: "Time of day in whole seconds.",
        unit: ClockUnit::Seconds,
        is_modelled: false,
        since: "Mac OS X 10.0",
        page: man!("man3/time.3"),
        ..OF_DAY
    },
    ClockInfo {
        name: "clock",
        call: "clock()",
        doc: "CPU time of this process in microseconds; on Windows, the same call returns elapsed time. It stands \
              still while the process waits and runs faster than real time when several threads run. Every read is a \
              system call.",
        unit: ClockUnit::Microseconds,
        since: "Mac OS X 10.0",
        page: man!("man3/clock.3"),
        ..CPU_OF_PROCESS
    },
    TSC.not_modelled(),
    TSCP.not_modelled(),
    TSC_FENCED.not_modelled(),
    CNTVCT.not_modelled(),
    STD_INSTANT,
    STD_SYSTEMTIME.not_modelled(),
    OVERSLEEP,
    OVERSLEEP_ORDERED,
    OVERSLEEP_COARSE,
];
