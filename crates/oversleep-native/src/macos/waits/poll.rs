//! Waits for descriptors, here with none to wait for.

use super::args;
use super::entry::{Entry, Stateless, proved};
use super::reason::{ended_by_zero, too_long};
use oversleep_system::{Family, Granularity, SlackRule, Target, WaitEnd, WaitInfo, ZeroMeans};

/// `select` refuses a longer timeout (EINVAL): 100,000,000 s.
const LONGEST_SELECT_S: i64 = 100_000_000;

pub(super) static SELECT: Entry = Entry {
    info: WaitInfo {
        name: "select",
        call: "select(0, NULL, NULL, NULL, timeout)",
        doc: "Portable sleeps and old event loops. Coalesced by the thread's tier like a sleep.",
        family: Family::Poll,
        absolute: false,
        granularity: Granularity::MICROSECOND,
        zero: ZeroMeans::ReturnsAtOnce,
        slack: SlackRule::ClassShare,
        since: "Mac OS X 10.0",
        page: "https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/select.2.html",
    },
    open: || proved(Stateless(select)),
};

fn select(target: Target) -> WaitEnd {
    let mut span = args::timeval(target.remaining);
    if span.tv_sec > LONGEST_SELECT_S {
        return too_long(&SELECT.info);
    }
    let none = std::ptr::null_mut();
    // SAFETY: no set is passed, and the timeout is valid.
    ended_by_zero(&SELECT.info, unsafe { libc::select(0, none, none, none, &raw mut span) })
}

pub(super) static PSELECT: Entry = Entry {
    info: WaitInfo {
        name: "pselect",
        call: "pselect(0, NULL, NULL, NULL, timeout, NULL)",
        doc: "select in nanoseconds with a signal mask.",
        family: Family::Poll,
        absolute: false,
        granularity: Granularity::NANOSECOND,
        zero: ZeroMeans::ReturnsAtOnce,
        slack: SlackRule::ClassShare,
        since: "Mac OS X 10.5",
        page: "https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/select.2.html",
    },
    open: || proved(Stateless(pselect)),
};

fn pselect(target: Target) -> WaitEnd {
    let span = args::timespec(target.remaining);
    if span.tv_sec > LONGEST_SELECT_S {
        return too_long(&PSELECT.info);
    }
    let none = std::ptr::null_mut();
    // SAFETY: no set and no mask is passed, and the timeout is valid.
    ended_by_zero(&PSELECT.info, unsafe { libc::pselect(0, none, none, none, &raw const span, std::ptr::null()) })
}

pub(super) static POLL: Entry = Entry {
    info: WaitInfo {
        name: "poll",
        call: "poll(NULL, 0, timeout)",
        doc: "Event loops and network code everywhere. Whole milliseconds: 300 µs becomes 1 ms.",
        family: Family::Poll,
        absolute: false,
        granularity: Granularity::MILLISECOND,
        zero: ZeroMeans::ReturnsAtOnce,
        slack: SlackRule::ClassShare,
        since: "Mac OS X 10.3",
        page: "https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/poll.2.html",
    },
    open: || proved(Stateless(poll)),
};

fn poll(target: Target) -> WaitEnd {
    let Some(millis) = args::millis(target.remaining) else { return too_long(&POLL.info) };
    // SAFETY: no descriptor is passed.
    ended_by_zero(&POLL.info, unsafe { libc::poll(std::ptr::null_mut(), 0, millis) })
}

#[cfg(test)]
mod tests {
    use super::super::conformance::{NeverEarly, check};
    use super::*;

    #[test]
    fn polls_conform() {
        check(&SELECT, NeverEarly::Holds);
        check(&PSELECT, NeverEarly::Holds);
        check(&POLL, NeverEarly::Holds);
    }
}
