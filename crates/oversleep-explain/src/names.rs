//! The waits and clocks that findings and remedies look for in results of any system. The names come from the
//! catalogue: a name that isn't in it does not compile.

use oversleep_record::clock::Counts;
use oversleep_system::{Follows, clocks, describe, waits};

pub(crate) use oversleep_system::waits::sets::{
    LINUX_EXACT, LINUX_MILLISECOND_POLLS, LINUX_SLEEPS, LINUX_TIMEOUT_SHARE, LINUX_TO_TIME_OF_DAY, MACOS_EXACT,
    MACOS_SLEEPS, WINDOWS_SLEEPS, WINDOWS_TICK_WAITS, plain_sleeps,
};

const fn linux(name: &str) -> &'static str {
    describe!(waits::LINUX, name).name
}

const fn windows(name: &str) -> &'static str {
    describe!(waits::WINDOWS, name).name
}

/// The high-resolution waitable timer of Windows.
pub(crate) const HIGH_RESOLUTION_TIMER: &str = windows("waitable-timer-high-resolution");
/// The waitable timer of Windows with a tolerance.
pub(crate) const TOLERANT_TIMER: &str = windows("waitable-timer-tolerant");
/// The waitable timer of Windows.
pub(crate) const WAITABLE_TIMER: &str = windows("waitable-timer");
/// The library's wait for a deadline.
pub(crate) const OVERSLEEP: &str = linux("oversleep-sleep-until");
/// The wait that sleeps first and spins at the end, which `oversleep-measure` composes from others.
pub(crate) const HYBRID: &str = waits::composed::HYBRID;
/// A receive timeout of a socket.
pub(crate) const SOCKET_TIMEOUT: &str = linux("so-rcvtimeo");
/// The wait for descriptors with a timeout in milliseconds, and the one with a timeout in nanoseconds.
pub(crate) const POLL: &str = linux("poll");
pub(crate) const PPOLL: &str = linux("ppoll");
/// The waits of epoll with a timeout in milliseconds, and in nanoseconds.
pub(crate) const EPOLL_WAIT: &str = linux("epoll-wait");
pub(crate) const EPOLL_PWAIT2: &str = linux("epoll-pwait2");
/// A timer of Linux that a program arms, as a descriptor.
pub(crate) const TIMERFD: &str = linux("timerfd");
/// Waits of Linux that an event may end, and that have their thread's slack.
pub(crate) const LINUX_SIGNALLED: &[&str] =
    &[linux("futex"), linux("futex-abs"), linux("cond-timedwait"), linux("sem-timedwait"), linux("sigtimedwait")];
/// Waits of Linux on a lock or a condition.
pub(crate) const LOCK_WAITS: &[&str] = &[linux("futex"), linux("cond-timedwait")];

/// The clock of the standard library.
pub(crate) const STD_INSTANT: &str = describe!(clocks::LINUX, "std-instant").name;
/// CLOCK_MONOTONIC of Linux, read by the vDSO and by a system call.
pub(crate) const MONOTONIC: &str = describe!(clocks::LINUX, "monotonic").name;
pub(crate) const MONOTONIC_SYSCALL: &str = describe!(clocks::LINUX, "monotonic-syscall").name;
/// The ordered reads of the counter that this clock reads without ordering.
pub(crate) fn ordered_reads(os: &str, clock: &str) -> &'static [&'static str] {
    clocks::of(os).iter().find(|info| info.name == clock).map_or(&[], |info| info.ordered)
}

/// Clocks of Windows that keep to the default tick.
pub(crate) fn tick_counts() -> impl Iterator<Item = &'static str> {
    clocks::WINDOWS.iter().filter(|info| info.follows == Follows::DefaultTick).map(|info| info.name)
}

/// Clocks of Windows that the clock interrupt advances, each with a precise one; those of the time of day first.
pub(crate) fn interrupt_clocks() -> Vec<(&'static str, &'static str)> {
    let mut infos: Vec<_> = clocks::WINDOWS.iter().filter(|info| info.precise.is_some()).collect();
    infos.sort_by_key(|info| info.counts != Counts::TimeOfDay);
    infos.into_iter().filter_map(|info| Some((info.name, info.precise?))).collect()
}

/// The tunables that remedies set and findings examine.
pub(crate) use oversleep_system::tunables::names as tunable;
