//! Waits for descriptors, here with none to wait for.

use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use oversleep_record::Unavailable;
use oversleep_system::{Target, WaitEnd, WaitInfo, Waiter, waits};

use super::args;
use super::entry::{Stateless, proved, proved_at_once};
use super::reason::{ended_by_zero, errno, refused, too_long};
use crate::native::waits::calls;

calls! { waits::LINUX;
    SELECT = "select" => proved(Stateless(select)),
    PSELECT = "pselect" => proved(Stateless(pselect)),
    POLL = "poll" => proved_at_once(Stateless(poll)),
    PPOLL = "ppoll" => proved(Stateless(ppoll)),
    EPOLL_WAIT = "epoll-wait" => epoll(EPOLL_WAIT).map(EpollWait).and_then(proved_at_once),
    EPOLL_PWAIT2 = "epoll-pwait2" => epoll(EPOLL_PWAIT2).map(EpollPwait2).and_then(proved),
}

fn select(target: Target) -> WaitEnd {
    let mut span = args::timeval(SELECT, target.remaining);
    let none = std::ptr::null_mut();
    // SAFETY: no set is passed, and the timeout is valid and writable (Linux stores the rest in it).
    // https://man7.org/linux/man-pages/man2/select.2.html
    ended_by_zero(SELECT, unsafe { libc::select(0, none, none, none, &mut span) })
}

fn pselect(target: Target) -> WaitEnd {
    let span = args::timespec(PSELECT, target.remaining);
    let none = std::ptr::null_mut();
    // SAFETY: no set and no mask is passed, and the timeout is valid. https://man7.org/linux/man-pages/man2/pselect.2.html
    ended_by_zero(PSELECT, unsafe { libc::pselect(0, none, none, none, &span, std::ptr::null()) })
}

fn poll(target: Target) -> WaitEnd {
    let Some(millis) = args::millis(POLL, target.remaining) else { return too_long(POLL) };
    // SAFETY: no descriptor is passed. https://man7.org/linux/man-pages/man2/poll.2.html
    ended_by_zero(POLL, unsafe { libc::poll(std::ptr::null_mut(), 0, millis) })
}

fn ppoll(target: Target) -> WaitEnd {
    let span = args::timespec(PPOLL, target.remaining);
    // SAFETY: no descriptor and no mask is passed, and the timeout is valid.
    // https://man7.org/linux/man-pages/man2/ppoll.2.html
    ended_by_zero(PPOLL, unsafe { libc::ppoll(std::ptr::null_mut(), 0, &span, std::ptr::null()) })
}

/// An epoll instance without descriptors.
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

impl Waiter for EpollWait {
    fn wait(&mut self, target: Target) -> WaitEnd {
        let Some(millis) = args::millis(EPOLL_WAIT, target.remaining) else { return too_long(EPOLL_WAIT) };
        let mut event = libc::epoll_event { events: 0, u64: 0 };
        // SAFETY: there is room for the one event that is allowed.
        // https://man7.org/linux/man-pages/man2/epoll_wait.2.html
        let events = unsafe { libc::epoll_wait(self.0.as_raw_fd(), &mut event, 1, millis) };
        ended_by_zero(EPOLL_WAIT, events)
    }
}

struct EpollPwait2(OwnedFd);

impl Waiter for EpollPwait2 {
    fn wait(&mut self, target: Target) -> WaitEnd {
        let span = args::timespec(EPOLL_PWAIT2, target.remaining);
        let mut event = libc::epoll_event { events: 0, u64: 0 };
        // A raw call, because glibc wraps it only since 2.35 and the binary must start on older systems.
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
        ended_by_zero(EPOLL_PWAIT2, events as i32)
    }
}

#[cfg(test)]
mod tests {
    use oversleep_record::Nanos;

    use super::super::conformance::{NeverEarly, Signals, check};
    use super::*;

    #[test]
    fn select_conforms() {
        check(SELECT, NeverEarly::Holds, Signals::Interrupt);
    }

    #[test]
    fn pselect_conforms() {
        check(PSELECT, NeverEarly::Holds, Signals::Interrupt);
    }

    #[test]
    fn poll_conforms_and_refuses_what_it_cannot_say() {
        check(POLL, NeverEarly::Holds, Signals::Interrupt);
        let long = Target { remaining: Nanos::from_secs(86_400 * 25), deadline: Nanos::MAX };
        assert!(matches!(poll(long), WaitEnd::Failed(_)));
    }

    #[test]
    fn ppoll_conforms() {
        check(PPOLL, NeverEarly::Holds, Signals::Interrupt);
    }

    #[test]
    fn epoll_wait_conforms() {
        check(EPOLL_WAIT, NeverEarly::Holds, Signals::Interrupt);
    }

    #[test]
    fn epoll_pwait2_conforms() {
        check(EPOLL_PWAIT2, NeverEarly::Holds, Signals::Interrupt);
    }
}
