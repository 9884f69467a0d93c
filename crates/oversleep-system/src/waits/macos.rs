//! The waits of macOS. The kernel may end every wait of user code late by a share of its length, which the thread's
//! latency tier decides ([`SlackRule::ClassShare`]); it spares real-time threads and timers marked as critical.
//!
//! `setitimer` isn't here: its signal goes to whichever thread of the process lets it through, and macOS has no timed
//! wait for a signal.

use super::library::SLEEP_UNTIL;
use crate::{Family, Granularity, SlackRule, Takes, WaitInfo, ZeroMeans};

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

/// A page of the manual.
macro_rules! man {
    ($page:literal) => {
        concat!(
            "https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man",
            $page,
            ".html"
        )
    };
}

/// The waits of macOS, in the order in which they are listed.
pub const MACOS: &[WaitInfo] = &[
    WaitInfo {
        name: "nanosleep",
        call: "nanosleep",
        doc: "Most languages' sleeps end in this call, as do sleep() and usleep(). A loop of relative sleeps drifts, \
              because the lateness of each delays the next.",
        since: "Mac OS X 10.0",
        page: man!("2/nanosleep.2"),
        ..SLEEPS
    },
    WaitInfo {
        name: "mach-wait-until",
        call: "mach_wait_until",
        doc: "The call for periodic work: its deadline on mach_absolute_time stays where it is even if the previous \
              wait was late. The kernel coalesces it like any other wait unless the thread is a real-time one \
              (TN2169).",
        takes: Takes::Deadline,
        since: "Mac OS X 10.0",
        page: "https://developer.apple.com/library/archive/technotes/tn2169/_index.html",
        ..SLEEPS
    },
    WaitInfo {
        name: "usleep",
        call: "usleep",
        doc: "nanosleep in whole microseconds, at most 71 minutes, for old C code and shell-like tools.",
        granularity: Granularity::MICROSECOND,
        since: "Mac OS X 10.0",
        page: man!("3/usleep.3"),
        ..SLEEPS
    },
    WaitInfo {
        name: "thread-sleep",
        call: "std::thread::sleep",
        doc: "Rust's sleep. It calls the system's relative sleep, and calls it again for the rest when a signal ends \
              it, so signals never shorten it.",
        since: "Mac OS X 10.0",
        page: "https://doc.rust-lang.org/std/thread/fn.sleep.html",
        ..SLEEPS
    },
    WaitInfo {
        name: "select",
        call: "select(0, NULL, NULL, NULL, timeout)",
        doc: "Portable sleeps and old event loops use it. The thread's tier coalesces it like a sleep.",
        granularity: Granularity::MICROSECOND,
        since: "Mac OS X 10.0",
        page: man!("2/select.2"),
        ..POLLS
    },
    WaitInfo {
        name: "pselect",
        call: "pselect(0, NULL, NULL, NULL, timeout, NULL)",
        doc: "select in nanoseconds, with a signal mask.",
        since: "Mac OS X 10.5",
        page: man!("2/select.2"),
        ..POLLS
    },
    WaitInfo {
        name: "poll",
        call: "poll(NULL, 0, timeout)",
        doc: "Event loops and network code use it everywhere. It counts in whole milliseconds, so 300 µs becomes 1 ms.",
        granularity: Granularity::MILLISECOND,
        since: "Mac OS X 10.3",
        page: man!("2/poll.2"),
        ..POLLS
    },
    WaitInfo {
        name: "kevent",
        call: "kevent(timeout)",
        doc: "libuv, tokio, Go's netpoller and most servers on macOS wait with it and use its timeout, in nanoseconds, \
              for their timers.",
        since: "Mac OS X 10.3",
        page: man!("2/kqueue.2"),
        ..POLLS
    },
    WaitInfo {
        name: "kevent-timer",
        call: "kevent64(EVFILT_TIMER, NOTE_NSECONDS)",
        doc: "A timer that a kernel queue watches, armed and awaited in one call: event loops with one timer per \
              connection use it. The tier of the thread that arms it coalesces it.",
        since: "Mac OS X 10.6",
        page: man!("2/kqueue.2"),
        ..TIMERS
    },
    WaitInfo {
        name: "kevent-timer-critical",
        call: "kevent64(EVFILT_TIMER, NOTE_NSECONDS | NOTE_CRITICAL)",
        doc: "The kevent timer marked as critical: the kernel adds no delay of its own, whatever the thread's tier. \
              Strict dispatch timers are built on it.",
        slack: SlackRule::None,
        since: "OS X 10.9",
        page: man!("2/kqueue.2"),
        ..TIMERS
    },
    WaitInfo {
        name: "kevent-timer-leeway",
        call: "kevent64(EVFILT_TIMER, NOTE_NSECONDS | NOTE_LEEWAY)",
        doc: "The kevent timer with a leeway of a tenth of the span, as Apple advises for repeating work: the larger \
              of the leeway and the tier's share applies.",
        since: "OS X 10.9",
        page: man!("2/kqueue.2"),
        is_modelled: false,
        ..TIMERS
    },
    WaitInfo {
        name: "cond-timedwait",
        call: "pthread_cond_timedwait",
        doc: "Thread pools, queues and LockSupport.parkNanos use it. Its deadline is a time of day, so setting \
              the wall clock moves it. That clock steps by microseconds. oversleep converts the deadline at each \
              call, which counts as part of the wait, and adds one microsecond, so that it is never early.",
        takes: Takes::TimeOfDay,
        since: "Mac OS X 10.0",
        page: man!("3/pthread_cond_timedwait.3"),
        ..LOCKS
    },
    WaitInfo {
        name: "cond-timedwait-relative",
        call: "pthread_cond_timedwait_relative_np",
        doc: "The condition variable's wait with a span instead of a time of day. The timed waits of Rust, Swift and \
              libc++ use it, because macOS's condition variables have no other clock. Setting the wall clock doesn't affect it.",
        since: "Mac OS X 10.4",
        page: "https://github.com/apple-oss-distributions/libpthread",
        is_modelled: false,
        ..LOCKS
    },
    WaitInfo {
        name: "mach-semaphore",
        call: "semaphore_timedwait",
        doc: "Mach's semaphore with a span: nanosleep, dispatch semaphores and many hand-made locks end in it.",
        since: "Mac OS X 10.0",
        page: "https://developer.apple.com/library/archive/documentation/Darwin/Conceptual/KernelProgramming/synchronization/synchronization.html",
        ..LOCKS
    },
    WaitInfo {
        name: "dispatch-semaphore",
        call: "dispatch_semaphore_wait(timeout)",
        doc: "Grand Central Dispatch's semaphore: Swift and Objective-C code and Rust's parking use it. It makes no \
              system call if the semaphore is free. Its timeout is a dispatch_time, counted on mach_absolute_time.",
        since: "Mac OS X 10.6",
        page: "https://developer.apple.com/documentation/dispatch/dispatch_semaphore_wait",
        ..LOCKS
    },
    WaitInfo {
        name: "wait-on-address",
        call: "os_sync_wait_on_address_with_timeout",
        doc: "The futex of macOS, public since 14.4, for hand-made locks. os_unfair_lock, C++'s atomic waits and \
              Rust's locks use what lies beneath it.",
        since: "macOS 14.4",
        page: "https://developer.apple.com/documentation/os/os_sync_wait_on_address_with_timeout",
        is_modelled: false,
        ..LOCKS
    },
    WaitInfo {
        name: "dispatch-source-strict",
        call: "dispatch_source_set_timer (DISPATCH_TIMER_STRICT)",
        doc: "A dispatch timer that the kernel doesn't coalesce: audio and video code uses it. Its handler runs on a \
              thread of the queue and wakes the waiting one, so a hand-off is part of the wait.",
        slack: SlackRule::None,
        since: "OS X 10.9",
        page: "https://developer.apple.com/documentation/dispatch/dispatch_timer_strict",
        ..TIMERS
    },
    WaitInfo {
        name: "dispatch-source",
        call: "dispatch_source_set_timer (leeway 0)",
        doc: "The timer of Swift and Objective-C programs (DispatchSourceTimer; NSTimer is its peer). A leeway of zero \
              is only a hint: the system coalesces the timer anyway, by the class of the thread that serves the \
              queue's timers.",
        since: "Mac OS X 10.6",
        page: "https://developer.apple.com/documentation/dispatch/dispatch_source_set_timer",
        ..TIMERS
    },
    WaitInfo {
        name: "sched-yield",
        call: "sched_yield",
        doc: "Spin locks back off with it; std::thread::yield_now and Java's Thread.yield call it, and \
              pthread_yield_np is the same. With no other thread to run it returns at once and burns CPU; with \
              competition the scheduler decides how long it takes.",
        since: "Mac OS X 10.0",
        page: "https://github.com/apple-oss-distributions/libpthread",
        ..YIELDS
    },
    WaitInfo {
        name: "swtch-pri",
        call: "swtch_pri(0)",
        doc: "Mach's own yield, in which sched_yield ends: it lowers the thread's priority until the thread runs \
              again, so that all others come first.",
        since: "Mac OS X 10.0",
        page: "https://github.com/apple-oss-distributions/xnu/blob/main/osfmk/mach/mach_traps.h",
        is_modelled: false,
        ..YIELDS
    },
    SLEEP_UNTIL,
];
