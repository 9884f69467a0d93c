//! The waits of Windows. All of them take spans: a point in time would be on the wall clock, which can be set.

use super::library::SLEEP_UNTIL;
use crate::{Family, Granularity, SlackRule, Takes, WaitInfo, ZeroMeans};

/// In whole milliseconds, to the next timer interrupt.
const LOCKS: WaitInfo = WaitInfo {
    family: Family::Lock,
    granularity: Granularity::MILLISECOND,
    slack: SlackRule::TimerResolution,
    ..WaitInfo::BLANK
};
const SLEEPS: WaitInfo = WaitInfo { family: Family::Sleep, zero: ZeroMeans::Yields, ..LOCKS };
const POLLS: WaitInfo = WaitInfo { family: Family::Poll, ..LOCKS };
const MILLISECOND_TIMERS: WaitInfo = WaitInfo { family: Family::Timer, ..LOCKS };
const TIMERS: WaitInfo = WaitInfo { granularity: Granularity::HUNDRED_NS, ..MILLISECOND_TIMERS };
const YIELDS: WaitInfo = WaitInfo {
    family: Family::Yield,
    takes: Takes::Nothing,
    zero: ZeroMeans::NoArgument,
    slack: SlackRule::NoTimer,
    ..LOCKS
};

/// The waits of Windows, in the order in which they are listed.
pub const WINDOWS: &[WaitInfo] = &[
    WaitInfo {
        name: "sleep",
        call: "Sleep",
        doc: "Most programs call it. It ends at the first timer interrupt after its milliseconds have passed, so 1 ms \
              takes up to 15.6 ms more unless the process requested a finer timer resolution. Windows 7 may end it \
              early.",
        since: "Windows XP",
        page: "https://learn.microsoft.com/windows/win32/api/synchapi/nf-synchapi-sleep",
        ..SLEEPS
    },
    WaitInfo {
        name: "sleep-ex",
        call: "SleepEx(alertable)",
        doc: "Sleep for programs with completion routines: an asynchronous call queued to the thread runs during the \
              sleep and ends it. Otherwise it behaves like Sleep.",
        since: "Windows XP",
        page: "https://learn.microsoft.com/windows/win32/api/synchapi/nf-synchapi-sleepex",
        ..SLEEPS
    },
    WaitInfo {
        name: "nt-delay-execution",
        call: "NtDelayExecution",
        doc: "Sleep ends in it. Microsoft documents the kernel's name for it, not this one. Its unit of 100 ns makes \
              no difference by itself, because it also ends at a timer interrupt; programs use it with a timer \
              resolution of 0.5 ms.",
        granularity: Granularity::HUNDRED_NS,
        since: "Windows XP",
        page: "https://learn.microsoft.com/windows-hardware/drivers/ddi/wdm/nf-wdm-kedelayexecutionthread",
        ..SLEEPS
    },
    WaitInfo {
        name: "thread-sleep",
        call: "std::thread::sleep",
        doc: "Rust's sleep. It uses a high-resolution waitable timer if there is one (Windows 10 1803), whatever \
              the timer resolution; the standard library drops any remainder below 100 ns. It calls Sleep on older \
              systems and for a span of zero.",
        granularity: Granularity { rounds_up: false, ..Granularity::HUNDRED_NS },
        slack: SlackRule::None,
        since: "Windows XP",
        page: "https://doc.rust-lang.org/std/thread/fn.sleep.html",
        ..SLEEPS
    },
    WaitInfo {
        name: "wait-for-single-object",
        call: "WaitForSingleObject",
        doc: "It waits for an event, thread or process; oversleep waits for an event that nobody sets. Java's \
              LockSupport.parkNanos and C run-times end in it. Its timeout ends at a timer interrupt, like Sleep's.",
        since: "Windows XP",
        page: "https://learn.microsoft.com/windows/win32/api/synchapi/nf-synchapi-waitforsingleobject",
        ..LOCKS
    },
    WaitInfo {
        name: "wait-for-multiple-objects",
        call: "WaitForMultipleObjects",
        doc: "Event loops of services and of old game engines wait for up to 64 objects at once with it; oversleep \
              waits for two events. Its timeout ends at a timer interrupt, like Sleep's.",
        since: "Windows XP",
        page: "https://learn.microsoft.com/windows/win32/api/synchapi/nf-synchapi-waitformultipleobjects",
        ..LOCKS
    },
    WaitInfo {
        name: "sleep-condition-variable-cs",
        call: "SleepConditionVariableCS",
        doc: "A condition variable with a critical section: queues and thread pools of C and C++ programs use it. Its \
              timeout ends at a timer interrupt, and it may wake for no reason.",
        since: "Windows Vista",
        page: "https://learn.microsoft.com/windows/win32/api/synchapi/nf-synchapi-sleepconditionvariablecs",
        ..LOCKS
    },
    WaitInfo {
        name: "sleep-condition-variable-srw",
        call: "SleepConditionVariableSRW",
        doc: "A condition variable with a slim lock: C++'s std::condition_variable is built on it. Its timeout ends at \
              a timer interrupt, and it may wake for no reason.",
        since: "Windows Vista",
        page: "https://learn.microsoft.com/windows/win32/api/synchapi/nf-synchapi-sleepconditionvariablesrw",
        ..LOCKS
    },
    WaitInfo {
        name: "wait-on-address",
        call: "WaitOnAddress",
        doc: "The futex of Windows: Rust's locks and parking and C++'s atomic waits are built on it. Its timeout ends \
              at a timer interrupt, and it may wake for no reason.",
        since: "Windows 8",
        page: "https://learn.microsoft.com/windows/win32/api/synchapi/nf-synchapi-waitonaddress",
        ..LOCKS
    },
    WaitInfo {
        name: "select",
        call: "select",
        doc: "Portable network programs use it. Its timeout is in microseconds but ends at a timer interrupt. Without \
              a socket it fails, so it can't serve as a sleep; oversleep waits for a socket that receives nothing.",
        granularity: Granularity::MICROSECOND,
        since: "Windows XP",
        page: "https://learn.microsoft.com/windows/win32/api/winsock2/nf-winsock2-select",
        ..POLLS
    },
    WaitInfo {
        name: "wsapoll",
        call: "WSAPoll",
        doc: "Network programs ported from Unix use it in place of poll(). It needs a socket, counts in whole \
              milliseconds and ends at a timer interrupt.",
        since: "Windows Vista",
        page: "https://learn.microsoft.com/windows/win32/api/winsock2/nf-winsock2-wsapoll",
        ..POLLS
    },
    WaitInfo {
        name: "get-queued-completion-status",
        call: "GetQueuedCompletionStatus",
        doc: "The event loops of Windows (libuv, tokio, .NET) wait with it. They use its timeout for their timers, in \
              whole milliseconds; it ends at a timer interrupt.",
        since: "Windows XP",
        page: "https://learn.microsoft.com/windows/win32/api/ioapiset/nf-ioapiset-getqueuedcompletionstatus",
        ..POLLS
    },
    WaitInfo {
        name: "waitable-timer",
        call: "SetWaitableTimer + WaitForSingleObject",
        doc: "A timer object in units of 100 ns. It ends at a timer interrupt like Sleep, so the fine unit doesn't \
              make it precise. A time of zero is in the past, so it ends at once.",
        since: "Windows XP",
        page: "https://learn.microsoft.com/windows/win32/api/synchapi/nf-synchapi-setwaitabletimer",
        ..TIMERS
    },
    WaitInfo {
        name: "waitable-timer-tolerant",
        call: "SetWaitableTimerEx(TolerableDelay) + WaitForSingleObject",
        doc: "Programs that save power use it: the system may add up to the tolerance, here 32 ms, so that several \
              timers share one interrupt. Windows hardly uses a tolerance below two default ticks. Otherwise it \
              behaves like a waitable timer.",
        since: "Windows 7",
        page: "https://learn.microsoft.com/windows/win32/api/synchapi/nf-synchapi-setwaitabletimerex",
        ..TIMERS
    },
    WaitInfo {
        name: "waitable-timer-high-resolution",
        call: "CreateWaitableTimerExW(CREATE_WAITABLE_TIMER_HIGH_RESOLUTION) + SetWaitableTimer + WaitForSingleObject",
        doc: "The timer that needs no timer resolution: it ends on a grid of about 0.5 ms, whatever the resolution is, \
              and doesn't change the resolution. Newer versions of Rust's, Go's and Python's sleeps use it.",
        slack: SlackRule::None,
        since: "Windows 10 1803",
        page: "https://learn.microsoft.com/windows/win32/api/synchapi/nf-synchapi-createwaitabletimerexw",
        ..TIMERS
    },
    WaitInfo {
        name: "thread-pool-timer",
        call: "SetThreadpoolTimer + SetEvent in its callback + WaitForSingleObject",
        doc: "Services and .NET set timers of the process's thread pool. It ends at a timer interrupt; a thread of \
              the pool then wakes and wakes this one, which makes two wake-ups.",
        since: "Windows Vista",
        page: "https://learn.microsoft.com/windows/win32/api/threadpoolapiset/nf-threadpoolapiset-setthreadpooltimer",
        ..TIMERS
    },
    WaitInfo {
        name: "timer-queue-timer",
        call: "CreateTimerQueueTimer + SetEvent in its callback + WaitForSingleObject",
        doc: "The older timer with a callback: timer classes of many C++ libraries use it. A timer that has ended \
              can't be armed again, so creating one is part of each wait. It ends at a timer interrupt, in another \
              thread.",
        since: "Windows XP",
        page: "https://learn.microsoft.com/windows/win32/api/threadpoollegacyapiset/nf-threadpoollegacyapiset-createtimerqueuetimer",
        ..MILLISECOND_TIMERS
    },
    WaitInfo {
        name: "time-set-event",
        call: "timeSetEvent + SetEvent in its callback + WaitForSingleObject",
        doc: "The multimedia timer of players and sequencers, in whole milliseconds from 1. While it is armed, it \
              requests a timer resolution of 1 ms in the one request that the system keeps per process: while it is \
              armed, this process's other waits are finer; afterwards, a finer resolution that was held is lost. A \
              separate thread calls back.",
        since: "Windows XP",
        page: "https://learn.microsoft.com/previous-versions/dd757634(v=vs.85)",
        ..MILLISECOND_TIMERS
    },
    WaitInfo {
        name: "set-timer",
        call: "SetTimer + GetMessageW(WM_TIMER)",
        doc: "The timer of programs with windows. It raises a request below 10 ms, zero included, to 10 ms. It ends at \
              a timer interrupt, and its message comes after all others. The thread needs a message queue.",
        family: Family::Message,
        zero: ZeroMeans::SleepsShortest,
        since: "Windows XP",
        page: "https://learn.microsoft.com/windows/win32/api/winuser/nf-winuser-settimer",
        ..LOCKS
    },
    WaitInfo {
        name: "switch-to-thread",
        call: "SwitchToThread",
        doc: "Spin locks back off with it, and std::thread::yield_now calls it. It looks for another thread on this \
              processor only; with none it returns at once and burns CPU.",
        since: "Windows XP",
        page: "https://learn.microsoft.com/windows/win32/api/processthreadsapi/nf-processthreadsapi-switchtothread",
        ..YIELDS
    },
    WaitInfo {
        name: "sleep-zero",
        call: "Sleep(0)",
        doc: "The older yield of game loops and spin locks. It yields to a ready thread on any processor, of any \
              priority since Windows Server 2003. With a free core it takes some microseconds, whatever the timer \
              resolution.",
        since: "Windows XP",
        page: "https://learn.microsoft.com/windows/win32/api/synchapi/nf-synchapi-sleep",
        ..YIELDS
    },
    SLEEP_UNTIL,
];
