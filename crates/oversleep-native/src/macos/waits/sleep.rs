//! Calls that do nothing but wait.

use super::args;
use super::entry::{Entry, Stateless, proved, thread_sleep};
use super::reason::{ended_by_zero, mach_ended, too_long};
use crate::macos::os::{self, KernReturn};
use oversleep_system::{Family, Granularity, SlackRule, Target, WaitEnd, WaitInfo, ZeroMeans};

pub(super) static NANOSLEEP: Entry = Entry {
    info: WaitInfo {
        name: "nanosleep",
        call: "nanosleep",
        doc: "What sleep(), usleep() and most languages' sleeps end in. A loop of relative sleeps drifts: each one's \
              lateness is added to the next start.",
        family: Family::Sleep,
        absolute: false,
        granularity: Granularity::NANOSECOND,
        zero: ZeroMeans::ReturnsAtOnce,
        slack: SlackRule::ClassShare,
        since: "Mac OS X 10.0",
        page: "https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/nanosleep.2.html",
    },
    open: || proved(Stateless(nanosleep)),
};

fn nanosleep(target: Target) -> WaitEnd {
    let span = args::timespec(target.remaining);
    // SAFETY: `span` is a valid timespec; a null remainder is allowed.
    ended_by_zero(&NANOSLEEP.info, unsafe { libc::nanosleep(&raw const span, std::ptr::null_mut()) })
}

// SAFETY: as <mach/mach_time.h> declares it, in libSystem.
unsafe extern "C" {
    // https://github.com/apple-oss-distributions/xnu/blob/main/osfmk/mach/mach_time.h
    fn mach_wait_until(deadline: u64) -> KernReturn;
}

pub(super) static MACH_WAIT_UNTIL: Entry = Entry {
    info: WaitInfo {
        name: "mach-wait-until",
        call: "mach_wait_until",
        doc: "The call for periodic work: a deadline on mach_absolute_time, which doesn't move with the lateness of the \
              wait before. Coalesced like any other unless the thread is a real-time one (TN2169).",
        family: Family::Sleep,
        absolute: true,
        granularity: Granularity::NANOSECOND,
        zero: ZeroMeans::ReturnsAtOnce,
        slack: SlackRule::ClassShare,
        since: "Mac OS X 10.0",
        page: "https://developer.apple.com/library/archive/technotes/tn2169/_index.html",
    },
    open: || proved(Stateless(until)),
};

fn until(target: Target) -> WaitEnd {
    let deadline = args::mach_deadline(target.deadline);
    // SAFETY: takes a number.
    match unsafe { mach_wait_until(deadline) } {
        os::SUCCESS => WaitEnd::TimedOut,
        error => mach_ended(&MACH_WAIT_UNTIL.info, error, os::SUCCESS),
    }
}

pub(super) static USLEEP: Entry = Entry {
    info: WaitInfo {
        name: "usleep",
        call: "usleep",
        doc: "Old C code and shell-like tools. nanosleep in whole microseconds, at most 71 minutes.",
        family: Family::Sleep,
        absolute: false,
        granularity: Granularity::MICROSECOND,
        zero: ZeroMeans::ReturnsAtOnce,
        slack: SlackRule::ClassShare,
        since: "Mac OS X 10.0",
        page: "https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man3/usleep.3.html",
    },
    open: || proved(Stateless(usleep)),
};

fn usleep(target: Target) -> WaitEnd {
    let Ok(micros) = libc::c_uint::try_from(args::micros(target.remaining)) else { return too_long(&USLEEP.info) };
    // SAFETY: takes a number only.
    ended_by_zero(&USLEEP.info, unsafe { libc::usleep(micros) })
}

pub(super) static THREAD_SLEEP: Entry = Entry {
    info: WaitInfo {
        name: "thread-sleep",
        call: "std::thread::sleep",
        doc: "What Rust programs call. The system's relative sleep, begun again with the rest when a signal ends it, so \
              signals never shorten it.",
        family: Family::Sleep,
        absolute: false,
        granularity: Granularity::NANOSECOND,
        zero: ZeroMeans::ReturnsAtOnce,
        slack: SlackRule::ClassShare,
        since: "Mac OS X 10.0",
        page: "https://doc.rust-lang.org/std/thread/fn.sleep.html",
    },
    open: || proved(Stateless(thread_sleep)),
};

#[cfg(test)]
mod tests {
    use super::super::conformance::{NeverEarly, check};
    use super::*;

    #[test]
    fn sleeps_conform() {
        check(&NANOSLEEP, NeverEarly::Holds);
        check(&MACH_WAIT_UNTIL, NeverEarly::Holds);
        check(&USLEEP, NeverEarly::Holds);
        check(&THREAD_SLEEP, NeverEarly::Holds);
    }
}
