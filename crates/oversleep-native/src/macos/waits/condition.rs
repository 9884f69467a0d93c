//! Timed waits for a condition, which nobody signals.

use std::cell::UnsafeCell;
use std::marker::PhantomPinned;

use oversleep_system::{Target, WaitEnd, WaitInfo, Waiter, waits};

use super::args;
use super::entry::proved;
use super::reason::ended;
use crate::native::waits::calls;

calls! { waits::MACOS;
    COND_TIMEDWAIT_RELATIVE = "cond-timedwait-relative" => proved(Condition::new(relative)),
    COND_TIMEDWAIT = "cond-timedwait" => proved(Condition::new(until)),
}

type TimedWait = fn(*mut libc::pthread_cond_t, *mut libc::pthread_mutex_t, Target) -> WaitEnd;

fn relative(cond: *mut libc::pthread_cond_t, mutex: *mut libc::pthread_mutex_t, target: Target) -> WaitEnd {
    let span = args::timespec(COND_TIMEDWAIT_RELATIVE, target.remaining);
    // SAFETY: both objects are initialised and at their final address; the mutex is locked by this thread.
    let error = unsafe { libc::pthread_cond_timedwait_relative_np(cond, mutex, &raw const span) };
    ended_or_woken(COND_TIMEDWAIT_RELATIVE, error)
}

fn until(cond: *mut libc::pthread_cond_t, mutex: *mut libc::pthread_mutex_t, target: Target) -> WaitEnd {
    let deadline = args::timespec(COND_TIMEDWAIT, args::realtime_deadline(target.deadline));
    // SAFETY: as above.
    let error = unsafe { libc::pthread_cond_timedwait(cond, mutex, &raw const deadline) };
    ended_or_woken(COND_TIMEDWAIT, error)
}

fn ended_or_woken(info: &'static WaitInfo, error: i32) -> WaitEnd {
    if error == 0 { WaitEnd::Interrupted } else { ended(info, error, libc::ETIMEDOUT) }
}

/// A mutex and a condition that must not move once used.
struct Parts {
    mutex: UnsafeCell<libc::pthread_mutex_t>,
    cond: UnsafeCell<libc::pthread_cond_t>,
    _pinned: PhantomPinned,
}

struct Condition {
    parts: Box<Parts>,
    wait: TimedWait,
}

impl Condition {
    fn new(wait: TimedWait) -> Condition {
        let parts = Parts {
            mutex: UnsafeCell::new(libc::PTHREAD_MUTEX_INITIALIZER),
            cond: UnsafeCell::new(libc::PTHREAD_COND_INITIALIZER),
            _pinned: PhantomPinned,
        };
        Condition { parts: Box::new(parts), wait }
    }
}

impl Waiter for Condition {
    fn wait(&mut self, target: Target) -> WaitEnd {
        let (cond, mutex) = (self.parts.cond.get(), self.parts.mutex.get());
        // Some versions of the library take a span of zero for a wait that never ends.
        if target.remaining.0 <= 0 {
            return WaitEnd::TimedOut;
        }
        // SAFETY: initialised, at its final address, and used by this thread alone.
        unsafe { libc::pthread_mutex_lock(mutex) };
        let end = (self.wait)(cond, mutex, target);
        // SAFETY: locked by this thread above.
        unsafe { libc::pthread_mutex_unlock(mutex) };
        end
    }
}

impl Drop for Condition {
    fn drop(&mut self) {
        // SAFETY: both are initialised, nobody waits on or holds them, and they are not used again.
        unsafe {
            libc::pthread_cond_destroy(self.parts.cond.get());
            libc::pthread_mutex_destroy(self.parts.mutex.get());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::conformance::{NeverEarly, check};
    use super::*;

    #[test]
    fn conditions_conform() {
        check(COND_TIMEDWAIT_RELATIVE, NeverEarly::Holds);
        check(COND_TIMEDWAIT, NeverEarly::NotPromised);
    }
}
