//! Additional requirements for hand-offs on Linux: they continue to wait after signals.

use std::sync::Arc;
use std::sync::mpsc;
use std::time::Duration;

use oversleep_system::Handoff;

use crate::handoff_conformance;
use crate::native::paired::call_of;

/// Checks a kind of hand-off.
pub(super) fn check(name: &str) {
    let open = call_of(super::CALLS, name).expect("paired");
    handoff_conformance::check(open);
    signals_and_stray_notices_do_not_end_a_wait(&open().unwrap());
}

fn signals_and_stray_notices_do_not_end_a_wait(handoff: &Arc<dyn Handoff>) {
    let (started, wait_started) = mpsc::channel();
    let waiter = {
        let handoff = Arc::clone(handoff);
        std::thread::spawn(move || {
            // SAFETY: takes nothing.
            started.send(unsafe { libc::pthread_self() } as usize).unwrap();
            handoff.wait();
        })
    };
    let thread = wait_started.recv().unwrap() as libc::pthread_t;
    let signal = harmless_signal();
    for _ in 0..10 {
        // SAFETY: the thread is not joined yet, so its number is valid.
        assert_eq!(unsafe { libc::pthread_kill(thread, signal) }, 0);
        waiter.thread().unpark();
        std::thread::sleep(Duration::from_micros(200));
    }
    assert!(!waiter.is_finished());
    handoff.post();
    waiter.join().unwrap();
}

/// A signal whose handler does nothing and does not restart calls.
fn harmless_signal() -> libc::c_int {
    extern "C" fn ignore(_signal: libc::c_int) {}
    let signal = libc::SIGRTMIN() + 13;
    // SAFETY: an all-zero sigaction is valid, and a handler that does nothing is async-signal-safe.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = ignore as extern "C" fn(libc::c_int) as libc::sighandler_t;
        assert_eq!(libc::sigaction(signal, &action, std::ptr::null_mut()), 0);
    }
    signal
}
