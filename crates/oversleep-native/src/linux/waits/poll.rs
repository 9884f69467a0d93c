//! Waits for descriptors, here with none to wait for.

use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use oversleep_record::Unavailable;

use super::args;
use super::entry::{Entry, Stateless, proved, proved_at_once};
use super::reason::{ended_by_zero, errno, refused, too_long};
use oversleep_system::{Family, Granularity, SlackRule, Target, WaitEnd, WaitInfo, Waiter, ZeroMeans};

pub(super) static SELECT: Entry = Entry {
    info: WaitInfo {
        name: "select",
        call: "select(0, NULL, NULL, NULL, timeout)",
        doc: "Portable sleeps and old event loops; Perl's, and CPython's time.sleep before 3.11. Timer slack grows with the \
              timeout: 0.1 % of it, 0.5 % for a nice process, at most 100 ms.",
        family: Family::Poll,
        absolute: false,
        granularity: Granularity::MICROSECOND,
        zero: ZeroMeans::ReturnsAtOnce,
        slack: SlackRule::ThreadSlackOrShare,
        since: "Linux 2.0",
        page: "https://man7.org/linux/man-pages/man2/select.2.html",
    },
    open: || proved(Stateless(select)),
};

fn select(target: Target) -> WaitEnd {
    let mut span = args::timeval(target.remaining);
    let none = std::ptr::null_mut();
    // SAFETY: no set is passed, and the timeout is valid and writable (Linux stores the rest in it).
    // https://man7.org/linux/man-pages/man2/select.2.html
    ended_by_zero(&SELECT.info, unsafe { libc::select(0, none, none, none, &mut span) })
}

pub(super) static PSELECT: Entry = Entry {
    info: WaitInfo {
        name: "pselect",
        call: "pselect(0, NULL, NULL, NULL, timeout, NULL)",
        doc: "select in nanoseconds with a signal mask. The unit is finer, the slack is select's.",
        family: Family::Poll,
        absolute: false,
        granularity: Granularity::NANOSECOND,
        zero: ZeroMeans::ReturnsAtOnce,
        slack: SlackRule::ThreadSlackOrShare,
        since: "Linux 2.6.16",
        page: "https://man7.org/linux/man-pages/man2/pselect.2.html",
    },
    open: || proved(Stateless(pselect)),
};

fn pselect(target: Target) -> WaitEnd {
    let span = args::timespec(target.remaining);
    let none = std::ptr::null_mut();
    // SAFETY: no set and no mask is passed, and the timeout is valid. https://man7.org/linux/man-pages/man2/pselect.2.html
    ended_by_zero(&PSELECT.info, unsafe { libc::pselect(0, none, none, none, &span, std::ptr::null()) })
}

pub(super) static POLL: Entry = Entry {
    info: WaitInfo {
        name: "poll",
        call: "poll(NULL, 0, timeout)",
        doc: "Event loops and network code everywhere. Whole milliseconds: 300 µs becomes 1 ms; slack as for select.",
        family: Family::Poll,
        absolute: false,
        granularity: Granularity::MILLISECOND,
        zero: ZeroMeans::ReturnsAtOnce,
        slack: SlackRule::ThreadSlackOrShare,
        since: "Linux 2.2",
        page: "https://man7.org/linux/man-pages/man2/poll.2.html",
    },
    open: || proved_at_once(Stateless(poll)),
};

fn poll(target: Target) -> WaitEnd {
    let Some(millis) = args::millis(target.remaining) else { return too_long(&POLL.info) };
    // SAFETY: no descriptor is passed. https://man7.org/linux/man-pages/man2/poll.2.html
    ended_by_zero(&POLL.info, unsafe { libc::poll(std::ptr::null_mut(), 0, millis) })
}

pub(super) static PPOLL: Entry = Entry {
    info: WaitInfo {
        name: "ppoll",
        call: "ppoll(NULL, 0, timeout, NULL)",
        doc: "poll in nanoseconds with a signal mask: the cure where poll's millisecond is too coarse. Slack as for \
              select.",
        family: Family::Poll,
        absolute: false,
        granularity: Granularity::NANOSECOND,
        zero: ZeroMeans::ReturnsAtOnce,
        slack: SlackRule::ThreadSlackOrShare,
        since: "Linux 2.6.16",
        page: "https://man7.org/linux/man-pages/man2/ppoll.2.html",
    },
    open: || proved(Stateless(ppoll)),
};

fn ppoll(target: Target) -> WaitEnd {
    let span = args::timespec(target.remaining);
    // SAFETY: no descriptor and no mask is passed, and the timeout is valid.
    // https://man7.org/linux/man-pages/man2/ppoll.2.html
    ended_by_zero(&PPOLL.info, unsafe { libc::ppoll(std::ptr::null_mut(), 0, &span, std::ptr::null()) })
}

