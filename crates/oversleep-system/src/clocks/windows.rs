//! The clocks of Windows.

use oversleep_record::clock::{AcrossSuspend, Counts, Epoch};

use super::COMMON;
use super::everywhere::{
    CNTVCT, OVERSLEEP, OVERSLEEP_COARSE, OVERSLEEP_ORDERED, STD_INSTANT, STD_SYSTEMTIME, TSC, TSC_FENCED, TSCP,
};
use crate::clock::{ClockInfo, ClockUnit, Follows};

/// A page of the vendor's API reference.
macro_rules! api {
    ($page:literal) => {
        concat!("https://learn.microsoft.com/windows/win32/api/", $page)
    };
}

const ELAPSED: ClockInfo = ClockInfo {
    unit: ClockUnit::HundredNanoseconds,
    across_suspend: AcrossSuspend::Continues,
    since: "Windows NT",
    ..COMMON
};

const MILLISECONDS: ClockInfo = ClockInfo { unit: ClockUnit::Milliseconds, follows: Follows::DefaultTick, ..ELAPSED };

const INTERRUPT_TIME: ClockInfo = ClockInfo { follows: Follows::LastInterrupt, since: "Windows 10", ..ELAPSED };

const OF_DAY: ClockInfo = ClockInfo { counts: Counts::TimeOfDay, epoch: Epoch::Windows, ..ELAPSED };

const CPU_OF_PROCESS: ClockInfo = ClockInfo {
    counts: Counts::ProcessCpuTime,
    epoch: Epoch::Process,
    across_suspend: AcrossSuspend::Stops,
    may_avoid_syscall: false,
    ..ELAPSED
};

const CPU_OF_THREAD: ClockInfo = ClockInfo { counts: Counts::ThreadCpuTime, epoch: Epoch::Thread, ..CPU_OF_PROCESS };

/// A clock that is built on the performance counter, which counts the time asleep.
/// <https://learn.microsoft.com/windows/win32/api/profileapi/nf-profileapi-queryperformancecounter>
const fn counting_sleep(info: ClockInfo) -> ClockInfo {
    ClockInfo { across_suspend: AcrossSuspend::Continues, ..info }
}

