//! The registry names that findings and remedies look for in results of any system: a name that no registry knows would
//! make them say "not measured" for ever.

pub(crate) use oversleep_system::waits::sets::{
    LINUX_EXACT as EXACT_WAITS, LINUX_MILLISECOND_POLLS as MILLISECOND_WAITS, LINUX_SLEEPS,
    LINUX_TIMEOUT_SHARE as TIMEOUT_SHARE_WAITS, MACOS_SLEEPS, WINDOWS_SLEEPS, WINDOWS_TICK_WAITS, plain_sleeps,
};

/// The high-resolution waitable timer of Windows.
pub(crate) const HIGH_RESOLUTION_TIMER: &str = "waitable-timer-high-resolution";
/// The waitable timer of Windows with a tolerance.
pub(crate) const TOLERANT_TIMER: &str = "waitable-timer-tolerant";
/// The waitable timer of Windows.
pub(crate) const WAITABLE_TIMER: &str = "waitable-timer";
/// The library's wait for a deadline.
pub(crate) const OVERSLEEP: &str = "oversleep-sleep-until";
/// A receive timeout of a socket.
pub(crate) const SOCKET_TIMEOUT: &str = "so-rcvtimeo";
/// The wait that sleeps first and spins at the end.
pub(crate) const HYBRID: &str = "hybrid";

/// Waits of Linux on a lock or a condition.
pub(crate) const LOCK_WAITS: &[&str] = &["futex", "cond-timedwait"];
/// Waits of Linux for descriptors, those that take nanoseconds first.
pub(crate) const POLL_WAITS: &[&str] = &["epoll-pwait2", "ppoll", "poll"];
/// Waits of Linux in whole milliseconds that have a successor, each beside the call that takes nanoseconds instead.
pub(crate) const FINER_CALLS: &[(&str, &str)] = &[("epoll-wait", "epoll-pwait2"), ("poll", "ppoll")];
/// Timers of macOS that are exempt from coalescing.
pub(crate) const STRICT_TIMERS: &[&str] = &["dispatch-source-strict", "kevent-timer-critical"];

/// The clock of the standard library.
pub(crate) const STD_INSTANT: &str = "std-instant";
/// Clocks that read a bare counter without a fence, each with the ordered reads of the same counter.
pub(crate) const ORDERED_READS: &[(&str, &[&str])] =
    &[("tsc", &["tsc-fenced", "tscp"]), ("oversleep", &["oversleep-ordered"])];
/// Clocks of Windows that keep to the default tick.
pub(crate) const TICK_COUNTS: &[&str] = &["get-tick-count-64", "get-tick-count"];
/// Clocks of Windows that the clock interrupt advances, each beside a precise one.
pub(crate) const INTERRUPT_CLOCKS: &[(&str, &str)] = &[
    ("system-time", "system-time-precise"),
    ("time-get-time", "qpc"),
    ("interrupt-time", "interrupt-time-precise"),
    ("unbiased-interrupt-time", "unbiased-interrupt-time-precise"),
];

/// Names by the registry that must hold them.
#[cfg(feature = "testing")]
pub struct Names {
    /// Clocks.
    pub clocks: Vec<&'static str>,
    /// Waits.
    pub waits: Vec<&'static str>,
    /// Tunables.
    pub tunables: Vec<&'static str>,
}

/// What is looked for in results of that system.
#[cfg(feature = "testing")]
pub fn looked_for(os: &str) -> Names {
    let (clocks, waits, tunables): (Vec<&str>, Vec<&[&str]>, Vec<&str>) = match os {
        "windows" => {
            let clocks = INTERRUPT_CLOCKS.iter().flat_map(|&(coarse, precise)| [coarse, precise]);
            let timers: &[&str] = &[HIGH_RESOLUTION_TIMER, TOLERANT_TIMER, WAITABLE_TIMER];
            (clocks.chain(TICK_COUNTS.iter().copied()).collect(), vec![WINDOWS_TICK_WAITS, timers], vec!["resolution"])
        }
        "macos" => (vec![], vec![STRICT_TIMERS], vec!["policy"]),
        _ => {
            let waits = vec![EXACT_WAITS, LOCK_WAITS, POLL_WAITS, TIMEOUT_SHARE_WAITS, &[SOCKET_TIMEOUT]];
            (vec![STD_INSTANT], waits, vec!["slack", "policy"])
        }
    };
    let waits = waits.into_iter().chain([plain_sleeps(os)]).flatten().copied().collect();
    Names { clocks, waits, tunables }
}
