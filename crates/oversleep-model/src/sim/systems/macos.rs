//! macOS as programs see it.

use oversleep_record::Nanos;

use super::{System, wait};
use crate::sim::loads::TimerLoad;
use crate::sim::machine::TunableModel;
use crate::sim::scheduler::{OnWake, Policy, PriorityIs};
use oversleep_system::{Family, Granularity, SlackRule, WaitInfo, ZeroMeans, clocks};

/// macOS.
pub static SYSTEM: System = System {
    os: "macos",
    reference_clock: "uptime-raw",
    clocks: clocks::MACOS,
    waits,
    policies,
    handoffs: &["condvar", "thread-park", "mach-semaphore", "dispatch-semaphore", "pipe", "kevent-user"],
    timer_load: TimerLoad { wait: "thread-sleep", span: Nanos(100_000), is_periodic: false },
    tunables: &[TunableModel::LatencyTier, TunableModel::Qos, TunableModel::Policy, TunableModel::LockMemory],
};

const TIMERS: &str = "https://developer.apple.com/library/archive/technotes/tn2169/_index.html";

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

fn waits() -> Vec<WaitInfo> {
    use Family::{Lock, Poll, Sleep, Timer, Yield};
    use SlackRule::{ClassShare, NoTimer, None};
    let coalesced = |name, call, family, doc| WaitInfo {
        page: TIMERS,
        since: "Mac OS X",
        ..wait(name, call, family, ClassShare, doc)
    };
    let absolute = |info: WaitInfo| WaitInfo { absolute: true, ..info };
    let micros = |info: WaitInfo| WaitInfo { granularity: Granularity::MICROSECOND, ..info };
    let millis = |info: WaitInfo| WaitInfo { granularity: Granularity::MILLISECOND, ..info };
    let strict = |info: WaitInfo| WaitInfo { slack: None, ..info };
    let yields = |info: WaitInfo| WaitInfo { slack: NoTimer, zero: ZeroMeans::NoArgument, ..info };
    vec![
        coalesced("nanosleep", "nanosleep", Sleep, "What most languages' sleeps end in."),
        absolute(coalesced(
            "mach-wait-until",
            "mach_wait_until",
            Sleep,
            "Sleeps until a moment of mach_absolute_time.",
        )),
        micros(coalesced("usleep", "usleep", Sleep, "nanosleep in microseconds.")),
        coalesced("thread-sleep", "std::thread::sleep", Sleep, "Rust's sleep: nanosleep."),
        micros(coalesced("select", "select(0, NULL, NULL, NULL, timeout)", Poll, "Old event loops.")),
        coalesced("pselect", "pselect(0, NULL, NULL, NULL, timeout, NULL)", Poll, "select in ns."),
        millis(coalesced("poll", "poll(NULL, 0, timeout)", Poll, "Whole milliseconds.")),
        coalesced("kevent", "kevent(timeout)", Poll, "Event loops."),
        coalesced("kevent-timer", "kevent(EVFILT_TIMER, NOTE_NSECONDS)", Timer, "A timer of a kernel queue."),
        strict(coalesced(
            "kevent-timer-critical",
            "kevent(EVFILT_TIMER, NOTE_NSECONDS | NOTE_CRITICAL)",
            Timer,
            "The same, not put off.",
        )),
        absolute(coalesced("cond-timedwait", "pthread_cond_timedwait", Lock, "Condition variables.")),
        coalesced("mach-semaphore", "semaphore_timedwait", Lock, "Semaphores of the kernel."),
        coalesced(
            "dispatch-semaphore",
            "dispatch_semaphore_wait(timeout)",
            Lock,
            "Semaphores of Grand Central Dispatch.",
        ),
        strict(coalesced(
            "dispatch-source-strict",
            "dispatch_source_set_timer (DISPATCH_TIMER_STRICT)",
            Timer,
            "Timers of Grand Central Dispatch that are not put off.",
        )),
        coalesced("dispatch-source", "dispatch_source_set_timer (leeway 0)", Timer, "Those that are."),
        yields(coalesced("sched-yield", "sched_yield", Yield, "Gives the CPU away.")),
    ]
}
