//! The clocks of Linux.

use oversleep_record::clock::{AcrossSuspend, Counts, Epoch};

use super::COMMON;
use super::everywhere::{
    CNTVCT, OVERSLEEP, OVERSLEEP_COARSE, OVERSLEEP_ORDERED, STD_INSTANT, STD_INSTANT_MS, STD_SYSTEMTIME,
    STD_SYSTEMTIME_MS, TSC, TSC_FENCED, TSCP,
};
use crate::catalogue::{entry, man7};
use crate::clock::{ClockInfo, ClockUnit, Follows};

const ELAPSED: ClockInfo = ClockInfo { since: "Linux 2.6", page: man7!("2/clock_gettime.2"), ..COMMON };

const OF_DAY: ClockInfo =
    ClockInfo { counts: Counts::TimeOfDay, epoch: Epoch::Unix, across_suspend: AcrossSuspend::Continues, ..ELAPSED };

const CPU_OF_PROCESS: ClockInfo = ClockInfo {
    counts: Counts::ProcessCpuTime,
    epoch: Epoch::Process,
    may_avoid_syscall: false,
    since: "Linux 2.6.12",
    ..ELAPSED
};

/// The clocks of Linux, in the order of its registry.
pub const LINUX: &[ClockInfo] = &[
    entry! { ELAPSED: "monotonic" => "clock_gettime(CLOCK_MONOTONIC)",
    "Elapsed time. NTP steers its rate, but nobody can set it: use it to measure durations and to set deadlines." },
    entry! { ELAPSED: "monotonic-raw" => "clock_gettime(CLOCK_MONOTONIC_RAW)", since: "Linux 2.6.28",
    "Elapsed time at the hardware's own rate, without NTP's steering. It drifts against every other clock, and no \
     wait accepts it. On x86, a read needs no system call since Linux 5.3." },
    entry! { ELAPSED: "monotonic-coarse" => "clock_gettime(CLOCK_MONOTONIC_COARSE)", follows: Follows::KernelTick,
    since: "Linux 2.6.32",
    "CLOCK_MONOTONIC as of the last tick: the cheapest clock, in steps of 1/HZ (1 to 10 ms). It can't measure \
     durations close to one step." },
    entry! { ELAPSED: "boottime" => "clock_gettime(CLOCK_BOOTTIME)", across_suspend: AcrossSuspend::Continues,
    since: "Linux 2.6.39",
    "CLOCK_MONOTONIC plus the time that the machine was suspended." },
    entry! { OF_DAY: "realtime" => "clock_gettime(CLOCK_REALTIME)",
    "Time of day. It steps when someone sets it, so don't measure durations with it." },
    entry! { OF_DAY: "realtime-coarse" => "clock_gettime(CLOCK_REALTIME_COARSE)", follows: Follows::KernelTick,
    since: "Linux 2.6.32",
    "Time of day as of the last tick, in steps of 1/HZ: good enough for log lines." },
    entry! { OF_DAY: "tai" => "clock_gettime(CLOCK_TAI)", epoch: Epoch::Tai, since: "Linux 3.10",
    "Time of day without leap seconds. It equals CLOCK_REALTIME until something tells the kernel the offset." },
    entry! { CPU_OF_PROCESS: "process-cputime" => "clock_gettime(CLOCK_PROCESS_CPUTIME_ID)",
    "CPU time of all threads of this process. It stands still while they wait, so don't measure durations with it. \
     Every read is a system call." },
    entry! { CPU_OF_PROCESS: "thread-cputime" => "clock_gettime(CLOCK_THREAD_CPUTIME_ID)",
    counts: Counts::ThreadCpuTime, epoch: Epoch::Thread,
    "CPU time of the calling thread. It stands still while the thread waits. Every read is a system call." },
    entry! { ELAPSED: "monotonic-syscall" => "syscall(SYS_clock_gettime, CLOCK_MONOTONIC)", may_avoid_syscall: false,
    reads: Some("monotonic"),
    "CLOCK_MONOTONIC by a real system call. It shows what a read costs if the vDSO can't answer, or if a sandbox \
     intercepts system calls." },
    entry! { OF_DAY: "gettimeofday" => "gettimeofday", unit: ClockUnit::Microseconds, since: "Linux 1.0",
    page: man7!("2/gettimeofday.2"),
    "Time of day in microseconds. It steps when someone sets it. POSIX marked it obsolescent in 2008." },
    entry! { OF_DAY: "time" => "time(NULL)", unit: ClockUnit::Seconds, since: "Linux 1.0", page: man7!("2/time.2"),
    "Time of day in whole seconds, as of the last tick: at the turn of a second, it can be one tick behind \
     CLOCK_REALTIME." },
    entry! { CPU_OF_PROCESS: "clock" => "clock()", unit: ClockUnit::Microseconds, since: "Linux 1.0",
    reads: Some("process-cputime"),
    page: man7!("3/clock.3"),
    "CPU time of this process in microseconds; on Windows, the same call returns elapsed time. It stands still \
     while the process waits and runs faster than real time when several threads run. Every read is a system \
     call." },
    TSC,
    TSCP,
    TSC_FENCED,
    CNTVCT,
    STD_INSTANT.reading("monotonic"),
    STD_INSTANT_MS,
    STD_SYSTEMTIME.reading("realtime"),
    STD_SYSTEMTIME_MS,
    OVERSLEEP,
    OVERSLEEP_ORDERED,
    OVERSLEEP_COARSE,
];
