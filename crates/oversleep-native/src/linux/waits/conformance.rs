//! Additional requirements for waits on Linux: signals end them as stated, and they leave neither descriptors nor a
//! changed signal mask behind.

use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use oversleep_record::Nanos;
use oversleep_system::{Target, WaitEnd, WaitInfo, Waiter};

use super::args::monotonic_now;
use crate::native::paired::call_of;
use crate::native::wait_conformance::{self, on_a_thread};
use crate::native::waits::Open;

pub(super) use crate::native::wait_conformance::NeverEarly;

/// The effect of signals.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Signals {
    /// They end the wait as interrupted.
    Interrupt,
    /// The library hides them and waits on.
    AreRetried,
}

/// Checks the wait of `info`, in a thread with a descriptor table and a signal mask of its own.
pub(super) fn check(info: &'static WaitInfo, never_early: NeverEarly, signals: Signals) {
    let open = call_of(super::CALLS, info.name).expect("paired");
    let body = move || {
        // Other tests open and close files at the same time: a table of its own makes the count exact.
        // SAFETY: takes flags only. https://man7.org/linux/man-pages/man2/unshare.2.html
        let alone = unsafe { libc::unshare(libc::CLONE_FILES) } == 0;
        let (descriptors, mask) = (alone.then(open_descriptors), blocked_signals());
        match open() {
            Ok(waiter) => exercise(info, open, waiter, never_early, signals),
            // A sandbox may forbid the call; the reason is then the wait's answer.
            Err(reason) => oversleep_testing::skip(format!("{}: {reason}", info.name)),
        }
        assert_eq!(alone.then(open_descriptors), descriptors, "{} leaves a descriptor open", info.name);
        assert_eq!(blocked_signals(), mask, "{} changes the signal mask", info.name);
    };
    on_a_thread(body);
}

fn exercise(
    info: &'static WaitInfo,
    open: Open,
    mut waiter: Box<dyn Waiter>,
    never_early: NeverEarly,
    signals: Signals,
) {
    let waiter = waiter.as_mut();
    wait_conformance::exercise(info, open, waiter, never_early, monotonic_now);
    let wait_out = |waiter: &mut dyn Waiter, remaining| {
        wait_conformance::wait_out(info, waiter, remaining, never_early, monotonic_now);
    };
    match signals {
        Signals::Interrupt => interrupt(waiter),
        Signals::AreRetried => under_signals(|| wait_out(waiter, Nanos::from_millis(3))),
    }
    // Nothing of the interrupted wait may end this one.
    wait_out(waiter, Nanos::from_micros(100));
    // A waiter dropped after an interrupted wait leaves nothing behind either.
    if signals == Signals::Interrupt {
        interrupt(waiter);
    }
}

/// Interrupts a wait of an hour by a signal.
pub(super) fn interrupt(waiter: &mut dyn Waiter) {
    under_signals(|| assert_eq!(waiter.wait(from_now(Nanos::from_secs(3_600))), WaitEnd::Interrupted));
}

fn from_now(remaining: Nanos) -> Target {
    Target { remaining, deadline: monotonic_now() + remaining }
}

/// Runs `body` while a signal, whose handler does nothing, reaches this thread every half millisecond.
fn under_signals(body: impl FnOnce()) {
    extern "C" fn ignore(_signal: libc::c_int) {}
    static HANDLER: Once = Once::new();
    let signal = libc::SIGRTMIN() + 12;
    HANDLER.call_once(|| {
        // SAFETY: an all-zero sigaction is valid, and a handler that does nothing is async-signal-safe.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = ignore as extern "C" fn(libc::c_int) as libc::sighandler_t;
            assert_eq!(libc::sigaction(signal, &action, std::ptr::null_mut()), 0);
        }
    });
    // SAFETY: takes nothing.
    let thread = unsafe { libc::pthread_self() };
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::Acquire) {
                // SAFETY: the thread outlives this scope. https://man7.org/linux/man-pages/man3/pthread_kill.3.html
                assert_eq!(unsafe { libc::pthread_kill(thread, signal) }, 0);
                std::thread::sleep(Duration::from_micros(500));
            }
        });
        /// Stops the signals, also when the body panics.
        struct End<'a>(&'a AtomicBool);
        impl Drop for End<'_> {
            fn drop(&mut self) {
                self.0.store(true, Ordering::Release);
            }
        }
        let _end = End(&over);
        body();
    });
}

fn open_descriptors() -> usize {
    std::fs::read_dir("/proc/thread-self/fd").unwrap().count()
}

fn blocked_signals() -> Vec<libc::c_int> {
    // SAFETY: an all-zero sigset_t is valid; the call only asks and fills it.
    unsafe {
        let mut set: libc::sigset_t = std::mem::zeroed();
        assert_eq!(libc::pthread_sigmask(libc::SIG_BLOCK, std::ptr::null(), &mut set), 0);
        (1..=64).filter(|&signal| libc::sigismember(&set, signal) == 1).collect()
    }
}
