//! The clocks of Windows.

use oversleep_record::clock::{AcrossSuspend, Counts, Epoch};

use super::COMMON;
use super::everywhere::{
    CNTVCT, OVERSLEEP, OVERSLEEP_COARSE, OVERSLEEP_ORDERED, STD_INSTANT, STD_INSTANT_MS, STD_SYSTEMTIME,
    STD_SYSTEMTIME_MS, TSC, TSC_FENCED, TSCP,
};
use crate::catalogue::{entry, win32};
use crate::clock::{ClockInfo, ClockUnit, Follows};

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

/// A clock that is based on the performance counter, which counts the time asleep.
/// <https://learn.microsoft.com/windows/win32/api/profileapi/nf-profileapi-queryperformancecounter>
const fn counting_sleep(info: ClockInfo) -> ClockInfo {
    ClockInfo { across_suspend: AcrossSuspend::Continues, ..info }
}

/// The clocks of Windows, in the order of its registry. GetTickCount64 is the first of the coarse ones: experiments
/// take the first coarse clock, and many programs are timed with this one.
pub const WINDOWS: &[ClockInfo] = &[
    entry! { ELAPSED: "qpc" => "QueryPerformanceCounter", unit: ClockUnit::Ticks, since: "Windows 2000",
    page: win32!("api/profileapi/nf-profileapi-queryperformancecounter"),
    "Elapsed time in ticks of QueryPerformanceFrequency (10 MHz on most x86-64, 24 MHz on most ARM64): use it to \
     measure durations. It reads the processor's counter if Windows trusts the counter; otherwise (HPET, ACPI \
     timer), a read takes about a microsecond." },
    entry! { MILLISECONDS: "get-tick-count-64" => "GetTickCount64", since: "Windows Vista",
    page: win32!("api/sysinfoapi/nf-sysinfoapi-gettickcount64"),
    "Milliseconds since boot in steps of 15 or 16 ms, whatever timer resolution is requested: work timed with it \
     seems to take 0, 15 or 16 ms." },
    entry! { MILLISECONDS: "get-tick-count" => "GetTickCount", bits: 32,
    page: win32!("api/sysinfoapi/nf-sysinfoapi-gettickcount"),
    "Milliseconds since boot in steps of 15 or 16 ms, whatever timer resolution is requested. It wraps after 49.7 \
     days." },
    entry! { MILLISECONDS: "time-get-time" => "timeGetTime", bits: 32, follows: Follows::LastInterrupt,
    precise: Some("qpc"),
    since: "Windows 95", page: win32!("api/timeapi/nf-timeapi-timegettime"),
    "Milliseconds since boot in steps of the timer resolution in effect, never finer than 1 ms. It wraps after \
     49.7 days." },
    entry! { INTERRUPT_TIME: "interrupt-time" => "QueryInterruptTime", precise: Some("interrupt-time-precise"),
    page: win32!("api/realtimeapiset/nf-realtimeapiset-queryinterrupttime"),
    "Elapsed time as of the last timer interrupt, in steps of the timer resolution in effect: 15.6 ms by default, \
     down to 0.5 ms while a process requests it." },
    entry! { INTERRUPT_TIME: "interrupt-time-precise" => "QueryInterruptTimePrecise", follows: Follows::Time,
    reads: Some("qpc"),
    page: win32!("api/realtimeapiset/nf-realtimeapiset-queryinterrupttimeprecise"),
    "Elapsed time read from the hardware, in units of 100 ns." },
    entry! { INTERRUPT_TIME: "unbiased-interrupt-time" => "QueryUnbiasedInterruptTime",
    precise: Some("unbiased-interrupt-time-precise"),
    across_suspend: AcrossSuspend::Stops, since: "Windows 7",
    page: win32!("api/realtimeapiset/nf-realtimeapiset-queryunbiasedinterrupttime"),
    "Elapsed time without the time asleep, as of the last timer interrupt, in steps of the timer resolution in \
     effect." },
    entry! { INTERRUPT_TIME: "unbiased-interrupt-time-precise" => "QueryUnbiasedInterruptTimePrecise",
    across_suspend: AcrossSuspend::Stops, follows: Follows::Time, reads: Some("qpc"),
    page: win32!("api/realtimeapiset/nf-realtimeapiset-queryunbiasedinterrupttimeprecise"),
    "Elapsed time without the time asleep, read from the hardware, in units of 100 ns." },
    entry! { INTERRUPT_TIME: "shared-interrupt-time" => "KUSER_SHARED_DATA.InterruptTime", is_modelled: false,
    since: "Windows NT",
    page: "https://learn.microsoft.com/windows-hardware/drivers/ddi/ntddk/ns-ntddk-kuser_shared_data",
    "The value that QueryInterruptTime returns, read without the call from a page that the kernel maps into every \
     process at the same address. It is Windows' cheapest clock, with the same steps." },
    entry! { OF_DAY: "system-time" => "GetSystemTimeAsFileTime", follows: Follows::LastInterrupt,
    precise: Some("system-time-precise"),
    page: win32!("api/sysinfoapi/nf-sysinfoapi-getsystemtimeasfiletime"),
    "Time of day as of the last timer interrupt, in steps of the timer resolution in effect. It steps when someone \
     sets it, so don't measure durations with it." },
    entry! { OF_DAY: "system-time-precise" => "GetSystemTimePreciseAsFileTime", since: "Windows 8",
    reads: Some("qpc"),
    page: win32!("api/sysinfoapi/nf-sysinfoapi-getsystemtimepreciseasfiletime"),
    "Time of day read from the hardware, in units of 100 ns. It steps when someone sets it, so don't measure \
     durations with it." },
    entry! { CPU_OF_PROCESS: "process-times" => "GetProcessTimes",
    page: win32!("api/processthreadsapi/nf-processthreadsapi-getprocesstimes"),
    "CPU time of all threads of this process, in kernel and user mode. Windows charges whole clock ticks: a run of \
     less than 15.6 ms may cost nothing or a whole tick. It stands still while the threads wait." },
    entry! { CPU_OF_THREAD: "thread-times" => "GetThreadTimes",
    page: win32!("api/processthreadsapi/nf-processthreadsapi-getthreadtimes"),
    "CPU time of the calling thread, in kernel and user mode. Windows charges whole clock ticks: a run of less \
     than 15.6 ms may cost nothing or a whole tick. It stands still while the thread waits." },
    entry! { CPU_OF_PROCESS: "process-cycle-time" => "QueryProcessCycleTime", unit: ClockUnit::Ticks,
    is_modelled: false, since: "Windows Vista",
    page: win32!("api/realtimeapiset/nf-realtimeapiset-queryprocesscycletime"),
    "Cycles that the threads of this process have run, by the processor's counter: CPU time in finer steps than \
     the tick. It stands still while the threads wait." },
    entry! { CPU_OF_THREAD: "thread-cycle-time" => "QueryThreadCycleTime", unit: ClockUnit::Ticks, is_modelled: false,
    since: "Windows Vista", page: win32!("api/realtimeapiset/nf-realtimeapiset-querythreadcycletime"),
    "Cycles that the calling thread has run, by the processor's counter: CPU time in finer steps than the tick. It \
     stands still while the thread waits." },
    entry! { MILLISECONDS: "clock" => "clock()", epoch: Epoch::Process, bits: 31, follows: Follows::LastInterrupt,
    page: "https://learn.microsoft.com/cpp/c-runtime-library/reference/clock",
    "Milliseconds since the process started: elapsed time, where POSIX systems return CPU time under the same \
     name. Microsoft's current C library (UCRT) counts them by the performance counter. msvcrt.dll, which programs \
     of the GNU toolchain use, takes the system time of the last timer interrupt, so it moves in steps of the \
     timer resolution. It ends after 24.8 days." },
    entry! { OF_DAY: "time" => "_time64(NULL)", epoch: Epoch::Unix, unit: ClockUnit::Seconds, is_modelled: false,
    page: "https://learn.microsoft.com/cpp/c-runtime-library/reference/time-time32-time64",
    "Time of day in whole seconds." },
    TSC,
    TSCP.not_modelled(),
    TSC_FENCED.not_modelled(),
    CNTVCT.not_modelled(),
    counting_sleep(STD_INSTANT).reading("qpc"),
    counting_sleep(STD_INSTANT_MS),
    STD_SYSTEMTIME.reading("system-time-precise"),
    STD_SYSTEMTIME_MS,
    counting_sleep(OVERSLEEP),
    counting_sleep(OVERSLEEP_ORDERED),
    counting_sleep(OVERSLEEP_COARSE),
];
