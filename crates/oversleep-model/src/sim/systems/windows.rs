//! Windows as programs see it.

use oversleep_record::Nanos;

use super::{HUNDRED_NS, System, wait};
use crate::sim::loads::TimerLoad;
use crate::sim::machine::TunableModel;
use crate::sim::scheduler::{OnWake, Policy, PriorityIs};
use oversleep_system::{Family, Granularity, SlackRule, WaitInfo, ZeroMeans, clocks};

/// Windows.
pub static SYSTEM: System = System {
    os: "windows",
    reference_clock: "qpc",
    clocks: clocks::WINDOWS,
    waits,
    policies,
    handoffs: &["event", "condvar", "wait-on-address", "semaphore", "completion-port"],
    timer_load: TimerLoad { wait: "waitable-timer-high-resolution", span: Nanos(500_000), is_periodic: false },
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

fn waits() -> Vec<WaitInfo> {
    use Family::{Lock, Message, Poll, Sleep, Timer, Yield};
    use SlackRule::{NoTimer, None, TimerResolution};
    let on_tick = |granularity, name, call, family, doc| WaitInfo {
        granularity,
        ..wait(name, call, family, TimerResolution, doc)
    };
    let millis = |name, call, family, doc| on_tick(Granularity::MILLISECOND, name, call, family, doc);
    let hundreds = |name, call, family, doc| on_tick(HUNDRED_NS, name, call, family, doc);
    let page = |page: &'static str, info: WaitInfo| WaitInfo { page, since: "Windows", ..info };
    let yields = |name, call, doc| WaitInfo {
        zero: ZeroMeans::NoArgument,
        granularity: Granularity::MILLISECOND,
        ..wait(name, call, Yield, NoTimer, doc)
    };
    vec![
        page(
            api!("synchapi/nf-synchapi-sleep"),
            WaitInfo {
                zero: ZeroMeans::Yields,
                ..millis("sleep", "Sleep", Sleep, "Whole milliseconds, to the next timer interrupt.")
            },
        ),
        page(
            api!("synchapi/nf-synchapi-sleepex"),
            WaitInfo {
                zero: ZeroMeans::Yields,
                ..millis("sleep-ex", "SleepEx(alertable)", Sleep, "Sleep that an asynchronous call ends.")
            },
        ),
        page(
            api!("winternl/"),
            WaitInfo {
                zero: ZeroMeans::Yields,
                ..hundreds("nt-delay-execution", "NtDelayExecution", Sleep, "What Sleep calls, in units of 100 ns.")
            },
        ),
        page(
            "https://doc.rust-lang.org/std/thread/fn.sleep.html",
            WaitInfo {
                zero: ZeroMeans::Yields,
                granularity: Granularity { step: HUNDRED_NS.step, rounds_up: false },
                ..wait("thread-sleep", "std::thread::sleep", Sleep, None, "Rust's sleep: a high-resolution timer.")
            },
        ),
        page(
            api!("synchapi/nf-synchapi-waitforsingleobject"),
            millis("wait-for-single-object", "WaitForSingleObject", Lock, "What parkNanos and most timeouts end in."),
        ),
        page(
            api!("synchapi/nf-synchapi-waitformultipleobjects"),
            millis("wait-for-multiple-objects", "WaitForMultipleObjects", Lock, "The same for several objects."),
        ),
        page(
            api!("synchapi/nf-synchapi-sleepconditionvariablecs"),
            millis("sleep-condition-variable-cs", "SleepConditionVariableCS", Lock, "Condition variables."),
        ),
        page(
            api!("synchapi/nf-synchapi-sleepconditionvariablesrw"),
            millis("sleep-condition-variable-srw", "SleepConditionVariableSRW", Lock, "Those of slim locks."),
        ),
        page(
            api!("synchapi/nf-synchapi-waitonaddress"),
            millis("wait-on-address", "WaitOnAddress", Lock, "The futex of Windows."),
        ),
        page(
            api!("winsock2/nf-winsock2-select"),
            WaitInfo {
                granularity: Granularity::MICROSECOND,
                ..millis("select", "select", Poll, "Microseconds in its argument, ticks in its length.")
            },
        ),
        page(api!("winsock2/nf-winsock2-wsapoll"), millis("wsapoll", "WSAPoll", Poll, "poll for sockets.")),
        page(
            "https://learn.microsoft.com/en-us/windows/win32/api/ioapiset/nf-ioapiset-getqueuedcompletionstatus",
            millis("get-queued-completion-status", "GetQueuedCompletionStatus", Poll, "Event loops: libuv, Node."),
        ),
        page(
            api!("synchapi/nf-synchapi-setwaitabletimer"),
            hundreds("waitable-timer", "SetWaitableTimer", Timer, "Units of 100 ns, still on the tick."),
        ),
        page(
            api!("synchapi/nf-synchapi-setwaitabletimerex"),
            hundreds(
                "waitable-timer-tolerant",
                "SetWaitableTimerEx(TolerableDelay)",
                Timer,
                "May be put off to be served with others.",
            ),
        ),
        page(
            api!("synchapi/nf-synchapi-createwaitabletimerexw"),
            WaitInfo {
                granularity: HUNDRED_NS,
                ..wait(
                    "waitable-timer-high-resolution",
                    "CreateWaitableTimerExW(CREATE_WAITABLE_TIMER_HIGH_RESOLUTION)",
                    Timer,
                    None,
                    "Independent of the tick, on a grid of about 0.5 ms.",
                )
            },
        ),
        page(
            api!("threadpoolapiset/nf-threadpoolapiset-setthreadpooltimer"),
            hundreds("thread-pool-timer", "SetThreadpoolTimer", Timer, "Timers of the thread pool."),
        ),
        page(
            api!("threadpoollegacyapiset/nf-threadpoollegacyapiset-createtimerqueuetimer"),
            millis("timer-queue-timer", "CreateTimerQueueTimer", Timer, "Older timers of the thread pool."),
        ),
        page(
            "https://learn.microsoft.com/en-us/previous-versions/dd757634(v=vs.85)",
            millis("time-set-event", "timeSetEvent", Timer, "Raises the resolution itself while it runs."),
        ),
        page(
            api!("winuser/nf-winuser-settimer"),
            WaitInfo {
                zero: ZeroMeans::SleepsSlack,
                ..millis("set-timer", "SetTimer + GetMessage", Message, "At least 10 ms (USER_TIMER_MINIMUM).")
            },
        ),
        page(
            api!("processthreadsapi/nf-processthreadsapi-switchtothread"),
            yields("switch-to-thread", "SwitchToThread", "Gives way to a thread that waits for this processor."),
        ),
        page(
            api!("synchapi/nf-synchapi-sleep"),
            yields("sleep-zero", "Sleep(0)", "Gives way to a thread that is ready; since Server 2003 of any priority."),
        ),
    ]
}
