//! Waits for the events of a kernel queue: by its own timeout, and by a timer it watches.

use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use oversleep_record::{Nanos, Unavailable};
use oversleep_system::{Target, WaitEnd, WaitInfo, Waiter, waits};

use super::args;
use super::entry::proved;
use super::reason::{ended, ended_by_zero, errno};
use crate::macos::os;
use crate::native::waits::calls;

calls! { waits::MACOS;
    KEVENT = "kevent" => proved(Idle(queue()?)),
    KEVENT_TIMER = "kevent-timer" => Timer::open(KEVENT_TIMER, 0, None),
    KEVENT_TIMER_CRITICAL = "kevent-timer-critical" => Timer::open(KEVENT_TIMER_CRITICAL, libc::NOTE_CRITICAL, None),
    KEVENT_TIMER_LEEWAY = "kevent-timer-leeway" => Timer::open(KEVENT_TIMER_LEEWAY, libc::NOTE_LEEWAY, Some(10)),
}

/// A new queue that watches nothing.
pub(in crate::macos) fn queue() -> Result<OwnedFd, Unavailable> {
    // SAFETY: takes nothing. The descriptor isn't inherited by children: macOS closes queues across fork.
    let fd = unsafe { libc::kqueue() };
    if fd < 0 {
        return Err(os::failed("kqueue"));
    }
    // SAFETY: a descriptor just made, owned by nobody else.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

struct Idle(OwnedFd);

impl Waiter for Idle {
    fn wait(&mut self, target: Target) -> WaitEnd {
        let span = args::timespec(KEVENT, target.remaining);
        let mut event = blank();
        // SAFETY: no change is passed, there is room for the one event that is allowed, and the timeout is valid.
        let events =
            unsafe { libc::kevent(self.0.as_raw_fd(), std::ptr::null(), 0, &raw mut event, 1, &raw const span) };
        ended_by_zero(KEVENT, events)
    }
}

const fn blank() -> libc::kevent {
    libc::kevent { ident: 0, filter: 0, flags: 0, fflags: 0, data: 0, udata: std::ptr::null_mut() }
}

struct Timer {
    queue: OwnedFd,
    info: &'static WaitInfo,
    notes: u32,
    /// By what the span is divided to give the leeway.
    leeway_part: Option<i64>,
}

impl Timer {
    fn open(info: &'static WaitInfo, notes: u32, leeway_part: Option<i64>) -> Result<Box<dyn Waiter>, Unavailable> {
        proved(Timer { queue: queue()?, info, notes, leeway_part })
    }

    fn change(&self, flags: u16, span: Nanos) -> libc::kevent64_s {
        let leeway = self.leeway_part.map_or(0, |part| span.0 / part);
        libc::kevent64_s {
            ident: 1,
            filter: libc::EVFILT_TIMER,
            flags,
            fflags: libc::NOTE_NSECONDS | self.notes,
            data: span.0,
            udata: 0,
            ext: [0, leeway.max(0) as u64],
        }
    }
}

impl Waiter for Timer {
    fn wait(&mut self, target: Target) -> WaitEnd {
        if target.remaining <= Nanos::ZERO {
            return WaitEnd::TimedOut;
        }
        let arm = self.change(libc::EV_ADD | libc::EV_ONESHOT, args::nanos(self.info, target.remaining));
        let mut event = arm;
        // SAFETY: one change is passed, there is room for the one event, and a null timeout is forever.
        let events = unsafe {
            libc::kevent64(self.queue.as_raw_fd(), &raw const arm, 1, &raw mut event, 1, 0, std::ptr::null())
        };
        match events {
            1 if event.flags & libc::EV_ERROR == 0 => WaitEnd::TimedOut,
            // The kernel refused the change: the event carries the error number.
            1 => ended(self.info, i32::try_from(event.data).unwrap_or(libc::EINVAL), 0),
            _ => {
                let errno = errno();
                // A timer left running would end the next wait. Whether it has fired by now doesn't matter.
                let disarm = self.change(libc::EV_DELETE, Nanos::ZERO);
                let at_once = args::exact_timespec(Nanos::ZERO);
                // SAFETY: one change is passed and no event is asked for.
                unsafe {
                    libc::kevent64(
                        self.queue.as_raw_fd(),
                        &raw const disarm,
                        1,
                        std::ptr::null_mut(),
                        0,
                        0,
                        &raw const at_once,
                    )
                };
                ended(self.info, errno, 0)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::conformance::{NeverEarly, check};
    use super::*;

    #[test]
    fn queues_conform() {
        check(KEVENT, NeverEarly::Holds);
        check(KEVENT_TIMER, NeverEarly::Holds);
        check(KEVENT_TIMER_CRITICAL, NeverEarly::Holds);
        check(KEVENT_TIMER_LEEWAY, NeverEarly::Holds);
    }
}