pub(super) static EPOLL_WAIT: Entry = Entry {
    info: WaitInfo {
        name: "epoll-wait",
        call: "epoll_wait",
        doc: "The wait of libuv, Netty, nginx, tokio and most servers; their timers inherit its whole milliseconds. \
              Slack as for select.",
        family: Family::Poll,
        absolute: false,
        granularity: Granularity::MILLISECOND,
        zero: ZeroMeans::ReturnsAtOnce,
        slack: SlackRule::ThreadSlackOrShare,
        since: "Linux 2.6",
        page: "https://man7.org/linux/man-pages/man2/epoll_wait.2.html",
    },
    open: || EpollWait::open().and_then(proved_at_once),
};

/// An epoll instance that watches nothing.
fn epoll(info: &WaitInfo) -> Result<OwnedFd, Unavailable> {
    // SAFETY: takes flags only. https://man7.org/linux/man-pages/man2/epoll_create1.2.html
    let fd = unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) };
    if fd < 0 {
        return Err(refused(info, "epoll_create1", errno()));
    }
    // SAFETY: a descriptor just made, owned by nobody else.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

struct EpollWait(OwnedFd);

impl EpollWait {
    fn open() -> Result<EpollWait, Unavailable> {
        epoll(&EPOLL_WAIT.info).map(EpollWait)
    }
}

impl Waiter for EpollWait {
    fn wait(&mut self, target: Target) -> WaitEnd {
        let Some(millis) = args::millis(target.remaining) else { return too_long(&EPOLL_WAIT.info) };
        let mut event = libc::epoll_event { events: 0, u64: 0 };
        // SAFETY: there is room for the one event that is allowed.
        // https://man7.org/linux/man-pages/man2/epoll_wait.2.html
        let events = unsafe { libc::epoll_wait(self.0.as_raw_fd(), &mut event, 1, millis) };
        ended_by_zero(&EPOLL_WAIT.info, events)
    }
}

pub(super) static EPOLL_PWAIT2: Entry = Entry {
    info: WaitInfo {
        name: "epoll-pwait2",
        call: "epoll_pwait2",
        doc: "epoll_wait in nanoseconds, for event loops with timers below a millisecond. Needs a fallback: older \
              kernels and seccomp filters lack it. Slack as for select.",
        family: Family::Poll,
        absolute: false,
        granularity: Granularity::NANOSECOND,
        zero: ZeroMeans::ReturnsAtOnce,
        slack: SlackRule::ThreadSlackOrShare,
        since: "Linux 5.11",
        page: "https://man7.org/linux/man-pages/man2/epoll_pwait2.2.html",
    },
    open: || EpollPwait2::open().and_then(proved),
};

struct EpollPwait2(OwnedFd);

impl EpollPwait2 {
    fn open() -> Result<EpollPwait2, Unavailable> {
        epoll(&EPOLL_PWAIT2.info).map(EpollPwait2)
    }
}

impl Waiter for EpollPwait2 {
    fn wait(&mut self, target: Target) -> WaitEnd {
        let span = args::timespec(target.remaining);
        let mut event = libc::epoll_event { events: 0, u64: 0 };
        // A raw call: glibc wraps it only since 2.35, and the binary shall start on older ones.
        // SAFETY: there is room for the one event that is allowed, the timeout is valid (on 64-bit machines in the
        // kernel's layout), and no mask is passed. https://man7.org/linux/man-pages/man2/epoll_pwait2.2.html
        let events = unsafe {
            libc::syscall(
                libc::SYS_epoll_pwait2,
                self.0.as_raw_fd(),
                &raw mut event,
                1,
                &raw const span,
                std::ptr::null::<libc::sigset_t>(),
                0,
            )
        };
        // At most one event, so it fits.
        ended_by_zero(&EPOLL_PWAIT2.info, events as i32)
    }
}

#[cfg(test)]
mod tests {
    use oversleep_record::Nanos;

    use super::super::conformance::{NeverEarly, Signals, check};
    use super::*;

    #[test]
    fn select_conforms() {
        check(&SELECT, NeverEarly::Holds, Signals::Interrupt);
    }

    #[test]
    fn pselect_conforms() {
        check(&PSELECT, NeverEarly::Holds, Signals::Interrupt);
    }

    #[test]
    fn poll_conforms_and_refuses_what_it_cannot_say() {
        check(&POLL, NeverEarly::Holds, Signals::Interrupt);
        let long = Target { remaining: Nanos::from_secs(86_400 * 25), deadline: Nanos::MAX };
        assert!(matches!(poll(long), WaitEnd::Failed(_)));
    }

    #[test]
    fn ppoll_conforms() {
        check(&PPOLL, NeverEarly::Holds, Signals::Interrupt);
    }

    #[test]
    fn epoll_wait_conforms() {
        check(&EPOLL_WAIT, NeverEarly::Holds, Signals::Interrupt);
    }

    #[test]
    fn epoll_pwait2_conforms() {
        check(&EPOLL_PWAIT2, NeverEarly::Holds, Signals::Interrupt);
    }
}
