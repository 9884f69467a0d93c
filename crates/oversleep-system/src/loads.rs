//! Every kind of background load, described once for each system, in the order in which it is listed.
//!
//! A system's folder adds the hogs to a description, a model adds their behaviour.

use oversleep_record::Nanos;

use crate::load::{HogTimer, LoadInfo};

const SPIN: LoadInfo = LoadInfo {
    name: "spin",
    doc: "Pure computation without a pause: each hog takes a whole CPU for as long as the scheduler lets it.",
    timer: None,
};

const MEMORY: LoadInfo = LoadInfo {
    name: "memory",
    doc: "Streams through a buffer larger than the last-level cache (16 to 64 MiB per hog): each hog takes a CPU, \
          empties its neighbours' caches and fills the memory bus.",
    timer: None,
};

const SYSCALLS: LoadInfo = LoadInfo {
    name: "syscalls",
    doc: "Enters and leaves the kernel without a pause (a small call, and a byte through a pipe): each hog takes a \
          CPU, mostly in kernel mode, as a busy server does.",
    timer: None,
};

/// The loads of Linux.
pub const LINUX: &[LoadInfo] = &[
    SPIN,
    MEMORY,
    SYSCALLS,
    LoadInfo {
        name: "timers",
        doc: "Wakes up 10,000 times a second per hog by a periodic timer and sleeps again: little CPU time, but many \
              interrupts and switches, as other programs' timers cause them.",
        timer: Some(HogTimer { wait: "timerfd", span: Nanos(100_000), is_periodic: true }),
    },
];

/// The loads of Windows.
pub const WINDOWS: &[LoadInfo] = &[
    SPIN,
    MEMORY,
    SYSCALLS,
    LoadInfo {
        name: "timers",
        doc: "Waits without a pause for a high-resolution timer of 0.5 ms, about 2,000 wake-ups a second per hog: \
              little CPU time, but many interrupts and switches. Before Windows 10 1803, which introduced such \
              timers, it is 64 a second.",
        timer: Some(HogTimer { wait: "waitable-timer-high-resolution", span: Nanos(500_000), is_periodic: false }),
    },
];

/// The loads of macOS.
pub const MACOS: &[LoadInfo] = &[
    SPIN,
    MEMORY,
    SYSCALLS,
    LoadInfo {
        name: "timers",
        doc: "Sleeps 100 µs at a time, up to 10,000 times a second per hog: little CPU time, but many interrupts and \
              switches, as other programs' timers cause them.",
        timer: Some(HogTimer { wait: "thread-sleep", span: Nanos(100_000), is_periodic: false }),
    },
];

/// The loads of a system by its name in results; none if it has no catalogue.
pub fn of(os: &str) -> &'static [LoadInfo] {
    match os {
        "linux" => LINUX,
        "windows" => WINDOWS,
        "macos" => MACOS,
        _ => &[],
    }
}
