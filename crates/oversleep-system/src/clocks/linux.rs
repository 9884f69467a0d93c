//! The clocks of Linux.

use oversleep_record::clock::{AcrossSuspend, Counts, Epoch};

use super::COMMON;
use super::everywhere::{
    CNTVCT, OVERSLEEP, OVERSLEEP_COARSE, OVERSLEEP_ORDERED, STD_INSTANT, STD_SYSTEMTIME, TSC, TSC_FENCED, TSCP,
};
use crate::clock::{ClockInfo, ClockUnit, Follows};

const ELAPSED: ClockInfo =
    ClockInfo { since: "Linux 2.6", page: "https://man7.org/linux/man-pages/man2/clock_gettime.2.html", ..COMMON };

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
    ClockInfo {
        name: "monotonic",
        call: "clock_gettime(CLOCK_MONOTONIC)",
        doc: "Elapsed time. NTP steers its rate, but nobody can set it: use it to measure durations and to set \
              deadlines.",
        ..ELAPSED
    },
    ClockInfo {
        name: "monotonic-raw",
        call: "clock_gettime(CLOCK_MONOTONIC_RAW)",
        doc: "Elapsed time at the hardware's own rate, without NTP's steering. It drifts against every other clock, \
              and no wait accepts it. On x86, a read needs no system call since Linux 5.3.",
        since: "Linux 2.6.28",
        ..ELAPSED
    },
    ClockInfo {
        name: "monotonic-coarse",
        call: "clock_gettime(CLOCK_MONOTONIC_COARSE)",
        doc: "CLOCK_MONOTONIC as of the last tick: the cheapest clock, in steps of 1/HZ (1 to 10 ms). It can't measure \
              durations close to one step.",
        follows: Follows::KernelTick,
        since: "Linux 2.6.32",
        ..ELAPSED
    },
    ClockInfo {
        name: "boottime",
        call: "clock_gettime(CLOCK_BOOTTIME)",
        doc: "CLOCK_MONOTONIC plus the time that the machine was suspended.",
        across_suspend: AcrossSuspend::Continues,
        since: "Linux 2.6.39",
        ..ELAPSED
    },
    ClockInfo {
        name: "realtime",
        call: "clock_gettime(CLOCK_REALTIME)",
        doc: "Time of day. It steps when someone sets it, so don't measure durations with it.",
        ..OF_DAY
    },
    ClockInfo {
        name: "realtime-coarse",
        call: "clock_gettime(CLOCK_REALTIME_COARSE)",
        doc: "Time of day as of the last tick, in steps of 1/HZ: good enough for log lines.",
        follows: Follows::KernelTick,
        since: "Linux 2.6.32",
        ..OF_DAY
    },
    ClockInfo {
        name: "tai",
        call: "clock_gettime(CLOCK_TAI)",
        doc: "Time of day without leap seconds. It equals CLOCK_REALTIME until something tells the kernel the offset.",
        epoch: Epoch::Tai,
        since: "Linux 3.10",
        ..OF_DAY
    },
    ClockInfo {
        name: "process-cputime",
        call: "clock_gettime(CLOCK_PROCESS_CPUTIME_ID)",
        doc: "CPU time of all threads of this process. It stands still while they wait, so don't measure durations \
              with it. Every read is a system call.",
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
        name: "monotonic-syscall",
        call: "syscall(SYS_clock_gettime, CLOCK_MONOTONIC)",
        doc: "CLOCK_MONOTONIC by a real system call. It shows what a read costs if the vDSO can't answer, or if \
              a sandbox intercepts system calls.",
        may_avoid_syscall: false,
        ..ELAPSED
    },
    ClockInfo {
        name: "gettimeofday",
        call: "gettimeofday",
        doc: "Time of day in microseconds. It steps when someone sets it. POSIX marked it obsolescent in 2008.",
        unit: ClockUnit::Microseconds,
        since: "Linux 1.0",
        page: "https://man7.org/linux/man-pages/man2/gettimeofday.2.html",
        ..OF_DAY
    },
    ClockInfo {
        name: "time",
        call: "time(NULL)",
        doc: "Time of day in whole seconds, as of the last tick: at the turn of a second, it can be one tick behind \
              CLOCK_REALTIME.",
        unit: ClockUnit::Seconds,
        since: "Linux 1.0",
        page: "https://man7.org/linux/man-pages/man2/time.2.html",
        ..OF_DAY
    },
    ClockInfo {
        name: "clock",
        call: "clock()",
        doc: "CPU time of this process in microseconds; on Windows, the same call returns elapsed time. It stands \
              still while the process waits and runs faster than real time when several threads run. Every read is a \
              system call.",
        unit: ClockUnit::Microseconds,
        since: "Linux 1.0",
        page: "https://man7.org/linux/man-pages/man3/clock.3.html",
        ..CPU_OF_PROCESS
    },
    TSC,
    TSCP,
    TSC_FENCED,
    CNTVCT,
    STD_INSTANT,
    STD_SYSTEMTIME,
    OVERSLEEP,
    OVERSLEEP_ORDERED,
    OVERSLEEP_COARSE,
];
