//! CPU time of this process and thread, in 100 ns and in cycles.

use oversleep_record::clock::{AcrossSuspend, Counts, Epoch};
use windows_sys::Win32::System::Threading::{GetCurrentProcess, GetCurrentThread};
use windows_sys::Win32::System::WindowsProgramming::{QueryProcessCycleTime, QueryThreadCycleTime};

use super::{COMMON, always, clock_interrupt_period, hundred_ns_hz, none};
use crate::fn_clock::FnClock;
use crate::windows::os;
use oversleep_system::{Clock, ClockInfo};

const OF_PROCESS: ClockInfo = ClockInfo {
    counts: Counts::ProcessCpuTime,
    epoch: Epoch::Process,
    across_suspend: AcrossSuspend::Stops,
    may_avoid_syscall: false,
    ..COMMON
};

const OF_THREAD: ClockInfo = ClockInfo { counts: Counts::ThreadCpuTime, epoch: Epoch::Thread, ..OF_PROCESS };

pub(super) fn registry() -> Vec<Box<dyn Clock>> {
    vec![
        Box::new(FnClock {
            info: ClockInfo {
                name: "process-times",
                call: "GetProcessTimes",
                doc: "CPU time of all threads of this process, kernel and user. Charged by whole clock ticks: what runs \
                      for less than 15.6 ms may cost nothing or a whole tick. It stands still while they wait.",
                since: "Windows NT",
                page: "https://learn.microsoft.com/windows/win32/api/processthreadsapi/nf-processthreadsapi-getprocesstimes",
                ..OF_PROCESS
            },
            available: always,
            frequency_hz: hundred_ns_hz,
            step: clock_interrupt_period,
            read: || os::process_cpu_time().unwrap_or(0),
        }),
        Box::new(FnClock {
            info: ClockInfo {
                name: "thread-times",
                call: "GetThreadTimes",
                doc: "CPU time of the calling thread, kernel and user. Charged by whole clock ticks: what runs for less \
                      than 15.6 ms may cost nothing or a whole tick. It stands still while the thread waits.",
                since: "Windows NT",
                page: "https://learn.microsoft.com/windows/win32/api/processthreadsapi/nf-processthreadsapi-getthreadtimes",
                ..OF_THREAD
            },
            available: always,
            frequency_hz: hundred_ns_hz,
            step: clock_interrupt_period,
            read: || os::thread_cpu_time().unwrap_or(0),
        }),
        Box::new(FnClock {
            info: ClockInfo {
                name: "process-cycle-time",
                call: "QueryProcessCycleTime",
                doc: "Cycles that the threads of this process have run, by the processor's counter: CPU time without the \
                      tick's coarseness. It stands still while they wait.",
                unit: "ticks",
                since: "Windows Vista",
                page: "https://learn.microsoft.com/windows/win32/api/realtimeapiset/nf-realtimeapiset-queryprocesscycletime",
                ..OF_PROCESS
            },
            available: || if process_cycles() > 0 { Ok(()) } else { Err(os::failed("QueryProcessCycleTime")) },
            frequency_hz: || None,
            step: none,
            read: process_cycles,
        }),
        Box::new(FnClock {
            info: ClockInfo {
                name: "thread-cycle-time",
                call: "QueryThreadCycleTime",
                doc: "Cycles that the calling thread has run, by the processor's counter: CPU time without the tick's \
                      coarseness. It stands still while the thread waits.",
                unit: "ticks",
                since: "Windows Vista",
                page: "https://learn.microsoft.com/windows/win32/api/realtimeapiset/nf-realtimeapiset-querythreadcycletime",
                ..OF_THREAD
            },
            available: || if thread_cycles() > 0 { Ok(()) } else { Err(os::failed("QueryThreadCycleTime")) },
            frequency_hz: || None,
            step: none,
            read: thread_cycles,
        }),
    ]
}

fn process_cycles() -> u64 {
    let mut cycles = 0;
    // SAFETY: `cycles` is valid to write to, and the pseudo-handle needs no closing.
    unsafe { QueryProcessCycleTime(GetCurrentProcess(), &raw mut cycles) };
    cycles
}

fn thread_cycles() -> u64 {
    let mut cycles = 0;
    // SAFETY: `cycles` is valid to write to, and the pseudo-handle needs no closing.
    unsafe { QueryThreadCycleTime(GetCurrentThread(), &raw mut cycles) };
    cycles
}
