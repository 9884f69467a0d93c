//! Linux as programs see it, WSL included.

use oversleep_record::Nanos;
use oversleep_record::clock::{AcrossSuspend, Epoch};

use super::{ClockRow, Follows, System, clock};
use crate::sim::loads::TimerLoad;
use crate::sim::machine::TunableModel;
use crate::sim::scheduler::{OnWake, Policy, PriorityIs};
use oversleep_system::{handoffs, waits};

/// Linux.
pub static SYSTEM: System = System {
    os: "linux",
    reference_clock: "monotonic",
    clocks,
    waits: waits::linux::ALL,
    policies,
    handoffs: handoffs::linux::ALL,
    timer_load: TimerLoad { wait: waits::linux::TIMERFD.name, span: Nanos(100_000), is_periodic: true },
    tunables: &[
        TunableModel::Slack,
        TunableModel::Policy,
        TunableModel::Pin,
        TunableModel::LockMemory,
        TunableModel::DmaLatency,
    ],
};

const CLOCK_GETTIME: &str = "https://man7.org/linux/man-pages/man2/clock_gettime.2.html";
const INTEL: &str = "https://www.intel.com/content/www/us/en/developer/articles/technical/intel-sdm.html";

fn policies() -> Vec<Policy> {
    let fair = |name: &str, weight| Policy {
        name: name.to_owned(),
        priority: (-20, 19),
        rank: 0,
        priority_is: PriorityIs::Nice,
        weight,
        is_real_time: false,
        on_wake: OnWake::Displaces,
    };
    let real_time = |name: &str| Policy {
        name: name.to_owned(),
        priority: (1, 99),
        rank: 100,
        priority_is: PriorityIs::Rank,
        weight: 1_024,
        is_real_time: true,
        on_wake: OnWake::Displaces,
    };
    vec![
        fair("other", 1_024),
        // Neither displaces a thread of another policy by waking up: check_preempt_wakeup_fair in kernel/sched/fair.c.
        Policy { on_wake: OnWake::Waits, ..fair("batch", 1_024) },
        // WEIGHT_IDLEPRIO in kernel/sched/sched.h.
        Policy { priority: (0, 0), priority_is: PriorityIs::Nothing, on_wake: OnWake::GivesWay, ..fair("idle", 3) },
        real_time("fifo"),
        real_time("rr"),
    ]
}

fn clocks() -> Vec<ClockRow> {
    use Follows::{Counter, KernelTick, ProcessCpu, ThreadCpu, Time};
    vec![
        clock("monotonic", "clock_gettime(CLOCK_MONOTONIC)", "Time since boot, steered to the right rate.", Time)
            .page(CLOCK_GETTIME),
        clock("monotonic-raw", "clock_gettime(CLOCK_MONOTONIC_RAW)", "Time since boot at the counter's own rate.", Time)
            .page(CLOCK_GETTIME),
        clock(
            "monotonic-coarse",
            "clock_gettime(CLOCK_MONOTONIC_COARSE)",
            "Time since boot as of the last tick.",
            KernelTick,
        )
        .page(CLOCK_GETTIME),
        clock("boottime", "clock_gettime(CLOCK_BOOTTIME)", "Time since boot, time asleep included.", Time)
            .across_suspend(AcrossSuspend::Continues)
            .page(CLOCK_GETTIME),
        clock("realtime", "clock_gettime(CLOCK_REALTIME)", "Time of day.", Time)
            .time_of_day(Epoch::Unix)
            .page(CLOCK_GETTIME),
        clock(
            "realtime-coarse",
            "clock_gettime(CLOCK_REALTIME_COARSE)",
            "Time of day as of the last tick.",
            KernelTick,
        )
        .time_of_day(Epoch::Unix)
        .page(CLOCK_GETTIME),
        clock("tai", "clock_gettime(CLOCK_TAI)", "Time of day without leap seconds.", Time)
            .time_of_day(Epoch::Tai)
            .page(CLOCK_GETTIME),
        clock(
            "process-cputime",
            "clock_gettime(CLOCK_PROCESS_CPUTIME_ID)",
            "CPU time of the process: it stands still in a wait.",
            ProcessCpu,
        )
        .page(CLOCK_GETTIME),
        clock(
            "thread-cputime",
            "clock_gettime(CLOCK_THREAD_CPUTIME_ID)",
            "CPU time of the thread: it stands still in a wait.",
            ThreadCpu,
        )
        .page(CLOCK_GETTIME),
        clock(
            "monotonic-syscall",
            "syscall(SYS_clock_gettime, CLOCK_MONOTONIC)",
            "CLOCK_MONOTONIC by a system call instead of the vDSO.",
            Time,
        )
        .page(CLOCK_GETTIME),
        clock("gettimeofday", "gettimeofday", "Time of day in microseconds.", Time)
            .time_of_day(Epoch::Unix)
            .unit("us")
            .page("https://man7.org/linux/man-pages/man2/gettimeofday.2.html"),
        clock("time", "time(NULL)", "Time of day in whole seconds.", Time)
            .time_of_day(Epoch::Unix)
            .unit("s")
            .page("https://man7.org/linux/man-pages/man2/time.2.html"),
        clock("clock", "clock()", "CPU time of the process in microseconds, not time that passes.", ProcessCpu)
            .unit("us")
            .page("https://man7.org/linux/man-pages/man3/clock.3.html"),
        clock("tsc", "rdtsc", "The time-stamp counter, unordered.", Counter).only_on("x86_64").page(INTEL),
        clock("tscp", "rdtscp", "The time-stamp counter, after all earlier instructions.", Counter)
            .only_on("x86_64")
            .page(INTEL),
        clock("tsc-fenced", "lfence; rdtsc", "The time-stamp counter behind a load fence.", Counter)
            .only_on("x86_64")
            .page(INTEL),
        clock("cntvct", "mrs CNTVCT_EL0", "The ARM generic timer's virtual count.", Counter)
            .only_on("aarch64")
            .page("https://developer.arm.com/documentation/ddi0601/latest/AArch64-Registers/CNTVCT-EL0--Counter-timer-Virtual-Count-Register"),
        clock("std-instant", "std::time::Instant::now()", "Rust's clock for durations: CLOCK_MONOTONIC.", Time)
            .epoch(Epoch::Process)
            .page("https://doc.rust-lang.org/std/time/struct.Instant.html"),
        clock("std-systemtime", "std::time::SystemTime::now()", "Rust's time of day: CLOCK_REALTIME.", Time)
            .time_of_day(Epoch::Unix)
            .page("https://doc.rust-lang.org/std/time/struct.SystemTime.html"),
    ]
}
