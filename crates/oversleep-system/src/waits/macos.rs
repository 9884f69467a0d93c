//! The waits of macOS. The kernel may end every wait of user code late by a share of its length, which depends on the
//! thread's latency tier ([`SlackRule::ClassShare`]). Real-time threads and timers marked as critical are exempt.
//!
//! `setitimer` is missing: its signal goes to any thread of the process that doesn't block it, and macOS has no timed
//! wait for a signal.

use super::library::SLEEP_UNTIL;
use crate::catalogue::{archive, entry, man};
use crate::{Family, Granularity, Longest, SlackRule, Takes, WaitInfo, ZeroMeans};

const SLEEPS: WaitInfo = WaitInfo { slack: SlackRule::ClassShare, ..WaitInfo::BLANK };
const POLLS: WaitInfo = WaitInfo { family: Family::Poll, ..SLEEPS };
const LOCKS: WaitInfo = WaitInfo { family: Family::Lock, ..SLEEPS };
const TIMERS: WaitInfo = WaitInfo { family: Family::Timer, ..SLEEPS };
const YIELDS: WaitInfo = WaitInfo {
    family: Family::Yield,
    takes: Takes::Nothing,
    zero: ZeroMeans::NoArgument,
    slack: SlackRule::NoTimer,
    ..WaitInfo::BLANK
};

