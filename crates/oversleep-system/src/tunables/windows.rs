//! What a measurement may change on Windows. Locked memory is missing: Windows locks single ranges within the working
//! set, not a whole process.

use oversleep_record::Nanos;

use super::COMMON;
use crate::catalogue::{entry, win32};
use crate::tunable::{Scope, TunableInfo, Word};

/// The tunables of Windows, in the order of its registry.
pub const WINDOWS: &[TunableInfo] = &[
    entry! { COMMON: "resolution" => "NtSetTimerResolution",
    expected: "a span from 100ns to 1s, such as 1ms; the machine grants the nearest that it can", example: "1ms",
    scope: Scope::MachineWhileHeld, sets_resolution: true,
    // From the default to the shortest. 0.507 ms is beside 0.5 ms because exactly 0.5 ms can take one tick more.

    compared: &[Nanos(15_625_000), Nanos(10_000_000), Nanos(5_000_000), Nanos(2_000_000), Nanos(1_000_000),
        Nanos(507_000), Nanos(500_000)], since: "Windows XP",
    page: win32!("api/timeapi/nf-timeapi-timebeginperiod"),
    "Requests a period of the timer interrupt, by which timed waits end; without a request it is 15.625 ms. The \
     shortest request of all processes sets the machine's period and its power draw. Since Windows 10 2004, only \
     the waits of processes that made a request follow it. A request for a longer period than the current one \
     changes nothing, and the machine grants what its hardware can: the outcome states the period in effect. A \
     process has one request, the last that it made by this call or by timeBeginPeriod." },
    entry! { COMMON: "time-begin-period" => "timeBeginPeriod, timeEndPeriod",
    expected: "whole milliseconds from 1ms to 1s", example: "1ms", scope: Scope::MachineWhileHeld,
    compared: &[Nanos(15_000_000), Nanos(10_000_000), Nanos(5_000_000), Nanos(2_000_000), Nanos(1_000_000)],
    is_modelled: false, since: "Windows 95", page: win32!("api/timeapi/nf-timeapi-timebeginperiod"),
    "Requests a period of the timer interrupt as most programs do. The multimedia library counts a process's \
     requests and passes the shortest on, by the call that the tunable resolution makes. The system keeps one \
     request per process, the last one, so hold only one of the two tunables at a time." },
    entry! { COMMON: "power-throttling" => "SetProcessInformation(ProcessPowerThrottling, PROCESS_POWER_THROTTLING_IGNORE_TIMER_RESOLUTION)",
    expected: "on (Windows decides) or off (the process keeps its resolution)", example: "off",
    scope: Scope::Process, since: "Windows 11",
    page: win32!("api/processthreadsapi/nf-processthreadsapi-setprocessinformation"),
    "On, the default: Windows 11 drops a process's timer resolution while its windows are hidden or minimised and \
     it plays no sound. Off: the process keeps the resolution that it requested." },
    entry! { COMMON: "policy" => "SetThreadPriority and SetPriorityClass",
    expected: "idle, lowest, below-normal, normal, above-normal, highest or time-critical for the thread, high or \
         realtime for the process, each without a number", example: "time-critical",
    words: &[Word::alone("normal"), Word::alone("idle"), Word::alone("lowest"), Word::alone("below-normal"),
        Word::alone("above-normal"), Word::alone("highest"), Word::alone("time-critical"), Word::alone("high"),
        Word::alone("realtime")], scope: Scope::Process, since: "Windows XP",
    page: win32!("procthread/scheduling-priorities"),
    "Which thread runs first when threads compete. idle to time-critical are priorities of this thread; high and \
     realtime are classes of the whole process and raise its other threads too. None of them changes which \
     interrupt ends a wait." },
    entry! { COMMON: "mmcss" => "AvSetMmThreadCharacteristicsA(Pro Audio)", expected: "on or off", example: "on",
    is_modelled: false, since: "Windows Vista", page: win32!("api/avrt/nf-avrt-avsetmmthreadcharacteristicsw"),
    "Puts this thread into the task Pro Audio, as audio engines do. A service of Windows runs such threads at high \
     priority (up to 26) within a share of the CPU time. The task's clock rate in the registry is a hint to that \
     service; on Windows Vista it also limits the period of the timer interrupt." },
    entry! { COMMON: "pin" => "SetThreadGroupAffinity", expected: "one or more CPU numbers of one group of 64",
    example: "0", since: "Windows 7",
    page: win32!("api/processtopologyapi/nf-processtopologyapi-setthreadgroupaffinity"),
    "Keeps this thread on the given CPUs, all of one group of 64. It doesn't migrate, uses one core's caches and \
     idle states, and can't move away from other work there." },
];
