//! `clock_gettime` by clock id, through the C library (vDSO where it answers) and through the bare system call.

use oversleep_record::Nanos;
use oversleep_record::clock::{AcrossSuspend, Counts, Epoch};

use super::{COMMON, FnClock};
use crate::linux::os;
use crate::unix::clocks::posix_clock;
use oversleep_system::{Clock, ClockInfo};

pub(super) fn registry() -> Vec<Box<dyn Clock>> {
    vec![
        posix_clock!(
            CLOCK_MONOTONIC,
            ClockInfo {
                name: "monotonic",
                call: "clock_gettime(CLOCK_MONOTONIC)",
                doc: "Elapsed time, steered by NTP but never set: the clock to measure with and to set deadlines on.",
                ..COMMON
            }
        ),
        posix_clock!(
            CLOCK_MONOTONIC_RAW,
            ClockInfo {
                name: "monotonic-raw",
                call: "clock_gettime(CLOCK_MONOTONIC_RAW)",
                doc: "Elapsed time as the hardware counts it, without NTP's steering. It drifts from every other \
                      clock, and no wait can be given it. Answered without a system call since Linux 5.3 on x86.",
                since: "2.6.28",
                ..COMMON
            }
        ),
        posix_clock!(
            CLOCK_MONOTONIC_COARSE,
            ClockInfo {
                name: "monotonic-coarse",
                call: "clock_gettime(CLOCK_MONOTONIC_COARSE)",
                doc: "CLOCK_MONOTONIC as of the last timer tick: the cheapest clock, in steps of 1/HZ (1 to 10 ms). \
                      Durations near a step can't be measured with it.",
                since: "2.6.32",
                ..COMMON
            }
        ),
        posix_clock!(
            CLOCK_BOOTTIME,
            ClockInfo {
                name: "boottime",
                call: "clock_gettime(CLOCK_BOOTTIME)",
                doc: "CLOCK_MONOTONIC plus the time spent suspended.",
                across_suspend: AcrossSuspend::Continues,
                since: "2.6.39",
                ..COMMON
            }
        ),
        posix_clock!(
            CLOCK_REALTIME,
            ClockInfo {
                name: "realtime",
                call: "clock_gettime(CLOCK_REALTIME)",
                doc: "Time of day. It can be set, and steps then; not for durations.",
                counts: Counts::TimeOfDay,
                epoch: Epoch::Unix,
                across_suspend: AcrossSuspend::Continues,
                ..COMMON
            }
        ),
        posix_clock!(
            CLOCK_REALTIME_COARSE,
            ClockInfo {
                name: "realtime-coarse",
                call: "clock_gettime(CLOCK_REALTIME_COARSE)",
                doc: "Time of day as of the last timer tick, in steps of 1/HZ: enough for log lines.",
                counts: Counts::TimeOfDay,
                epoch: Epoch::Unix,
                across_suspend: AcrossSuspend::Continues,
                since: "2.6.32",
                ..COMMON
            }
        ),
        posix_clock!(
            CLOCK_TAI,
            ClockInfo {
                name: "tai",
                call: "clock_gettime(CLOCK_TAI)",
                doc: "Time of day without leap seconds; equal to CLOCK_REALTIME until something has told the kernel \
                      the offset.",
                counts: Counts::TimeOfDay,
                epoch: Epoch::Tai,
                across_suspend: AcrossSuspend::Continues,
                since: "3.10",
                ..COMMON
            }
        ),
        posix_clock!(
            CLOCK_PROCESS_CPUTIME_ID,
            ClockInfo {
                name: "process-cputime",
                call: "clock_gettime(CLOCK_PROCESS_CPUTIME_ID)",
                doc: "CPU time of all threads of this process. It stands still while they wait: not a clock for \
                      durations. Always a system call.",
                counts: Counts::ProcessCpuTime,
                epoch: Epoch::Process,
                may_avoid_syscall: false,
                since: "2.6.12",
                ..COMMON
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
                may_avoid_syscall: false,
                since: "2.6.12",
                ..COMMON
            }
        ),
        Box::new(FnClock {
            info: ClockInfo {
                name: "monotonic-syscall",
                call: "syscall(SYS_clock_gettime, CLOCK_MONOTONIC)",
                doc: "CLOCK_MONOTONIC by a real system call: what a read costs where the vDSO can't answer, and what \
                      sandboxes that intercept system calls make of it.",
                may_avoid_syscall: false,
                page: "https://man7.org/linux/man-pages/man2/clock_gettime.2.html",
                ..COMMON
            },
            available: || {
                if clock_ns_by_call() != 0 { Ok(()) } else { Err(os::failed("syscall(SYS_clock_gettime)")) }
            },
            frequency_hz: || Some(1_000_000_000),
            step: || os::clock_step(libc::CLOCK_MONOTONIC).ok(),
            read: clock_ns_by_call,
        }),
    ]
}

/// CLOCK_MONOTONIC by system call; 0 where it failed, which no running machine shows.
#[inline(always)]
pub(in crate::linux) fn clock_ns_by_call() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a valid timespec; on both supported architectures it has the kernel's 64-bit layout.
    unsafe { libc::syscall(libc::SYS_clock_gettime, libc::c_long::from(libc::CLOCK_MONOTONIC), &raw mut time) };
    Nanos::from_secs(time.tv_sec).0 as u64 + time.tv_nsec as u64
}
