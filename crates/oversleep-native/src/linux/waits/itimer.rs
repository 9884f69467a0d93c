//! The process's own timer, `ITIMER_REAL`, and its SIGALRM.
//!
//! The kernel delivers the process's signal to any thread that doesn't block it, preferably the main thread. So the
//! waiting thread can't wait for the signal itself. A handler, in whatever thread, sets a word and wakes the waiting
//! thread from a futex. If every other thread blocks SIGALRM, the handler runs in the waiting thread, as with `pause`.
//! Otherwise another thread relays it, and the relay is part of the measured wait, as it is for any program that uses
//! this call.
//!
//! The wait never hangs: the futex times out a second after the timer, in case other code in the process replaces the
//! handler.

use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use oversleep_record::{Nanos, Unavailable};
use oversleep_system::{Target, WaitEnd, WaitInfo, Waiter, waits};

use super::args;
use super::entry::proved;
use super::futex::{self, Until};
use super::reason::{errno, refused};
use super::signals;
use crate::native::waits::calls;

calls! { waits::LINUX;
    SETITIMER = "setitimer" => IntervalTimer::open().and_then(proved),
}

/// How long after its timer the wait gives up on the signal.
const GUARD: Nanos = Nanos::from_secs(1);

/// Whether a thread of this process owns the timer.
static TAKEN: AtomicBool = AtomicBool::new(false);

/// 0 while the signal is outstanding, 1 once the handler ran.
static NOTICE: AtomicU32 = AtomicU32::new(0);

/// Runs in any thread at any point, so it does little: it stores a word, makes one system call and restores the error
/// number of the interrupted code.
extern "C" fn on_alarm(_signal: libc::c_int) {
    // SAFETY: the address of this thread's error number is always valid. https://man7.org/linux/man-pages/man3/errno.3.html
    let errno = unsafe { libc::__errno_location() };
    // SAFETY: as above.
    let before = unsafe { *errno };
    NOTICE.store(1, Ordering::Release);
    futex::wake_one(&NOTICE);
    // SAFETY: as above.
    unsafe { *errno = before };
}

/// The one holder of the process's timer.
struct Taken;

impl Taken {
    fn take() -> Result<Taken, Unavailable> {
        if TAKEN.swap(true, Ordering::AcqRel) {
            return Err(Unavailable::failed("setitimer", "a process has one such timer, and another thread uses it"));
        }
        Ok(Taken)
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        TAKEN.store(false, Ordering::Release);
    }
}

struct IntervalTimer {
    handler_before: libc::sigaction,
    was_blocked: bool,
    /// Whether a signal was sent that has not reached the handler.
    outstanding: bool,
    _taken: Taken,
}

/// Arms the timer once for `after`, or disarms it with a zero; returns what was left on it.
fn set(after: libc::timeval) -> Result<libc::timeval, i32> {
    let zero = libc::timeval { tv_sec: 0, tv_usec: 0 };
    let once = libc::itimerval { it_interval: zero, it_value: after };
    let mut before = libc::itimerval { it_interval: zero, it_value: zero };
    // SAFETY: both settings are valid. https://man7.org/linux/man-pages/man2/setitimer.2.html
    match unsafe { libc::setitimer(libc::ITIMER_REAL, &once, &mut before) } {
        0 => Ok(before.it_value),
        _ => Err(errno()),
    }
}

/// Whether other code in the process uses the timer.
fn is_running() -> Result<bool, i32> {
    let mut now = MaybeUninit::<libc::itimerval>::uninit();
    // SAFETY: the place is writable. https://man7.org/linux/man-pages/man2/getitimer.2.html
    if unsafe { libc::getitimer(libc::ITIMER_REAL, now.as_mut_ptr()) } != 0 {
        return Err(errno());
    }
    // SAFETY: the call succeeded and filled it.
    let now = unsafe { now.assume_init() };
    Ok(now.it_value.tv_sec != 0 || now.it_value.tv_usec != 0)
}

impl IntervalTimer {
    fn open() -> Result<IntervalTimer, Unavailable> {
        let taken = Taken::take()?;
        match is_running() {
            Ok(false) => {}
            Ok(true) => return Err(Unavailable::failed("setitimer", "the process's timer is already in use")),
            Err(errno) => return Err(refused(SETITIMER, "getitimer", errno)),
        }
        // SAFETY: an all-zero sigaction is valid (numbers, a null handler, an empty mask).
        let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
        action.sa_sigaction = on_alarm as extern "C" fn(libc::c_int) as libc::sighandler_t;
        // Other threads' calls go on where the system can restart them.
        action.sa_flags = libc::SA_RESTART;
        let mut before = MaybeUninit::<libc::sigaction>::uninit();
        // SAFETY: the action is valid and its handler async-signal-safe; the place for the old one is writable.
        // https://man7.org/linux/man-pages/man2/sigaction.2.html
        if unsafe { libc::sigaction(libc::SIGALRM, &action, before.as_mut_ptr()) } != 0 {
            return Err(refused(SETITIMER, "sigaction(SIGALRM)", errno()));
        }
        // SAFETY: the call succeeded and filled it.
        let handler_before = unsafe { before.assume_init() };
        let mut timer = IntervalTimer { handler_before, was_blocked: false, outstanding: false, _taken: taken };
        // At least one thread must be able to receive the signal.
        timer.was_blocked = signals::change(libc::SIG_UNBLOCK, libc::SIGALRM)?;
        Ok(timer)
    }

