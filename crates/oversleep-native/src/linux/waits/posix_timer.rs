//! A POSIX timer that signals its own thread.

use oversleep_record::{Nanos, Unavailable};
use oversleep_system::{Target, WaitEnd, WaitInfo, Waiter, waits};

use super::args;
use super::entry::proved;
use super::reason::{ended, errno, refused};
use super::signals::{self, Blocked};
use crate::native::waits::calls;

calls! { waits::LINUX;
    TIMER_CREATE = "timer-create" => PosixTimer::open().and_then(proved),
}

struct PosixTimer {
    timer: libc::timer_t,
    set: libc::sigset_t,
    /// Takes a signal that is still pending when it is released, after the timer is deleted.
    blocked: Blocked,
}

impl PosixTimer {
    fn open() -> Result<PosixTimer, Unavailable> {
        let blocked = Blocked::real_time(signals::FOR_TIMER_CREATE)?;
        // SAFETY: an all-zero sigevent is valid (numbers and a null pointer).
        let mut notice: libc::sigevent = unsafe { std::mem::zeroed() };
        notice.sigev_notify = libc::SIGEV_THREAD_ID;
        notice.sigev_signo = blocked.signal();
        // SAFETY: takes nothing, never fails. https://man7.org/linux/man-pages/man2/gettid.2.html
        notice.sigev_notify_thread_id = unsafe { libc::syscall(libc::SYS_gettid) } as libc::pid_t;
        let mut timer: libc::timer_t = std::ptr::null_mut();
        // SAFETY: the notice is valid and the place for the timer writable.
        // https://man7.org/linux/man-pages/man2/timer_create.2.html
        if unsafe { libc::timer_create(libc::CLOCK_MONOTONIC, &mut notice, &mut timer) } != 0 {
            return Err(refused(TIMER_CREATE, "timer_create", errno()));
        }
        Ok(PosixTimer { timer, set: signals::only(blocked.signal()), blocked })
    }

    /// Arms it for that deadline; zero disarms.
    fn arm(&self, it_value: libc::timespec) -> Result<(), i32> {
        let once = libc::itimerspec { it_interval: args::exact_timespec(Nanos::ZERO), it_value };
        // SAFETY: the timer exists until drop, the setting is valid, a null place for the old one is allowed.
        // https://man7.org/linux/man-pages/man2/timer_settime.2.html
        match unsafe { libc::timer_settime(self.timer, libc::TIMER_ABSTIME, &once, std::ptr::null_mut()) } {
            0 => Ok(()),
            _ => Err(errno()),
        }
    }
}

impl Waiter for PosixTimer {
    fn wait(&mut self, target: Target) -> WaitEnd {
        if target.deadline <= Nanos::ZERO || target.remaining <= Nanos::ZERO {
            return WaitEnd::TimedOut;
        }
        if let Err(errno) = self.arm(args::timespec(TIMER_CREATE, target.deadline)) {
            return WaitEnd::Failed(refused(TIMER_CREATE, "timer_settime", errno));
        }
        // SAFETY: the set is valid; a null place for the details is allowed. It ends: the timer is armed, its signal
        // goes to this thread only, and a timer's signal is allocated with the timer, so it can't be lost.
        // https://man7.org/linux/man-pages/man2/sigwaitinfo.2.html
        if unsafe { libc::sigwaitinfo(&self.set, std::ptr::null_mut()) } > 0 {
            return WaitEnd::TimedOut;
        }
        let errno = errno();
        // A running timer or a pending signal would end the next wait.
        let _ = self.arm(args::exact_timespec(Nanos::ZERO));
        signals::drain(self.blocked.signal());
        ended(TIMER_CREATE, errno, 0)
    }
}

impl Drop for PosixTimer {
    fn drop(&mut self) {
        // SAFETY: made in `open`, deleted once.  https://man7.org/linux/man-pages/man2/timer_delete.2.html
        unsafe { libc::timer_delete(self.timer) };
    }
}

#[cfg(test)]
mod tests {
    use super::super::conformance::{NeverEarly, Signals, check, interrupt};
    use super::*;

    #[test]
    fn timer_create_conforms() {
        check(TIMER_CREATE, NeverEarly::Holds, Signals::Interrupt);
    }

    #[test]
    fn an_interrupted_wait_leaves_the_timer_disarmed() {
        let mut waiter = match PosixTimer::open() {
            Ok(waiter) => waiter,
            Err(why) => return oversleep_testing::skip(why),
        };
        interrupt(&mut waiter);
        // SAFETY: an all-zero itimerspec is valid; the timer is open and the place writable.
        let left = unsafe {
            let mut left: libc::itimerspec = std::mem::zeroed();
            assert_eq!(libc::timer_gettime(waiter.timer, &mut left), 0);
            left.it_value
        };
        assert_eq!((left.tv_sec, left.tv_nsec), (0, 0));
    }
}
