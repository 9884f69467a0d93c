//! Signals that a thread blocks in order to wait for them with a call.

use std::cell::RefCell;
use std::marker::PhantomData;

use oversleep_record::Unavailable;

/// The real-time signal of `sigtimedwait`, counted from the first one that the C library leaves to programs.
pub(super) const FOR_SIGTIMEDWAIT: libc::c_int = 5;
/// The real-time signal of the POSIX timer.
pub(super) const FOR_TIMER_CREATE: libc::c_int = 6;

thread_local! {
    /// The signals that this thread blocks, with the number of holders and whether they were blocked before.
    static HELD: RefCell<Vec<Holding>> = const { RefCell::new(Vec::new()) };
}

struct Holding {
    signal: libc::c_int,
    holders: u32,
    was_blocked: bool,
}

/// A set of just that signal.
pub(super) fn only(signal: libc::c_int) -> libc::sigset_t {
    // SAFETY: an all-zero sigset_t is valid, and sigemptyset makes it a set in the library's terms.
    let mut set: libc::sigset_t = unsafe { std::mem::zeroed() };
    // SAFETY: `set` is valid and writable; the signal is in range (ours are below SIGRTMAX).
    unsafe {
        libc::sigemptyset(&mut set);
        libc::sigaddset(&mut set, signal);
    }
    set
}

/// Blocks or unblocks (`how`) one signal in the calling thread and says whether it was blocked.
pub(super) fn change(how: libc::c_int, signal: libc::c_int) -> Result<bool, Unavailable> {
    let set = only(signal);
    let mut before = only(signal);
    // SAFETY: both sets are valid. https://man7.org/linux/man-pages/man3/pthread_sigmask.3.html
    let error = unsafe { libc::pthread_sigmask(how, &set, &mut before) };
    if error != 0 {
        return Err(Unavailable::failed("pthread_sigmask", std::io::Error::from_raw_os_error(error)));
    }
    // SAFETY: `before` was filled by the call above.
    Ok(unsafe { libc::sigismember(&before, signal) } == 1)
}

/// Discards pending instances of `signal`, which the calling thread must have blocked.
pub(super) fn drain(signal: libc::c_int) {
    let set = only(signal);
    let at_once = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the set and the time are valid; a null place for the details is allowed. It ends: with a time of zero
    // the call never sleeps, and one-shot timers queue no more. https://man7.org/linux/man-pages/man2/sigtimedwait.2.html
    while unsafe { libc::sigtimedwait(&set, std::ptr::null_mut(), &at_once) } == signal {}
}

/// Keeps a real-time signal blocked in this thread. The last holder discards pending signals and restores the mask.
///
/// It counts its holders, so that two waits of one thread may be dropped in any order: the default action of these
/// signals ends the process.
pub(super) struct Blocked {
    signal: libc::c_int,
    /// A signal mask belongs to its thread.
    _thread: PhantomData<*const ()>,
}

impl Blocked {
    /// Blocks the `index`-th real-time signal the C library leaves to programs.
    pub(super) fn real_time(index: libc::c_int) -> Result<Blocked, Unavailable> {
        let signal = libc::SIGRTMIN() + index;
        HELD.with_borrow_mut(|held| {
            if let Some(holding) = held.iter_mut().find(|holding| holding.signal == signal) {
                holding.holders += 1;
            } else {
                let was_blocked = change(libc::SIG_BLOCK, signal)?;
                held.push(Holding { signal, holders: 1, was_blocked });
            }
            Ok(Blocked { signal, _thread: PhantomData })
        })
    }

    /// The signal's number.
    pub(super) fn signal(&self) -> libc::c_int {
        self.signal
    }
}

impl Drop for Blocked {
    fn drop(&mut self) {
        HELD.with_borrow_mut(|held| {
            let Some(index) = held.iter().position(|holding| holding.signal == self.signal) else { return };
            held[index].holders -= 1;
            if held[index].holders == 0 {
                let holding = held.swap_remove(index);
                drain(self.signal);
                if !holding.was_blocked {
                    // Can't fail: it worked when the signal was blocked.
                    let _ = change(libc::SIG_UNBLOCK, self.signal);
                }
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_blocked(signal: libc::c_int) -> bool {
        let was = change(libc::SIG_BLOCK, signal).unwrap();
        if !was {
            change(libc::SIG_UNBLOCK, signal).unwrap();
        }
        was
    }

    #[test]
    fn the_last_holder_restores_the_mask_and_takes_what_is_pending() {
        let first = Blocked::real_time(9).unwrap();
        let second = Blocked::real_time(9).unwrap();
        let signal = first.signal();
        drop(first);
        assert!(is_blocked(signal));
        // SAFETY: sends a blocked signal to this thread. https://man7.org/linux/man-pages/man3/raise.3.html
        assert_eq!(unsafe { libc::raise(signal) }, 0);
        drop(second);
        assert!(!is_blocked(signal));
    }

    #[test]
    fn a_signal_blocked_before_stays_blocked() {
        let signal = libc::SIGRTMIN() + 10;
        change(libc::SIG_BLOCK, signal).unwrap();
        drop(Blocked::real_time(10).unwrap());
        assert!(is_blocked(signal));
        change(libc::SIG_UNBLOCK, signal).unwrap();
    }
}
