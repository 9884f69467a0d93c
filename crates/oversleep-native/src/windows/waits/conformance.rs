//! What every wait must do, whatever it is: the test beneath each calls [`check`].
//!
//! Nothing here judges how late a wait is. Its call is given what its description says. It ends by its timer, early by
//! no more than the tick by which Windows 7 may end one early. It returns where there is nothing to wait for, and works
//! again after that and beside another one.

use std::sync::mpsc;
use std::time::Duration;

use oversleep_record::Nanos;

use crate::native::given::tests as given;
use crate::native::paired::call_of;
use crate::native::waits::Open;
use crate::windows::{expected, os};
use oversleep_system::{Target, WaitEnd, WaitInfo, Waiter};

/// Checks the wait of `info` in a thread of its own, which must end.
pub(super) fn check(info: &'static WaitInfo) {
    let open = call_of(super::CALLS, info.name).expect("paired");
    let (done, is_done) = mpsc::channel();
    let thread = std::thread::spawn(move || {
        match open() {
            Ok(waiter) => exercise(info, open, waiter),
            Err(reason) => expected::may_lack(info.name, &reason),
        }
        // The receiver is only gone when the limit has passed.
        let _ = done.send(());
    });
    if is_done.recv_timeout(Duration::from_secs(60)) == Err(mpsc::RecvTimeoutError::Timeout) {
        panic!("{} hangs", info.name);
    }
    if let Err(panic) = thread.join() {
        std::panic::resume_unwind(panic);
    }
}

fn exercise(info: &'static WaitInfo, open: Open, mut waiter: Box<dyn Waiter>) {
    for micros in [1, 100, 1, 2_500] {
        wait_out(info, waiter.as_mut(), Nanos::from_micros(micros));
    }
    given::check(info, waiter.as_mut(), os::now);
    let now = os::now();
    for (remaining, deadline) in [
        (Nanos::ZERO, now),
        (Nanos(-1), now - Nanos(1)),
        (Nanos::from_secs(-1), Nanos::ZERO),
        (-Nanos::MAX, -Nanos::MAX),
    ] {
        assert_ends(info, &waiter.wait(Target { remaining, deadline }));
    }
    if info.is_timed() {
        lasts(info, waiter.as_mut());
    }
    // A second one in the same thread leaves the first as it was.
    drop(open());
    wait_out(info, waiter.as_mut(), Nanos::from_micros(10));
}

/// Checks that a wait of some ticks takes about that long: a wrong unit would make it ten times shorter or a thousand
/// times longer.
fn lasts(info: &WaitInfo, waiter: &mut dyn Waiter) {
    let (asked, tick, far_too_long) = (Nanos::from_millis(40), Nanos::from_millis(16), Nanos::from_secs(20));
    let begun = os::now();
    wait_out(info, waiter, asked);
    let took = os::now() - begun;
    assert!(asked - tick <= took && took < far_too_long, "{}: {took}", info.name);
}

fn assert_ends(info: &WaitInfo, end: &WaitEnd) {
    assert!(matches!(end, WaitEnd::TimedOut | WaitEnd::Interrupted), "{}: {end:?}", info.name);
}

/// Waits until the timer ends the wait; a condition may wake for no reason.
fn wait_out(info: &WaitInfo, waiter: &mut dyn Waiter, remaining: Nanos) {
    for _ in 0..100 {
        let end = waiter.wait(Target { remaining, deadline: os::now() + remaining });
        assert_ends(info, &end);
        if end == WaitEnd::TimedOut {
            return;
        }
    }
    panic!("{}: woken for nothing a hundred times", info.name);
}
