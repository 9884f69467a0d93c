//! The waits of Windows. All of them take spans: a point in time would be on the wall clock, which can be set.

use super::library::SLEEP_UNTIL;
use crate::catalogue::{entry, win32};
use crate::{Family, Granularity, Longest, SlackRule, Takes, WaitInfo, ZeroMeans};

/// In whole milliseconds, to the next timer interrupt.
const LOCKS: WaitInfo = WaitInfo {
    family: Family::Lock,
    granularity: Granularity::MILLISECOND,
    longest: Some(Longest::U32Millis),
    slack: SlackRule::TimerResolution,
    ..WaitInfo::BLANK
};
const SLEEPS: WaitInfo = WaitInfo { family: Family::Sleep, zero: ZeroMeans::Yields, ..LOCKS };
const POLLS: WaitInfo = WaitInfo { family: Family::Poll, ..LOCKS };
const MILLISECOND_TIMERS: WaitInfo = WaitInfo { family: Family::Timer, ..LOCKS };
const TIMERS: WaitInfo = WaitInfo { granularity: Granularity::HUNDRED_NS, longest: None, ..MILLISECOND_TIMERS };
const YIELDS: WaitInfo = WaitInfo {
    family: Family::Yield,
    takes: Takes::Nothing,
    zero: ZeroMeans::NoArgument,
    slack: SlackRule::NoTimer,
    ..LOCKS
};

