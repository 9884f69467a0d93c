//! Windows as programs see it.

use oversleep_record::Nanos;
use oversleep_record::clock::{AcrossSuspend, Epoch};

use super::{ClockRow, Follows, System, clock};
use crate::sim::loads::TimerLoad;
use crate::sim::machine::TunableModel;
use crate::sim::scheduler::{OnWake, Policy, PriorityIs};
use oversleep_system::{handoffs, waits};

/// Windows.
pub static SYSTEM: System = System {
    os: "windows",
    reference_clock: "qpc",
    clocks,
    waits: waits::windows::ALL,
    policies,
    handoffs: handoffs::windows::ALL,
    timer_load: TimerLoad {
        wait: waits::windows::WAITABLE_TIMER_HIGH_RESOLUTION.name,
        span: Nanos(500_000),
        is_periodic: false,
    },
    tunables: &[TunableModel::Resolution, TunableModel::PowerThrottling, TunableModel::Policy, TunableModel::Pin],
};

/// A page of the vendor's API reference.
macro_rules! api {
    ($page:literal) => {
        concat!("https://learn.microsoft.com/en-us/windows/win32/api/", $page)
    };
}

/// Thread priorities of a process of normal class, and its class raised.
/// <https://learn.microsoft.com/en-us/windows/win32/procthread/scheduling-priorities>
fn policies() -> Vec<Policy> {
    let levels = [
        ("normal", 8),
        ("idle", 1),
        ("lowest", 6),
        ("below-normal", 7),
        ("above-normal", 9),
        ("highest", 10),
        ("time-critical", 15),
        ("high", 13),
        ("realtime", 24),
    ];
    let policy = |(name, rank): (&str, i32)| Policy {
        name: name.to_owned(),
        priority: (0, 0),
        rank,
        priority_is: PriorityIs::Nothing,
        weight: 1_024,
        is_real_time: false,
        on_wake: OnWake::Displaces,
    };
    levels.map(policy).to_vec()
}

fn clocks() -> Vec<ClockRow> {
    use Follows::{Counter, DefaultTick, LastInterrupt, ProcessCpu, ThreadCpu, Time};
    let hundreds = |row: ClockRow| row.unit("100ns").across_suspend(AcrossSuspend::Continues);
    let millis = |row: ClockRow| row.unit("ms").across_suspend(AcrossSuspend::Continues);
    vec![
        clock("qpc", "QueryPerformanceCounter", "The clock for durations: 10 MHz on most machines.", Counter)
            .epoch(Epoch::Boot)
            .across_suspend(AcrossSuspend::Continues)
            .page(api!("profileapi/nf-profileapi-queryperformancecounter")),
        millis(clock(
            "get-tick-count-64",
            "GetTickCount64",
            "Milliseconds in steps of the default tick, whatever resolution is held.",
            DefaultTick,
        ))
        .page(api!("sysinfoapi/nf-sysinfoapi-gettickcount64")),
        millis(clock(
            "get-tick-count",
            "GetTickCount",
            "Milliseconds in steps of the default tick; wraps.",
            DefaultTick,
        ))
        .bits(32)
        .page(api!("sysinfoapi/nf-sysinfoapi-gettickcount")),
        millis(clock("time-get-time", "timeGetTime", "Milliseconds as of the last timer interrupt.", LastInterrupt))
            .bits(32)
            .page(api!("timeapi/nf-timeapi-timegettime")),
        hundreds(clock("interrupt-time", "QueryInterruptTime", "Time as of the last timer interrupt.", LastInterrupt))
            .page(api!("realtimeapiset/nf-realtimeapiset-queryinterrupttime")),
        hundreds(clock("interrupt-time-precise", "QueryInterruptTimePrecise", "Interrupt time by the hardware.", Time))
            .page(api!("realtimeapiset/nf-realtimeapiset-queryinterrupttimeprecise")),
        hundreds(clock(
            "unbiased-interrupt-time",
            "QueryUnbiasedInterruptTime",
            "Interrupt time without time asleep.",
            LastInterrupt,
        ))
        .across_suspend(AcrossSuspend::Stops)
        .page(api!("realtimeapiset/nf-realtimeapiset-queryunbiasedinterrupttime")),
        hundreds(clock(
            "unbiased-interrupt-time-precise",
            "QueryUnbiasedInterruptTimePrecise",
            "The same by the hardware.",
            Time,
        ))
        .across_suspend(AcrossSuspend::Stops)
        .page(api!("realtimeapiset/nf-realtimeapiset-queryunbiasedinterrupttimeprecise")),
        clock("system-time", "GetSystemTimeAsFileTime", "Time of day as of the last timer interrupt.", LastInterrupt)
            .unit("100ns")
            .time_of_day(Epoch::Windows)
            .page(api!("sysinfoapi/nf-sysinfoapi-getsystemtimeasfiletime")),
        clock("system-time-precise", "GetSystemTimePreciseAsFileTime", "Time of day by the hardware.", Time)
            .unit("100ns")
            .time_of_day(Epoch::Windows)
            .page(api!("sysinfoapi/nf-sysinfoapi-getsystemtimepreciseasfiletime")),
        clock("process-times", "GetProcessTimes", "CPU time of the process.", ProcessCpu)
            .unit("100ns")
            .page(api!("processthreadsapi/nf-processthreadsapi-getprocesstimes")),
        clock("thread-times", "GetThreadTimes", "CPU time of the thread.", ThreadCpu)
            .unit("100ns")
            .page(api!("processthreadsapi/nf-processthreadsapi-getthreadtimes")),
        clock("clock", "clock()", "Time since the process began: on Windows clock() is no CPU time.", LastInterrupt)
            .unit("ms")
            .bits(31)
            .epoch(Epoch::Process)
            .page("https://learn.microsoft.com/en-us/cpp/c-runtime-library/reference/clock"),
        clock("tsc", "rdtsc", "The time-stamp counter, unordered.", Counter)
            .only_on("x86_64")
            .page("https://www.intel.com/content/www/us/en/developer/articles/technical/intel-sdm.html"),
        clock("std-instant", "std::time::Instant::now()", "Rust's clock for durations: the performance counter.", Time)
            .epoch(Epoch::Process)
            .page("https://doc.rust-lang.org/std/time/struct.Instant.html"),
        clock("std-systemtime", "std::time::SystemTime::now()", "Rust's time of day: the precise one.", Time)
            .time_of_day(Epoch::Unix)
            .page("https://doc.rust-lang.org/std/time/struct.SystemTime.html"),
    ]
}
