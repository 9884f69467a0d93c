//! The clocks of macOS.

use oversleep_record::clock::{AcrossSuspend, Counts, Epoch};

use super::COMMON;
use super::everywhere::{
    CNTVCT, OVERSLEEP, OVERSLEEP_COARSE, OVERSLEEP_ORDERED, STD_INSTANT, STD_INSTANT_MS, STD_SYSTEMTIME,
    STD_SYSTEMTIME_MS, TSC, TSC_FENCED, TSCP,
};
use crate::catalogue::{entry, man};
use crate::clock::{ClockInfo, ClockUnit};

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
    entry! { UPTIME: "mach-absolute" => "mach_absolute_time()", unit: ClockUnit::Ticks, since: "Mac OS X 10.0",
    page: "https://developer.apple.com/documentation/kernel/1462446-mach_absolute_time",
    "The clock under all others, in units of the timebase: 24 MHz on Apple silicon, ns on Intel. It reads the \
     processor's counter without a system call. A program that takes its units for ns is off by a factor of 41.67 \
     on Apple silicon." },
    entry! { CONTINUES: "mach-continuous" => "mach_continuous_time()", unit: ClockUnit::Ticks,
    reads: Some("mach-absolute"),
    page: "https://developer.apple.com/documentation/kernel/1646199-mach_continuous_time",
    "mach_absolute_time plus the time asleep." },
    entry! { UPTIME: "mach-approximate" => "mach_approximate_time()", unit: ClockUnit::Ticks, is_modelled: false,
    since: "OS X 10.10", page: MACH_TIME,
    "mach_absolute_time as the kernel last noted it, read from memory. If the kernel keeps that value, this is \
     the cheapest clock; elsewhere it is as fine and as expensive as the precise one." },
    entry! { CONTINUES: "mach-continuous-approximate" => "mach_continuous_approximate_time()", unit: ClockUnit::Ticks,
    is_modelled: false, page: MACH_TIME,
    "mach_continuous_time as the kernel last stored it." },
    entry! { UPTIME: "uptime-raw" => "clock_gettime(CLOCK_UPTIME_RAW)", reads: Some("mach-absolute"),
    "mach_absolute_time in ns: elapsed time without the time asleep, which nobody sets or steers. Use it to \
     measure durations; Rust's Instant reads it." },
    entry! { UPTIME: "uptime-raw-approx" => "clock_gettime(CLOCK_UPTIME_RAW_APPROX)", is_modelled: false,
    "CLOCK_UPTIME_RAW as the kernel last stored it, at a context switch or timer: good enough for log lines. It \
     can't measure durations close to its step." },
    entry! { CONTINUES: "monotonic" => "clock_gettime(CLOCK_MONOTONIC)",
    "Time of day less the time of boot, in whole microseconds. It follows NTP's steering and counts the time \
     asleep. Waits and Rust's Instant use CLOCK_UPTIME_RAW instead." },
    entry! { CONTINUES: "monotonic-raw" => "clock_gettime(CLOCK_MONOTONIC_RAW)", reads: Some("mach-continuous"),
    "mach_continuous_time in ns: elapsed time with the time asleep, which nobody steers." },
    entry! { CONTINUES: "monotonic-raw-approx" => "clock_gettime(CLOCK_MONOTONIC_RAW_APPROX)", is_modelled: false,
    "CLOCK_MONOTONIC_RAW as the kernel last noted it, at a context switch or timer." },
    entry! { OF_DAY: "realtime" => "clock_gettime(CLOCK_REALTIME)",
    "Time of day in whole microseconds. It steps when someone sets it, so don't measure durations with it." },
    entry! { CPU_OF_PROCESS: "process-cputime" => "clock_gettime(CLOCK_PROCESS_CPUTIME_ID)",
    "CPU time of all threads of this process, in whole microseconds. It stands still while they wait, so don't \
     measure durations with it. Every read is a system call." },
    entry! { CPU_OF_PROCESS: "thread-cputime" => "clock_gettime(CLOCK_THREAD_CPUTIME_ID)",
    counts: Counts::ThreadCpuTime, epoch: Epoch::Thread,
    "CPU time of the calling thread. It stands still while the thread waits. Every read is a system call." },
    entry! { UPTIME: "uptime-raw-nsec" => "clock_gettime_nsec_np(CLOCK_UPTIME_RAW)", is_modelled: false,
    "CLOCK_UPTIME_RAW as one number. Apple recommends it over mach_absolute_time and a conversion." },
    entry! { UPTIME: "uptime-raw-approx-nsec" => "clock_gettime_nsec_np(CLOCK_UPTIME_RAW_APPROX)", is_modelled: false,
    "CLOCK_UPTIME_RAW_APPROX as one number." },
    entry! { CONTINUES: "monotonic-raw-nsec" => "clock_gettime_nsec_np(CLOCK_MONOTONIC_RAW)", is_modelled: false,
    "CLOCK_MONOTONIC_RAW as one number." },
    entry! { CONTINUES: "monotonic-raw-approx-nsec" => "clock_gettime_nsec_np(CLOCK_MONOTONIC_RAW_APPROX)",
    is_modelled: false,
    "CLOCK_MONOTONIC_RAW_APPROX as one number." },
    entry! { OF_DAY: "gettimeofday" => "gettimeofday", unit: ClockUnit::Microseconds, since: "Mac OS X 10.0",
    page: man!("2/gettimeofday.2"),
    "Time of day in microseconds. It steps when someone sets it. POSIX marked it obsolescent in 2008." },
    entry! { OF_DAY: "time" => "time(NULL)", unit: ClockUnit::Seconds, is_modelled: false, since: "Mac OS X 10.0",
    page: man!("3/time.3"),
    "Time of day in whole seconds." },
    entry! { CPU_OF_PROCESS: "clock" => "clock()", unit: ClockUnit::Microseconds, since: "Mac OS X 10.0",
    page: man!("3/clock.3"),
    "CPU time of this process in microseconds; on Windows, the same call returns elapsed time. It stands still \
     while the process waits and runs faster than real time when several threads run. Every read is a system \
     call." },
    TSC,
    TSCP,
    TSC_FENCED,
    CNTVCT,
    STD_INSTANT.reading("uptime-raw"),
    STD_INSTANT_MS,
    STD_SYSTEMTIME.not_modelled(),
    STD_SYSTEMTIME_MS,
    OVERSLEEP,
    OVERSLEEP_ORDERED,
    OVERSLEEP_COARSE,
];