/// The waits of Windows, in the order in which they are listed.
pub const WINDOWS: &[WaitInfo] = &[
    entry! { SLEEPS: "sleep" => "Sleep", since: "Windows XP", page: win32!("api/synchapi/nf-synchapi-sleep"),
    "Most programs call it. It ends at the first timer interrupt after its milliseconds have passed, so 1 ms takes \
     up to 15.6 ms more unless the process requested a finer timer resolution. Windows 7 may end it early." },
    entry! { SLEEPS: "sleep-ex" => "SleepEx(alertable)", since: "Windows XP",
    page: win32!("api/synchapi/nf-synchapi-sleepex"),
    "Sleep for programs with completion routines: an asynchronous call queued to the thread runs during the sleep \
     and ends it. Otherwise it behaves like Sleep." },
    entry! { SLEEPS: "nt-delay-execution" => "NtDelayExecution", granularity: Granularity::HUNDRED_NS, longest: None,
    since: "Windows XP",
    page: "https://learn.microsoft.com/windows-hardware/drivers/ddi/wdm/nf-wdm-kedelayexecutionthread",
    "Sleep ends in it. Microsoft documents the kernel's name for it, not this one. Its unit of 100 ns makes no \
     difference by itself, because it also ends at a timer interrupt; programs use it with a timer resolution of \
     0.5 ms." },
    entry! { SLEEPS: "thread-sleep" => "std::thread::sleep",
    granularity: Granularity { rounds_up: false, is_a_step_at_least: false, ..Granularity::HUNDRED_NS },
    slack: SlackRule::None, longest: None,
    since: "Windows XP", page: "https://doc.rust-lang.org/std/thread/fn.sleep.html",
    "Rust's sleep. It uses a high-resolution waitable timer if there is one (Windows 10 1803), whatever the timer \
     resolution; the standard library drops any remainder below 100 ns. It calls Sleep on older systems and for a \
     span of zero." },
    entry! { LOCKS: "wait-for-single-object" => "WaitForSingleObject", since: "Windows XP",
    page: win32!("api/synchapi/nf-synchapi-waitforsingleobject"),
    "It waits for an event, thread or process; oversleep waits for an event that nobody sets. Java's \
     LockSupport.parkNanos and C run-times end in it. Its timeout ends at a timer interrupt, like Sleep's." },
    entry! { LOCKS: "wait-for-multiple-objects" => "WaitForMultipleObjects", since: "Windows XP",
    page: win32!("api/synchapi/nf-synchapi-waitformultipleobjects"),
    "Event loops of services and of old game engines wait for up to 64 objects at once with it; oversleep waits \
     for two events. Its timeout ends at a timer interrupt, like Sleep's." },
    entry! { LOCKS: "sleep-condition-variable-cs" => "SleepConditionVariableCS", since: "Windows Vista",
    page: win32!("api/synchapi/nf-synchapi-sleepconditionvariablecs"),
    "A condition variable with a critical section: queues and thread pools of C and C++ programs use it. Its \
     timeout ends at a timer interrupt, and it may wake for no reason." },
    entry! { LOCKS: "sleep-condition-variable-srw" => "SleepConditionVariableSRW", since: "Windows Vista",
    page: win32!("api/synchapi/nf-synchapi-sleepconditionvariablesrw"),
    "A condition variable with a slim lock: C++'s std::condition_variable is built on it. Its timeout ends at a \
     timer interrupt, and it may wake for no reason." },
    entry! { LOCKS: "wait-on-address" => "WaitOnAddress", since: "Windows 8",
    page: win32!("api/synchapi/nf-synchapi-waitonaddress"),
    "The futex of Windows: Rust's locks and parking and C++'s atomic waits are built on it. Its timeout ends at a \
     timer interrupt, and it may wake for no reason." },
    entry! { POLLS: "select" => "select", granularity: Granularity::MICROSECOND, longest: None, since: "Windows XP",
    page: win32!("api/winsock2/nf-winsock2-select"),
    "Portable network programs use it. Its timeout is in microseconds but ends at a timer interrupt. Without a \
     socket it fails, so it can't serve as a sleep; oversleep waits for a socket that receives nothing." },
    entry! { POLLS: "wsapoll" => "WSAPoll", longest: Some(Longest::I32Millis), since: "Windows Vista", page: win32!("api/winsock2/nf-winsock2-wsapoll"),
    "Network programs ported from Unix use it in place of poll(). It needs a socket, counts in whole milliseconds \
     and ends at a timer interrupt." },
    entry! { POLLS: "get-queued-completion-status" => "GetQueuedCompletionStatus", since: "Windows XP",
    page: win32!("api/ioapiset/nf-ioapiset-getqueuedcompletionstatus"),
    "The event loops of Windows (libuv, tokio, .NET) wait with it. They use its timeout for their timers, in whole \
     milliseconds; it ends at a timer interrupt." },
    entry! { TIMERS: "waitable-timer" => "SetWaitableTimer + WaitForSingleObject", since: "Windows XP",
    page: win32!("api/synchapi/nf-synchapi-setwaitabletimer"),
    "A timer object in units of 100 ns. It ends at a timer interrupt like Sleep, so the fine unit doesn't make it \
     precise. A time of zero is in the past, so it ends at once." },
    entry! { TIMERS: "waitable-timer-tolerant" => "SetWaitableTimerEx(TolerableDelay) + WaitForSingleObject",
    since: "Windows 7", page: win32!("api/synchapi/nf-synchapi-setwaitabletimerex"),
    "Programs that save power use it: the system may add up to the tolerance, here 32 ms, so that several timers \
     share one interrupt. Windows hardly uses a tolerance below two default ticks. Otherwise it behaves like a \
     waitable timer." },
    entry! { TIMERS: "waitable-timer-high-resolution" => "CreateWaitableTimerExW(CREATE_WAITABLE_TIMER_HIGH_RESOLUTION) + SetWaitableTimer + WaitForSingleObject",
    slack: SlackRule::None, since: "Windows 10 1803", page: win32!("api/synchapi/nf-synchapi-createwaitabletimerexw"),
    "The timer that needs no timer resolution: it ends on a grid of about 0.5 ms, whatever the resolution is, and \
     doesn't change the resolution. Newer versions of Rust's, Go's and Python's sleeps use it." },
    entry! { TIMERS: "thread-pool-timer" => "SetThreadpoolTimer + SetEvent in its callback + WaitForSingleObject",
    since: "Windows Vista", page: win32!("api/threadpoolapiset/nf-threadpoolapiset-setthreadpooltimer"),
    "Services and .NET set timers of the process's thread pool. It ends at a timer interrupt; a thread of the pool \
     then wakes and wakes this one, which makes two wake-ups." },
    entry! { MILLISECOND_TIMERS: "timer-queue-timer" => "CreateTimerQueueTimer + SetEvent in its callback + WaitForSingleObject",
    since: "Windows XP", page: win32!("api/threadpoollegacyapiset/nf-threadpoollegacyapiset-createtimerqueuetimer"),
    "The older timer with a callback: timer classes of many C++ libraries use it. A timer that has ended can't be \
     armed again, so creating one is part of each wait. It ends at a timer interrupt, in another thread." },
    entry! { MILLISECOND_TIMERS: "time-set-event" => "timeSetEvent + SetEvent in its callback + WaitForSingleObject",
    since: "Windows XP", page: "https://learn.microsoft.com/previous-versions/dd757634(v=vs.85)",
    "The multimedia timer of players and sequencers, in whole milliseconds from 1. While it is armed, it requests \
     a timer resolution of 1 ms in the one request that the system keeps per process: while it is armed, this \
     process's other waits are finer; afterwards, a finer resolution that was held is lost. A separate thread \
     calls back." },
    entry! { LOCKS: "set-timer" => "SetTimer + GetMessageW(WM_TIMER)", family: Family::Message, longest: Some(Longest::I32Millis),
    zero: ZeroMeans::SleepsShortest, since: "Windows XP", page: win32!("api/winuser/nf-winuser-settimer"),
    "The timer of programs with windows. It raises a request below 10 ms, zero included, to 10 ms. It ends at a \
     timer interrupt, and its message comes after all others. The thread needs a message queue." },
    entry! { YIELDS: "switch-to-thread" => "SwitchToThread", since: "Windows XP",
    page: win32!("api/processthreadsapi/nf-processthreadsapi-switchtothread"),
    "Spin locks back off with it, and std::thread::yield_now calls it. It looks for another thread on this \
     processor only; with none it returns at once and burns CPU." },
    entry! { YIELDS: "sleep-zero" => "Sleep(0)", since: "Windows XP", page: win32!("api/synchapi/nf-synchapi-sleep"),
    "The older yield of game loops and spin locks. It yields to a ready thread on any processor, of any priority \
     since Windows Server 2003. With a free core it takes some microseconds, whatever the timer resolution." },
    SLEEP_UNTIL,
];
