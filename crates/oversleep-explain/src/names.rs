//! The waits and clocks that findings and remedies look for in results of any system, as the catalogue names them: a name
//! that it doesn't have does not compile.

pub(crate) use oversleep_system::waits::sets::{
    LINUX_EXACT, LINUX_MILLISECOND_POLLS, LINUX_SLEEPS, MACOS_SLEEPS, WINDOWS_SLEEPS, plain_sleeps,
};

use oversleep_system::{clocks, describe, waits};

const fn linux(name: &str) -> &'static str {
    describe!(waits::LINUX, name).name
}

const fn windows(name: &str) -> &'static str {
    describe!(waits::WINDOWS, name).name
}

const fn macos(name: &str) -> &'static str {
    describe!(waits::MACOS, name).name
}

const fn windows_clock(name: &str) -> &'static str {
    describe!(clocks::WINDOWS, name).name
}

/// The high-resolution waitable timer of Windows.
pub(crate) const HIGH_RESOLUTION_TIMER: &str = windows("waitable-timer-high-resolution");
/// The waitable timer of Windows with a tolerance.
pub(crate) const TOLERANT_TIMER: &str = windows("waitable-timer-tolerant");
/// The waitable timer of Windows.
pub(crate) const WAITABLE_TIMER: &str = windows("waitable-timer");
/// The library's wait for a deadline.
pub(crate) const OVERSLEEP: &str = linux("oversleep-sleep-until");
/// The wait that sleeps first and spins at the end, which `oversleep-measure` makes of others.
pub(crate) const HYBRID: &str = "hybrid";
/// A receive timeout of a socket.
pub(crate) const SOCKET_TIMEOUT: &str = linux("so-rcvtimeo");
/// The wait for descriptors with a timeout in milliseconds, and the one with a timeout in nanoseconds.
pub(crate) const POLL: &str = linux("poll");
pub(crate) const PPOLL: &str = linux("ppoll");
/// The same of epoll.
pub(crate) const EPOLL_WAIT: &str = linux("epoll-wait");
pub(crate) const EPOLL_PWAIT2: &str = linux("epoll-pwait2");
/// Waits of Linux whose slack grows with the timeout, in the order in which findings cite them.
pub(crate) const LINUX_TIMEOUT_SHARE: &[&str] =
    &[POLL, PPOLL, linux("select"), linux("pselect"), EPOLL_WAIT, EPOLL_PWAIT2];
/// A timer of Linux that a program arms, as a descriptor.
pub(crate) const TIMERFD: &str = linux("timerfd");
/// Timers of macOS that the kernel doesn't coalesce, the one that programs use first.
pub(crate) const MACOS_EXACT: &[&str] = &[macos("dispatch-source-strict"), macos("kevent-timer-critical")];
/// Waits of Windows whose values are pooled where the simplest sleep alone has too few: they end on the same ticks.
pub(crate) const WINDOWS_TICK_WAITS: &[&str] = &[
    windows("sleep"),
    windows("sleep-ex"),
    windows("nt-delay-execution"),
    windows("wait-for-single-object"),
    windows("wait-for-multiple-objects"),
];
/// Waits of Linux on a lock or a condition.
pub(crate) const LOCK_WAITS: &[&str] = &[linux("futex"), linux("cond-timedwait")];
/// Waits of Linux that end by CLOCK_REALTIME.
pub(crate) const REALTIME_WAITS: &[&str] = &[linux("sem-timedwait"), linux("mq-timedreceive")];

/// The clock of the standard library.
pub(crate) const STD_INSTANT: &str = describe!(clocks::LINUX, "std-instant").name;
/// CLOCK_MONOTONIC of Linux, read by the vDSO and by a system call.
pub(crate) const MONOTONIC: &str = describe!(clocks::LINUX, "monotonic").name;
pub(crate) const MONOTONIC_SYSCALL: &str = describe!(clocks::LINUX, "monotonic-syscall").name;
/// Clocks that read a bare counter without a fence, each with the ordered reads of the same counter.
pub(crate) const ORDERED_READS: &[(&str, &[&str])] =
    &[("tsc", &["tsc-fenced", "tscp"]), ("oversleep", &["oversleep-ordered"])];
/// Clocks of Windows that keep to the default tick.
pub(crate) const TICK_COUNTS: &[&str] = &[windows_clock("get-tick-count-64"), windows_clock("get-tick-count")];
/// Clocks of Windows that the clock interrupt advances, each beside a precise one.
pub(crate) const INTERRUPT_CLOCKS: &[(&str, &str)] = &[
    (windows_clock("system-time"), windows_clock("system-time-precise")),
    (windows_clock("time-get-time"), windows_clock("qpc")),
    (windows_clock("interrupt-time"), windows_clock("interrupt-time-precise")),
    (windows_clock("unbiased-interrupt-time"), windows_clock("unbiased-interrupt-time-precise")),
];

/// The tunables that remedies set and findings look at.
pub(crate) mod tunable {
    use oversleep_system::{describe, tunables};

    /// The timer slack of Linux.
    pub(crate) const SLACK: &str = describe!(tunables::LINUX, "slack").name;
    /// The scheduling policy; macOS has one of the same name.
    pub(crate) const POLICY: &str = describe!(tunables::LINUX, "policy").name;
    /// The timer resolution of Windows.
    pub(crate) const RESOLUTION: &str = describe!(tunables::WINDOWS, "resolution").name;
}