/// The waits of macOS, in the order in which they are listed.
pub const MACOS: &[WaitInfo] = &[
    entry! { SLEEPS: "nanosleep" => "nanosleep", since: "Mac OS X 10.0", page: man!("2/nanosleep.2"),
    "Most languages' sleeps end in this call, as do sleep() and usleep(). A loop of relative sleeps drifts, \
     because the lateness of each delays the next." },
    entry! { SLEEPS: "mach-wait-until" => "mach_wait_until", takes: Takes::Deadline, since: "Mac OS X 10.0",
    page: archive!("technotes/tn2169/_index.html"),
    "The call for periodic work: its deadline on mach_absolute_time stays where it is even if the previous wait \
     was late. The kernel coalesces it like any other wait unless the thread is a real-time one (TN2169)." },
    entry! { SLEEPS: "usleep" => "usleep", granularity: Granularity::MICROSECOND, longest: Some(Longest::U32Micros),
    since: "Mac OS X 10.0",
    page: man!("3/usleep.3"),
    "nanosleep in whole microseconds, at most 71 minutes, for old C code and shell-like tools." },
    entry! { SLEEPS: "thread-sleep" => "std::thread::sleep", since: "Mac OS X 10.0",
    page: "https://doc.rust-lang.org/std/thread/fn.sleep.html",
    "Rust's sleep. It calls the system's relative sleep, and calls it again for the rest when a signal ends it, so \
     signals never shorten it." },
    entry! { POLLS: "select" => "select(0, NULL, NULL, NULL, timeout)", granularity: Granularity::MICROSECOND,
    since: "Mac OS X 10.0", page: man!("2/select.2"),
    "Portable sleeps and old event loops use it. The thread's tier coalesces it like a sleep." },
    entry! { POLLS: "pselect" => "pselect(0, NULL, NULL, NULL, timeout, NULL)", since: "Mac OS X 10.5",
    page: man!("2/select.2"),
    "select in nanoseconds, with a signal mask." },
    entry! { POLLS: "poll" => "poll(NULL, 0, timeout)", slack: SlackRule::KernelShare,
    granularity: Granularity::MILLISECOND, longest: Some(Longest::I32Millis), since: "Mac OS X 10.3",
    page: man!("2/poll.2"),
    "Event loops and network code use it everywhere. It counts in whole milliseconds, so 300 µs becomes 1 ms. The \
     kernel waits on its own account, so the thread's tier doesn't matter (kqueue_scan in XNU)." },
    entry! { POLLS: "kevent" => "kevent(timeout)", slack: SlackRule::KernelShare, since: "Mac OS X 10.3", page: man!("2/kqueue.2"),
    "libuv, tokio, Go's netpoller and most servers on macOS wait with it and use its timeout, in nanoseconds, for \
     their timers. The kernel waits on its own account, as for poll." },
    entry! { TIMERS: "kevent-timer" => "kevent64(EVFILT_TIMER, NOTE_NSECONDS)", since: "Mac OS X 10.6",
    page: man!("2/kqueue.2"),
    "A timer that a kernel queue watches, armed and awaited in one call: event loops with one timer per connection \
     use it. The tier of the thread that arms it coalesces it." },
    entry! { TIMERS: "kevent-timer-critical" => "kevent64(EVFILT_TIMER, NOTE_NSECONDS | NOTE_CRITICAL)",
    slack: SlackRule::None, since: "OS X 10.9", page: man!("2/kqueue.2"),
    "The kevent timer marked as critical: the kernel adds no delay of its own, whatever the thread's tier. Strict \
     dispatch timers are built on it." },
    entry! { TIMERS: "kevent-timer-leeway" => "kevent64(EVFILT_TIMER, NOTE_NSECONDS | NOTE_LEEWAY)", since: "OS X 10.9",
    page: man!("2/kqueue.2"), is_modelled: false,
    "The kevent timer with a leeway of a tenth of the span, as Apple advises for repeating work: the larger of the \
     leeway and the tier's share applies." },
    entry! { LOCKS: "cond-timedwait" => "pthread_cond_timedwait", takes: Takes::TimeOfDay, since: "Mac OS X 10.0",
    page: man!("3/pthread_cond_timedwait.3"),
    "Thread pools, queues and LockSupport.parkNanos use it. Its deadline is a time of day, so setting the wall \
     clock moves it. That clock steps by microseconds. oversleep converts the deadline at each call, which counts \
     as part of the wait, and adds one microsecond, so that it is never early." },
    entry! { LOCKS: "cond-timedwait-relative" => "pthread_cond_timedwait_relative_np", since: "Mac OS X 10.4",
    page: "https://github.com/apple-oss-distributions/libpthread",
    "The condition variable's wait with a span instead of a time of day. The timed waits of Rust, Swift and \
     libc++ use it, because macOS's condition variables have no other clock. Setting the wall clock doesn't \
     affect it." },
    entry! { LOCKS: "mach-semaphore" => "semaphore_timedwait", since: "Mac OS X 10.0",
    page: archive!("documentation/Darwin/Conceptual/KernelProgramming/synchronization/synchronization.html"),
    "Mach's semaphore with a span: nanosleep, dispatch semaphores and many hand-made locks end in it." },
    entry! { LOCKS: "dispatch-semaphore" => "dispatch_semaphore_wait(timeout)", since: "Mac OS X 10.6",
    page: "https://developer.apple.com/documentation/dispatch/dispatch_semaphore_wait",
    "Grand Central Dispatch's semaphore: Swift and Objective-C code and Rust's parking use it. It makes no system \
     call if the semaphore is free. Its timeout is a dispatch_time, counted on mach_absolute_time." },
    entry! { LOCKS: "wait-on-address" => "os_sync_wait_on_address_with_timeout", since: "macOS 14.4",
    page: "https://developer.apple.com/documentation/os/os_sync_wait_on_address_with_timeout", is_modelled: false,
    "The futex of macOS, public since 14.4, for hand-made locks. os_unfair_lock, C++'s atomic waits and Rust's \
     locks use what lies beneath it." },
    entry! { TIMERS: "dispatch-source-strict" => "dispatch_source_set_timer (DISPATCH_TIMER_STRICT)",
    slack: SlackRule::None, since: "OS X 10.9",
    page: "https://developer.apple.com/documentation/dispatch/dispatch_timer_strict",
    "A dispatch timer that the kernel doesn't coalesce: audio and video code uses it. Its handler runs on a thread \
     of the queue and wakes the waiting one, so a hand-off is part of the wait." },
    entry! { TIMERS: "dispatch-source" => "dispatch_source_set_timer (leeway 0)", since: "Mac OS X 10.6",
    page: "https://developer.apple.com/documentation/dispatch/dispatch_source_set_timer",
    "The timer of Swift and Objective-C programs (DispatchSourceTimer; NSTimer is its peer). A leeway of zero is \
     only a hint: the system coalesces the timer anyway, by the class of the thread that serves the queue's \
     timers." },
    entry! { YIELDS: "sched-yield" => "sched_yield", since: "Mac OS X 10.0",
    page: "https://github.com/apple-oss-distributions/libpthread",
    "Spin locks back off with it; std::thread::yield_now and Java's Thread.yield call it, and pthread_yield_np is \
     the same. With no other thread to run it returns at once and burns CPU; with competition the scheduler \
     decides how long it takes." },
    entry! { YIELDS: "swtch-pri" => "swtch_pri(0)", since: "Mac OS X 10.0",
    page: "https://github.com/apple-oss-distributions/xnu/blob/main/osfmk/mach/mach_traps.h", is_modelled: false,
    "Mach's own yield, in which sched_yield ends: it lowers the thread's priority until the thread runs again, so \
     that all others come first." },
    SLEEP_UNTIL,
];
