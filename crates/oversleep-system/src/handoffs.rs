//! Every hand-off of every system, described once: the ways in which one thread wakes another.
//!
//! Each is what a careful programmer writes with that primitive: a count that a post before the wait raises, so it is
//! never lost, and a wait that goes on after signals and stray wake-ups. A post always notifies, also where nobody
//! waits, so that its cost doesn't depend on who came first.

use crate::{HandoffInfo, pairing};

/// The hand-offs that a system of that name offers (`linux`, `windows`, `macos`); none on any other.
pub fn of(os: &str) -> &'static [HandoffInfo] {
    match os {
        "linux" => LINUX,
        "windows" => WINDOWS,
        "macos" => MACOS,
        _ => &[],
    }
}

/// The description of that name.
///
/// # Panics
/// Without such a description; in a constant, that stops the compiler.
pub const fn named(handoffs: &'static [HandoffInfo], name: &str) -> &'static HandoffInfo {
    let mut at = 0;
    while at < handoffs.len() {
        if pairing::is_same(handoffs[at].name, name) {
            return &handoffs[at];
        }
        at += 1;
    }
    panic!("{}", name)
}

/// The hand-offs of Linux.
pub const LINUX: &[HandoffInfo] = &[
    HandoffInfo {
        name: "futex",
        call: "futex(FUTEX_WAKE) and futex(FUTEX_WAIT)",
        doc: "The base of the others: every lock, condition variable and semaphore of the C library and of Rust ends in it.",
        since: "Linux 2.6",
        page: "https://man7.org/linux/man-pages/man2/futex.2.html",
    },
    HandoffInfo {
        name: "condvar",
        call: "Condvar::notify_one and Condvar::wait",
        doc: "The common way: a mutex, a state and a condition variable. This is Rust's, which uses two futexes. \
              oversleep notifies after it releases the mutex.",
        since: "Linux 2.6",
        page: "https://doc.rust-lang.org/std/sync/struct.Condvar.html",
    },
    HandoffInfo {
        name: "semaphore",
        call: "sem_post and sem_wait",
        doc: "The POSIX semaphore: C programs and job systems of game engines use it. A post needs no lock and may \
              come from a signal handler.",
        since: "Linux 2.6",
        page: "https://man7.org/linux/man-pages/man7/sem_overview.7.html",
    },
    HandoffInfo {
        name: "eventfd",
        call: "write and read of an eventfd(EFD_SEMAPHORE)",
        doc: "The way into an event loop (libuv, tokio, Qt, I/O threads). It takes two system calls, and it can be \
              polled alongside sockets.",
        since: "Linux 2.6.30",
        page: "https://man7.org/linux/man-pages/man2/eventfd.2.html",
    },
    HandoffInfo {
        name: "pipe",
        call: "write and read of a pipe",
        doc: "The older way to wake an event loop (the self-pipe trick) or another process. A post blocks once 64 KiB \
              of posts are unread.",
        since: "Linux 2.6.27",
        page: "https://man7.org/linux/man-pages/man7/pipe.7.html",
    },
    HandoffInfo {
        name: "thread-park",
        call: "Thread::unpark and std::thread::park",
        doc: "Rust's parking wakes a thread by its handle, as Java's LockSupport does. Each thread has one futex; \
              channels and executors build on it. A post holds a short lock to find the waiting thread.",
        since: "Linux 2.6",
        page: "https://doc.rust-lang.org/std/thread/fn.park.html",
    },
];

/// The hand-offs of Windows. What the standard library's locks rest on, the alert of a thread by its number, has no
/// public interface.
pub const WINDOWS: &[HandoffInfo] = &[
    HandoffInfo {
        name: "event",
        call: "SetEvent and WaitForSingleObject of an auto-reset event",
        doc: "The older way of Windows programs, also between processes. Sets before the wait merge into one, so \
              oversleep keeps a count alongside it.",
        since: "Windows XP",
        page: "https://learn.microsoft.com/windows/win32/api/synchapi/nf-synchapi-setevent",
    },
    HandoffInfo {
        name: "condvar",
        call: "WakeConditionVariable and SleepConditionVariableSRW",
        doc: "The common way: a slim lock, a state and a condition variable; C++'s are made of them. It notifies \
              after the lock is free.",
        since: "Windows Vista",
        page: "https://learn.microsoft.com/windows/win32/sync/condition-variables",
    },
    HandoffInfo {
        name: "wait-on-address",
        call: "WakeByAddressSingle and WaitOnAddress",
        doc: "The base of others: Rust's locks, parking and channels and C++'s atomic waits are built on it.",
        since: "Windows 8",
        page: "https://learn.microsoft.com/windows/win32/api/synchapi/nf-synchapi-wakebyaddresssingle",
    },
    HandoffInfo {
        name: "semaphore",
        call: "ReleaseSemaphore and WaitForSingleObject",
        doc: "The kernel's semaphore: job systems of games and older queues use it. It keeps its own count.",
        since: "Windows XP",
        page: "https://learn.microsoft.com/windows/win32/api/synchapi/nf-synchapi-releasesemaphore",
    },
    HandoffInfo {
        name: "completion-port",
        call: "PostQueuedCompletionStatus and GetQueuedCompletionStatus",
        doc: "The usual way to wake an event loop (libuv, tokio, .NET). It keeps every post, and takes them in order.",
        since: "Windows XP",
        page: "https://learn.microsoft.com/windows/win32/api/ioapiset/nf-ioapiset-postqueuedcompletionstatus",
    },
];

/// The hand-offs of macOS.
pub const MACOS: &[HandoffInfo] = &[
    HandoffInfo {
        name: "condvar",
        call: "Condvar::notify_one and Condvar::wait",
        doc: "The common way: a mutex, a state and a condition variable. This is Rust's, over pthread's. oversleep \
              notifies after it releases the mutex.",
        since: "macOS 10.12",
        page: "https://doc.rust-lang.org/std/sync/struct.Condvar.html",
    },
    HandoffInfo {
        name: "thread-park",
        call: "Thread::unpark and std::thread::park",
        doc: "Rust's parking wakes a thread by its handle. Each thread has one dispatch semaphore; channels and \
              executors build on it. A post holds a short lock to find the waiting thread.",
        since: "macOS 10.12",
        page: "https://doc.rust-lang.org/std/thread/fn.park.html",
    },
    HandoffInfo {
        name: "mach-semaphore",
        call: "semaphore_signal and semaphore_wait",
        doc: "Mach's semaphore: every signal and every wait is a call into the kernel. Engines and audio code use \
              it, because macOS has no unnamed POSIX semaphores.",
        since: "Mac OS X 10.0",
        page: "https://developer.apple.com/library/archive/documentation/Darwin/Conceptual/KernelProgramming/synchronization/synchronization.html",
    },
    HandoffInfo {
        name: "dispatch-semaphore",
        call: "dispatch_semaphore_signal and dispatch_semaphore_wait",
        doc: "Grand Central Dispatch's semaphore: a count in memory, which uses Mach's semaphore only when a thread \
              waits.",
        since: "Mac OS X 10.6",
        page: "https://developer.apple.com/documentation/dispatch/dispatch_semaphore_signal",
    },
    HandoffInfo {
        name: "pipe",
        call: "write and read of a pipe",
        doc: "The older way to wake an event loop (the self-pipe trick) or another process. A post blocks once the \
              pipe is full of unread posts (16 to 64 KiB).",
        since: "Mac OS X 10.0",
        page: "https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/pipe.2.html",
    },
    HandoffInfo {
        name: "kevent-user",
        call: "kevent(NOTE_TRIGGER) and kevent of EVFILT_USER",
        doc: "The way into an event loop (tokio and others): a notice to a kernel queue alongside its descriptors. \
              Notices before the wait merge into one, so oversleep keeps a count alongside them.",
        since: "Mac OS X 10.6",
        page: "https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/kqueue.2.html",
    },
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