/// The clocks of Windows, in the order of its registry. GetTickCount64 comes first of the coarse ones: experiments take
/// the first coarse clock, and programs are timed with this one.
pub const WINDOWS: &[ClockInfo] = &[
    ClockInfo {
        name: "qpc",
        call: "QueryPerformanceCounter",
        doc: "Elapsed time in ticks of QueryPerformanceFrequency (10 MHz on most x86-64, 24 MHz on most ARM64): use it \
              to measure durations. It reads the processor's counter if Windows trusts the counter; otherwise \
              (HPET, ACPI timer), a read takes about a microsecond.",
        unit: ClockUnit::Ticks,
        since: "Windows 2000",
        page: api!("profileapi/nf-profileapi-queryperformancecounter"),
        ..ELAPSED
    },
    ClockInfo {
        name: "get-tick-count-64",
        call: "GetTickCount64",
        doc: "Milliseconds since boot in steps of 15 or 16 ms, whatever timer resolution is requested: work timed \
              with it seems to take 0, 15 or 16 ms.",
        since: "Windows Vista",
        page: api!("sysinfoapi/nf-sysinfoapi-gettickcount64"),
        ..MILLISECONDS
    },
    ClockInfo {
        name: "get-tick-count",
        call: "GetTickCount",
        doc: "Milliseconds since boot in steps of 15 or 16 ms, whatever timer resolution is requested. It wraps after \
              49.7 days.",
        bits: 32,
        page: api!("sysinfoapi/nf-sysinfoapi-gettickcount"),
        ..MILLISECONDS
    },
    ClockInfo {
        name: "time-get-time",
        call: "timeGetTime",
        doc: "Milliseconds since boot in steps of the timer resolution in effect, never finer than 1 ms. It wraps \
              after 49.7 days.",
        bits: 32,
        follows: Follows::LastInterrupt,
        since: "Windows 95",
        page: api!("timeapi/nf-timeapi-timegettime"),
        ..MILLISECONDS
    },
    ClockInfo {
        name: "interrupt-time",
        call: "QueryInterruptTime",
        doc: "Elapsed time as of the last timer interrupt, in steps of the timer resolution in effect: 15.6 ms by \
              default, down to 0.5 ms while a process requests it.",
        page: api!("realtimeapiset/nf-realtimeapiset-queryinterrupttime"),
        ..INTERRUPT_TIME
    },
    ClockInfo {
        name: "interrupt-time-precise",
        call: "QueryInterruptTimePrecise",
        doc: "Elapsed time read from the hardware, in units of 100 ns.",
        follows: Follows::Time,
        page: api!("realtimeapiset/nf-realtimeapiset-queryinterrupttimeprecise"),
        ..INTERRUPT_TIME
    },
    ClockInfo {
        name: "unbiased-interrupt-time",
        call: "QueryUnbiasedInterruptTime",
        doc: "Elapsed time without the time asleep, as of the last timer interrupt, in steps of the timer resolution \
              in effect.",
        across_suspend: AcrossSuspend::Stops,
        since: "Windows 7",
        page: api!("realtimeapiset/nf-realtimeapiset-queryunbiasedinterrupttime"),
        ..INTERRUPT_TIME
    },
    ClockInfo {
        name: "unbiased-interrupt-time-precise",
        call: "QueryUnbiasedInterruptTimePrecise",
        doc: "Elapsed time without the time asleep, read from the hardware, in units of 100 ns.",
        across_suspend: AcrossSuspend::Stops,
        follows: Follows::Time,
        page: api!("realtimeapiset/nf-realtimeapiset-queryunbiasedinterrupttimeprecise"),
        ..INTERRUPT_TIME
    },
    ClockInfo {
        name: "shared-interrupt-time",
        call: "KUSER_SHARED_DATA.InterruptTime",
        doc: "The value that QueryInterruptTime returns, read without the call from a page that the kernel maps into \
              every process at the same address. It is Windows' cheapest clock, with the same steps.",
        is_modelled: false,
        since: "Windows NT",
        page: "https://learn.microsoft.com/windows-hardware/drivers/ddi/ntddk/ns-ntddk-kuser_shared_data",
        ..INTERRUPT_TIME
    },
    ClockInfo {
        name: "system-time",
        call: "GetSystemTimeAsFileTime",
        doc: "Time of day as of the last timer interrupt, in steps of the timer resolution in effect. It steps when \
              someone sets it, so don't measure durations with it.",
        follows: Follows::LastInterrupt,
        page: api!("sysinfoapi/nf-sysinfoapi-getsystemtimeasfiletime"),
        ..OF_DAY
    },
    ClockInfo {
        name: "system-time-precise",
        call: "GetSystemTimePreciseAsFileTime",
        doc: "Time of day read from the hardware, in units of 100 ns. It steps when someone sets it, so don't measure \
              durations with it.",
        since: "Windows 8",
        page: api!("sysinfoapi/nf-sysinfoapi-getsystemtimepreciseasfiletime"),
        ..OF_DAY
    },
    ClockInfo {
        name: "process-times",
        call: "GetProcessTimes",
        doc: "CPU time of all threads of this process, in kernel and user mode. Windows charges whole clock ticks: a \
              run of less than 15.6 ms may cost nothing or a whole tick. It stands still while the threads wait.",
        page: api!("processthreadsapi/nf-processthreadsapi-getprocesstimes"),
        ..CPU_OF_PROCESS
    },
    ClockInfo {
        name: "thread-times",
        call: "GetThreadTimes",
        doc: "CPU time of the calling thread, in kernel and user mode. Windows charges whole clock ticks: a run of \
              less than 15.6 ms may cost nothing or a whole tick. It stands still while the thread waits.",
        page: api!("processthreadsapi/nf-processthreadsapi-getthreadtimes"),
        ..CPU_OF_THREAD
    },
    ClockInfo {
        name: "process-cycle-time",
        call: "QueryProcessCycleTime",
        doc: "Cycles that the threads of this process have run, by the processor's counter: CPU time in finer steps \
              than the tick. It stands still while the threads wait.",
        unit: ClockUnit::Ticks,
        is_modelled: false,
        since: "Windows Vista",
        page: api!("realtimeapiset/nf-realtimeapiset-queryprocesscycletime"),
        ..CPU_OF_PROCESS
    },
    ClockInfo {
        name: "thread-cycle-time",
        call: "QueryThreadCycleTime",
        doc: "Cycles that the calling thread has run, by the processor's counter: CPU time in finer steps than the \
              tick. It stands still while the thread waits.",
        unit: ClockUnit::Ticks,
        is_modelled: false,
        since: "Windows Vista",
        page: api!("realtimeapiset/nf-realtimeapiset-querythreadcycletime"),
        ..CPU_OF_THREAD
    },
    ClockInfo {
        name: "clock",
        call: "clock()",
        doc: "Milliseconds since the process started: elapsed time, where POSIX systems return CPU time under the \
              same name. Microsoft's current C library (UCRT) counts them by the performance counter. msvcrt.dll, \
              which programs of the GNU toolchain use, takes the system time of the last timer interrupt, so it moves \
              in steps of the timer resolution. It ends after 24.8 days.",
        epoch: Epoch::Process,
        bits: 31,
        follows: Follows::LastInterrupt,
        page: "https://learn.microsoft.com/cpp/c-runtime-library/reference/clock",
        ..MILLISECONDS
    },
    ClockInfo {
        name: "time",
        call: "_time64(NULL)",
        doc: "Time of day in whole seconds.",
        epoch: Epoch::Unix,
        unit: ClockUnit::Seconds,
        is_modelled: false,
        page: "https://learn.microsoft.com/cpp/c-runtime-library/reference/time-time32-time64",
        ..OF_DAY
    },
    TSC,
    TSCP.not_modelled(),
    TSC_FENCED.not_modelled(),
    CNTVCT.not_modelled(),
    counting_sleep(STD_INSTANT),
    STD_SYSTEMTIME,
    counting_sleep(OVERSLEEP),
    counting_sleep(OVERSLEEP_ORDERED),
    counting_sleep(OVERSLEEP_COARSE),
];
