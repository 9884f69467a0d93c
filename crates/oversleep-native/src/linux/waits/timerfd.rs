//! A timer read as a file.

use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use oversleep_record::{Nanos, Unavailable};
use oversleep_system::{Target, WaitEnd, WaitInfo, Waiter, waits};

use super::args;
use super::entry::proved;
use super::reason::{ended, errno, refused};
use crate::native::waits::calls;

calls! { waits::LINUX;
    TIMERFD = "timerfd" => TimerFd::open().and_then(proved),
}

struct TimerFd(OwnedFd);

impl TimerFd {
    fn open() -> Result<TimerFd, Unavailable> {
        // SAFETY: takes numbers only. https://man7.org/linux/man-pages/man2/timerfd_create.2.html
        let fd = unsafe { libc::timerfd_create(libc::CLOCK_MONOTONIC, libc::TFD_CLOEXEC) };
        if fd < 0 {
            return Err(refused(TIMERFD, "timerfd_create", errno()));
        }
        // SAFETY: a descriptor just made, owned by nobody else.
        Ok(TimerFd(unsafe { OwnedFd::from_raw_fd(fd) }))
    }

    /// Arms the timer for that deadline; zero disarms it.
    fn arm(&self, it_value: libc::timespec) -> Result<(), i32> {
        let once = libc::itimerspec { it_interval: args::exact_timespec(Nanos::ZERO), it_value };
        // SAFETY: the setting is valid; a null place for the old one is allowed.
        // https://man7.org/linux/man-pages/man2/timerfd_settime.2.html
        let returned =
            unsafe { libc::timerfd_settime(self.0.as_raw_fd(), libc::TFD_TIMER_ABSTIME, &once, std::ptr::null_mut()) };
        if returned == 0 { Ok(()) } else { Err(errno()) }
    }
}

impl Waiter for TimerFd {
    fn wait(&mut self, target: Target) -> WaitEnd {
        if target.deadline <= Nanos::ZERO || target.remaining <= Nanos::ZERO {
            return WaitEnd::TimedOut;
        }
        if let Err(errno) = self.arm(args::timespec(TIMERFD, target.deadline)) {
            return WaitEnd::Failed(refused(TIMERFD, "timerfd_settime", errno));
        }
        let mut expirations = 0_u64;
        // SAFETY: there is room for the eight bytes. https://man7.org/linux/man-pages/man2/read.2.html
        let read = unsafe { libc::read(self.0.as_raw_fd(), (&raw mut expirations).cast(), size_of::<u64>()) };
        if read > 0 {
            return WaitEnd::TimedOut;
        }
        let errno = errno();
        // Its interrupt would disturb what comes next. Disarming also takes back an expiry that nobody has read.
        let _ = self.arm(args::exact_timespec(Nanos::ZERO));
        ended(TIMERFD, errno, 0)
    }
}

#[cfg(test)]
mod tests {
    use super::super::conformance::{NeverEarly, Signals, check, interrupt};
    use super::*;

    #[test]
    fn timerfd_conforms() {
        check(TIMERFD, NeverEarly::Holds, Signals::Interrupt);
    }

    #[test]
    fn an_interrupted_wait_leaves_the_timer_disarmed() {
        let mut waiter = match TimerFd::open() {
            Ok(waiter) => waiter,
            Err(why) => return oversleep_testing::skip(why),
        };
        interrupt(&mut waiter);
        // SAFETY: an all-zero itimerspec is valid; the timer is open and the place writable.
        let left = unsafe {
            let mut left: libc::itimerspec = std::mem::zeroed();
            assert_eq!(libc::timerfd_gettime(waiter.0.as_raw_fd(), &mut left), 0);
            left.it_value
        };
        assert_eq!((left.tv_sec, left.tv_nsec), (0, 0));
    }
}
