//! Timed waits for another thread, which never comes.

use std::cell::UnsafeCell;
use std::marker::PhantomPinned;
use std::mem::MaybeUninit;
use std::sync::atomic::AtomicU32;

use oversleep_record::Unavailable;
use oversleep_system::{Target, WaitEnd, WaitInfo, Waiter, waits};

use super::args;
use super::entry::proved;
use super::futex::{self, Until};
use super::reason::{ended, errno, refused};
use crate::native::waits::calls;

calls! { waits::LINUX;
    FUTEX = "futex" => proved(Futex(AtomicU32::new(0))),
    FUTEX_ABS = "futex-abs" => proved(FutexAbs(AtomicU32::new(0))),
    COND_TIMEDWAIT = "cond-timedwait" => Condition::open().and_then(proved),
    SEM_TIMEDWAIT = "sem-timedwait" => Semaphore::open().and_then(proved),
}

struct Futex(AtomicU32);

impl Waiter for Futex {
    fn wait(&mut self, target: Target) -> WaitEnd {
        let span = args::timespec(FUTEX, target.remaining);
        match futex::wait(&self.0, 0, Until::Span(&span)) {
            Ok(()) => WaitEnd::Interrupted,
            Err(errno) => ended(FUTEX, errno, libc::ETIMEDOUT),
        }
    }
}

struct FutexAbs(AtomicU32);

impl Waiter for FutexAbs {
    fn wait(&mut self, target: Target) -> WaitEnd {
        let deadline = args::timespec(FUTEX_ABS, target.deadline);
        match futex::wait(&self.0, 0, Until::Deadline(&deadline)) {
            Ok(()) => WaitEnd::Interrupted,
            Err(errno) => ended(FUTEX_ABS, errno, libc::ETIMEDOUT),
        }
    }
}

/// A mutex and a condition that must not move once made.
struct CondParts {
    mutex: UnsafeCell<libc::pthread_mutex_t>,
    cond: UnsafeCell<MaybeUninit<libc::pthread_cond_t>>,
    _pinned: PhantomPinned,
}

struct Condition(Box<CondParts>);

impl Condition {
    fn open() -> Result<Condition, Unavailable> {
        let parts = Box::new(CondParts {
            mutex: UnsafeCell::new(libc::PTHREAD_MUTEX_INITIALIZER),
            cond: UnsafeCell::new(MaybeUninit::uninit()),
            _pinned: PhantomPinned,
        });
        let mut attributes = MaybeUninit::<libc::pthread_condattr_t>::uninit();
        let attributes = attributes.as_mut_ptr();
        let checked = |call: &str, error| match error {
            0 => Ok(()),
            errno => Err(refused(COND_TIMEDWAIT, call, errno)),
        };
        // SAFETY: the place for the attributes is valid. https://man7.org/linux/man-pages/man3/pthread_condattr_init.3p.html
        checked("pthread_condattr_init", unsafe { libc::pthread_condattr_init(attributes) })?;
        // SAFETY: the attributes were just initialised; the condition's place is at its final address and not yet in
        // use; the attributes are destroyed once, after their last use.
        // https://man7.org/linux/man-pages/man3/pthread_condattr_setclock.3p.html
        let made = unsafe {
            let made = checked(
                "pthread_condattr_setclock",
                libc::pthread_condattr_setclock(attributes, libc::CLOCK_MONOTONIC),
            )
            .and_then(|()| {
                checked("pthread_cond_init", libc::pthread_cond_init((*parts.cond.get()).as_mut_ptr(), attributes))
            });
            libc::pthread_condattr_destroy(attributes);
            made
        };
        made.map(|()| Condition(parts))
    }
}

impl Waiter for Condition {
    fn wait(&mut self, target: Target) -> WaitEnd {
        let deadline = args::timespec(COND_TIMEDWAIT, target.deadline);
        // SAFETY: both objects are initialised, at their final address, and used by this thread alone; the mutex is
        // locked by it around the wait. https://man7.org/linux/man-pages/man3/pthread_cond_timedwait.3p.html
        let error = unsafe {
            let mutex = self.0.mutex.get();
            libc::pthread_mutex_lock(mutex);
            let error = libc::pthread_cond_timedwait((*self.0.cond.get()).as_mut_ptr(), mutex, &deadline);
            libc::pthread_mutex_unlock(mutex);
            error
        };
        match error {
            0 => WaitEnd::Interrupted,
            errno => ended(COND_TIMEDWAIT, errno, libc::ETIMEDOUT),
        }
    }
}

impl Drop for Condition {
    fn drop(&mut self) {
        // SAFETY: both are initialised, nobody waits on or holds them, and they are not used again.
        unsafe {
            libc::pthread_cond_destroy((*self.0.cond.get()).as_mut_ptr());
            libc::pthread_mutex_destroy(self.0.mutex.get());
        }
    }
}

struct Semaphore(Box<UnsafeCell<MaybeUninit<libc::sem_t>>>);

impl Semaphore {
    fn open() -> Result<Semaphore, Unavailable> {
        let semaphore = Box::new(UnsafeCell::new(MaybeUninit::uninit()));
        // SAFETY: the semaphore's place is valid and at its final address. https://man7.org/linux/man-pages/man3/sem_init.3.html
        if unsafe { libc::sem_init((*semaphore.get()).as_mut_ptr(), 0, 0) } != 0 {
            return Err(refused(SEM_TIMEDWAIT, "sem_init", errno()));
        }
        Ok(Semaphore(semaphore))
    }
}

impl Waiter for Semaphore {
    fn wait(&mut self, target: Target) -> WaitEnd {
        let deadline = args::timespec(SEM_TIMEDWAIT, args::realtime_deadline(target.deadline));
        // SAFETY: the semaphore is initialised and at its final address; the time is valid.
        // https://man7.org/linux/man-pages/man3/sem_timedwait.3.html
        match unsafe { libc::sem_timedwait((*self.0.get()).as_mut_ptr(), &deadline) } {
            0 => WaitEnd::Interrupted,
            _ => ended(SEM_TIMEDWAIT, errno(), libc::ETIMEDOUT),
        }
    }
}

impl Drop for Semaphore {
    fn drop(&mut self) {
        // SAFETY: initialised, nobody waits on it, and it is not used again.
        unsafe { libc::sem_destroy((*self.0.get()).as_mut_ptr()) };
    }
}

#[cfg(test)]
mod tests {
    use super::super::conformance::{NeverEarly, Signals, check};
    use super::*;

    #[test]
    fn futex_conforms() {
        check(FUTEX, NeverEarly::Holds, Signals::Interrupt);
    }

    #[test]
    fn futex_abs_conforms() {
        check(FUTEX_ABS, NeverEarly::Holds, Signals::Interrupt);
    }

    #[test]
    fn cond_timedwait_conforms() {
        check(COND_TIMEDWAIT, NeverEarly::Holds, Signals::AreRetried);
    }

    #[test]
    fn sem_timedwait_conforms() {
        check(SEM_TIMEDWAIT, NeverEarly::NotPromised, Signals::Interrupt);
    }
}
