//! macOS as programs see it.

use oversleep_record::Nanos;
use oversleep_record::clock::{AcrossSuspend, Epoch};

use super::{ClockRow, Follows, System, clock};
use crate::sim::loads::TimerLoad;
use crate::sim::machine::TunableModel;
use crate::sim::scheduler::{OnWake, Policy, PriorityIs};
use oversleep_system::{handoffs, waits};

/// macOS.
pub static SYSTEM: System = System {
    os: "macos",
    reference_clock: "uptime-raw",
    clocks,
    waits: waits::macos::ALL,
    policies,
    handoffs: handoffs::macos::ALL,
    timer_load: TimerLoad { wait: waits::macos::THREAD_SLEEP.name, span: Nanos(100_000), is_periodic: false },
    tunables: &[TunableModel::LatencyTier, TunableModel::Qos, TunableModel::Policy, TunableModel::LockMemory],
};

const GETTIME: &str = "https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man3/clock_gettime_nsec_np.3.html";

fn policies() -> Vec<Policy> {
    let policy = |name: &str, rank, is_real_time| Policy {
        name: name.to_owned(),
        priority: (15, 47),
        rank,
        priority_is: PriorityIs::Rank,
        weight: 1_024,
        is_real_time,
        on_wake: OnWake::Displaces,
    };
    vec![
        policy("other", 0, false),
        // TH_MODE_FIXED in XNU's osfmk/kern/timer_call.c: a shift of 3, at most 1 ms.
        Policy { priority_is: PriorityIs::FixedRank, ..policy("rr", 0, false) },
        Policy { priority_is: PriorityIs::FixedRank, ..policy("fifo", 0, false) },
        Policy { priority: (0, 0), priority_is: PriorityIs::Nothing, ..policy("time-constraint", 100, true) },
    ]
}

fn clocks() -> Vec<ClockRow> {
    use Follows::{Counter, ProcessCpu, ThreadCpu, Time};
    vec![
        clock("mach-absolute", "mach_absolute_time", "Units of 125/3 ns on Apple's processors.", Counter)
            .epoch(Epoch::Boot)
            .page("https://developer.apple.com/documentation/kernel/1462446-mach_absolute_time"),
        clock("mach-continuous", "mach_continuous_time", "The same with time asleep.", Counter)
            .epoch(Epoch::Boot)
            .across_suspend(AcrossSuspend::Continues)
            .page("https://developer.apple.com/documentation/kernel/1646199-mach_continuous_time"),
        clock("uptime-raw", "clock_gettime(CLOCK_UPTIME_RAW)", "mach_absolute_time in ns.", Time).page(GETTIME),
        clock("monotonic", "clock_gettime(CLOCK_MONOTONIC)", "Time since boot in steps of 1 us.", Time)
            .across_suspend(AcrossSuspend::Continues)
            .page(GETTIME),
        clock("monotonic-raw", "clock_gettime(CLOCK_MONOTONIC_RAW)", "mach_continuous_time in ns.", Time)
            .across_suspend(AcrossSuspend::Continues)
            .page(GETTIME),
        clock("realtime", "clock_gettime(CLOCK_REALTIME)", "Time of day in steps of 1 us.", Time)
            .time_of_day(Epoch::Unix)
            .page(GETTIME),
        clock("process-cputime", "clock_gettime(CLOCK_PROCESS_CPUTIME_ID)", "CPU time of the process.", ProcessCpu)
            .page(GETTIME),
        clock("thread-cputime", "clock_gettime(CLOCK_THREAD_CPUTIME_ID)", "CPU time of the thread.", ThreadCpu)
            .page(GETTIME),
        clock("gettimeofday", "gettimeofday", "Time of day in microseconds.", Time)
            .time_of_day(Epoch::Unix)
            .unit("us")
            .page("https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/gettimeofday.2.html"),
        clock("clock", "clock()", "CPU time of the process in microseconds.", ProcessCpu)
            .unit("us")
            .page("https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man3/clock.3.html"),
        clock("std-instant", "std::time::Instant::now()", "Rust's clock for durations: CLOCK_UPTIME_RAW.", Time)
            .epoch(Epoch::Process)
            .page("https://doc.rust-lang.org/std/time/struct.Instant.html"),
    ]
}