    /// Sleeps until the handler has run (`Ok`), or until another signal or the guard ends the sleep.
    fn sleep(&self, longest: Nanos) -> Result<(), i32> {
        let guard = args::exact_timespec(longest);
        let slept = futex::wait(&NOTICE, 0, Until::Span(&guard));
        if NOTICE.load(Ordering::Acquire) == 1 { Ok(()) } else { slept.and(Err(libc::EINTR)) }
    }

    /// Stops the timer and waits for a signal that was already sent, so that it reaches neither the next wait nor the
    /// former handler, whose default ends the process.
    fn disarm(&mut self) {
        if let Ok(left) = set(libc::timeval { tv_sec: 0, tv_usec: 0 }) {
            // A timer with time left has not fired.
            if left.tv_sec != 0 || left.tv_usec != 0 {
                self.outstanding = false;
            }
        }
        let give_up = args::monotonic_now() + GUARD;
        while self.outstanding && args::monotonic_now() < give_up {
            self.outstanding = self.sleep(GUARD).is_err();
        }
    }
}

impl Waiter for IntervalTimer {
    fn wait(&mut self, target: Target) -> WaitEnd {
        if target.remaining <= Nanos::ZERO {
            return WaitEnd::TimedOut;
        }
        NOTICE.store(0, Ordering::Release);
        if let Err(errno) = set(args::timeval(SETITIMER, target.remaining)) {
            return WaitEnd::Failed(refused(SETITIMER, "setitimer", errno));
        }
        self.outstanding = true;
        match self.sleep(target.remaining + GUARD) {
            Ok(()) => {
                self.outstanding = false;
                WaitEnd::TimedOut
            }
            Err(errno) => {
                self.disarm();
                match errno {
                    libc::EINTR => WaitEnd::Interrupted,
                    libc::ETIMEDOUT => {
                        WaitEnd::Failed(Unavailable::failed("setitimer", "SIGALRM did not arrive; is it blocked?"))
                    }
                    errno => WaitEnd::Failed(refused(SETITIMER, "futex", errno)),
                }
            }
        }
    }
}

impl Drop for IntervalTimer {
    fn drop(&mut self) {
        self.disarm();
        // A signal that is still on its way must find our handler.
        if !self.outstanding {
            // SAFETY: puts back what sigaction gave. https://man7.org/linux/man-pages/man2/sigaction.2.html
            unsafe { libc::sigaction(libc::SIGALRM, &self.handler_before, std::ptr::null_mut()) };
        }
        if self.was_blocked {
            // Can't fail: it worked when the signal was unblocked.
            let _ = signals::change(libc::SIG_BLOCK, libc::SIGALRM);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::conformance::{NeverEarly, Signals, check};
    use super::*;

    fn handler() -> libc::sighandler_t {
        let mut action = MaybeUninit::<libc::sigaction>::uninit();
        // SAFETY: only asks; the place is writable, and filled when the call succeeds.
        unsafe {
            assert_eq!(libc::sigaction(libc::SIGALRM, std::ptr::null(), action.as_mut_ptr()), 0);
            action.assume_init().sa_sigaction
        }
    }

    // One test, because the process has one such timer.
    #[test]
    fn setitimer_conforms_is_exclusive_and_puts_the_handler_back() {
        let before = handler();
        check(SETITIMER, NeverEarly::Holds, Signals::Interrupt);
        assert_eq!(handler(), before);

        let timer = IntervalTimer::open().unwrap();
        assert_ne!(handler(), before);
        assert!(IntervalTimer::open().is_err());
        drop(timer);
        assert_eq!(handler(), before);

        // A panic in the middle of a wait drops it while the timer runs.
        let mut timer = IntervalTimer::open().unwrap();
        NOTICE.store(0, Ordering::Release);
        set(libc::timeval { tv_sec: 0, tv_usec: 1 }).unwrap();
        timer.outstanding = true;
        drop(timer);
        assert_eq!((handler(), is_running()), (before, Ok(false)));

        // A timer of other code is left alone.
        set(libc::timeval { tv_sec: 1_000_000, tv_usec: 0 }).unwrap();
        assert!(IntervalTimer::open().is_err());
        assert!(set(libc::timeval { tv_sec: 0, tv_usec: 0 }).unwrap().tv_sec > 0);
    }
}
