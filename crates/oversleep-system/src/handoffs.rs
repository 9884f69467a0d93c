//! Every hand-off of every system, described once: the ways in which one thread wakes another.
//!
//! Each is the careful implementation with that primitive: a count that a post before the wait raises, so that it is
//! never lost, and a wait that continues after signals and spurious wake-ups. A post always notifies, even if nobody
//! waits, so that its cost doesn't depend on the order.

use crate::HandoffInfo;
use crate::catalogue::{archive, entry, man, man7, win32};

const BLANK: HandoffInfo = HandoffInfo { name: "", call: "", doc: "", since: "", page: "" };

/// The hand-offs that a system of that name offers (`linux`, `windows`, `macos`); none on any other.
pub fn of(os: &str) -> &'static [HandoffInfo] {
    match os {
        "linux" => LINUX,
        "windows" => WINDOWS,
        "macos" => MACOS,
        _ => &[],
    }
}

/// The hand-offs of Linux.
pub const LINUX: &[HandoffInfo] = &[
    entry! { BLANK: "futex" => "futex(FUTEX_WAKE) and futex(FUTEX_WAIT)", since: "Linux 2.6", page: man7!("2/futex.2"),
    "The base of the others: every lock, condition variable and semaphore of the C library and of Rust ends in \
     it." },
    entry! { BLANK: "condvar" => "Condvar::notify_one and Condvar::wait", since: "Linux 2.6",
    page: "https://doc.rust-lang.org/std/sync/struct.Condvar.html",
    "The common way: a mutex, a state and a condition variable. This is Rust's, which uses two futexes. oversleep \
     notifies after it releases the mutex." },
    entry! { BLANK: "semaphore" => "sem_post and sem_wait", since: "Linux 2.6", page: man7!("7/sem_overview.7"),
    "The POSIX semaphore: C programs and job systems of game engines use it. A post needs no lock and may come \
     from a signal handler." },
    entry! { BLANK: "eventfd" => "write and read of an eventfd(EFD_SEMAPHORE)", since: "Linux 2.6.30",
    page: man7!("2/eventfd.2"),
    "The way into an event loop (libuv, tokio, Qt, I/O threads). It takes two system calls, and it can be polled \
     alongside sockets." },
    entry! { BLANK: "pipe" => "write and read of a pipe", since: "Linux 2.6.27", page: man7!("7/pipe.7"),
    "The older way to wake an event loop (the self-pipe trick) or another process. A post blocks once 64 KiB of \
     posts are unread." },
    entry! { BLANK: "thread-park" => "Thread::unpark and std::thread::park", since: "Linux 2.6",
    page: "https://doc.rust-lang.org/std/thread/fn.park.html",
    "Rust's parking wakes a thread by its handle, as Java's LockSupport does. Each thread has one futex; channels \
     and executors build on it. A post holds a short lock to find the waiting thread." },
];

/// The hand-offs of Windows. The primitive beneath the standard library's locks, the alert of a thread by its id, has
/// no public interface.
pub const WINDOWS: &[HandoffInfo] = &[
    entry! { BLANK: "event" => "SetEvent and WaitForSingleObject of an auto-reset event", since: "Windows XP",
    page: win32!("api/synchapi/nf-synchapi-setevent"),
    "The older way of Windows programs, also between processes. Sets before the wait merge into one, so oversleep \
     keeps a count alongside it." },
    entry! { BLANK: "condvar" => "WakeConditionVariable and SleepConditionVariableSRW", since: "Windows Vista",
    page: win32!("sync/condition-variables"),
    "The common way: a slim lock, a state and a condition variable; C++'s are made of them. It notifies after the \
     lock is free." },
    entry! { BLANK: "wait-on-address" => "WakeByAddressSingle and WaitOnAddress", since: "Windows 8",
    page: win32!("api/synchapi/nf-synchapi-wakebyaddresssingle"),
    "The base of others: Rust's locks, parking and channels and C++'s atomic waits are built on it." },
    entry! { BLANK: "semaphore" => "ReleaseSemaphore and WaitForSingleObject", since: "Windows XP",
    page: win32!("api/synchapi/nf-synchapi-releasesemaphore"),
    "The kernel's semaphore: job systems of games and older queues use it. It keeps its own count." },
    entry! { BLANK: "completion-port" => "PostQueuedCompletionStatus and GetQueuedCompletionStatus",
    since: "Windows XP", page: win32!("api/ioapiset/nf-ioapiset-postqueuedcompletionstatus"),
    "The usual way to wake an event loop (libuv, tokio, .NET). It keeps every post, and takes them in order." },
];

/// The hand-offs of macOS.
pub const MACOS: &[HandoffInfo] = &[
    entry! { BLANK: "condvar" => "Condvar::notify_one and Condvar::wait", since: "macOS 10.12",
    page: "https://doc.rust-lang.org/std/sync/struct.Condvar.html",
    "The common way: a mutex, a state and a condition variable. This is Rust's, over pthread's. oversleep notifies \
     after it releases the mutex." },
    entry! { BLANK: "thread-park" => "Thread::unpark and std::thread::park", since: "macOS 10.12",
    page: "https://doc.rust-lang.org/std/thread/fn.park.html",
    "Rust's parking wakes a thread by its handle. Each thread has one dispatch semaphore; channels and executors \
     build on it. A post holds a short lock to find the waiting thread." },
    entry! { BLANK: "mach-semaphore" => "semaphore_signal and semaphore_wait", since: "Mac OS X 10.0",
    page: archive!("documentation/Darwin/Conceptual/KernelProgramming/synchronization/synchronization.html"),
    "Mach's semaphore: every signal and every wait is a call into the kernel. Engines and audio code use it, \
     because macOS has no unnamed POSIX semaphores." },
    entry! { BLANK: "dispatch-semaphore" => "dispatch_semaphore_signal and dispatch_semaphore_wait",
    since: "Mac OS X 10.6", page: "https://developer.apple.com/documentation/dispatch/dispatch_semaphore_signal",
    "Grand Central Dispatch's semaphore: a count in memory, which uses Mach's semaphore only when a thread \
     waits." },
    entry! { BLANK: "pipe" => "write and read of a pipe", since: "Mac OS X 10.0", page: man!("2/pipe.2"),
    "The older way to wake an event loop (the self-pipe trick) or another process. A post blocks once the pipe is \
     full of unread posts (16 to 64 KiB)." },
    entry! { BLANK: "kevent-user" => "kevent(NOTE_TRIGGER) and kevent of EVFILT_USER", since: "Mac OS X 10.6",
    page: man!("2/kqueue.2"),
    "The way into an event loop (tokio and others): a notice to a kernel queue alongside its descriptors. Notices \
     before the wait merge into one, so oversleep keeps a count alongside them." },
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_entry_is_described_under_its_own_name() {
        for (os, version) in [("linux", "Linux "), ("windows", "Windows "), ("macos", "OS ")] {
            let mut names = BTreeSet::new();
            for info in of(os) {
                assert!(names.insert(info.name), "{} stands twice", info.name);
                assert!(info.doc.ends_with('.') && info.call.contains(" and "), "{}", info.name);
                assert!(info.since.contains(version) && info.page.starts_with("https://"), "{}", info.name);
            }
            assert!(!names.is_empty());
        }
    }
}
