//! What every entry must do, whatever it is: the test beneath each entry calls [`check`].
//!
//! Nothing here judges how late a wait is. Its call is given what its description says. It ends by its timer after what was asked, but for the tick by which Windows 7
//! may end one early; returns where there is nothing to wait for; and works again after that and beside another one.

use std::sync::mpsc;
use std::time::Duration;

use oversleep_record::Nanos;

use super::entry::Entry;
use crate::native::given::tests as given;
use crate::native::waits::entry_of;
use crate::windows::{expected, os};
use oversleep_system::{Target, WaitEnd, WaitInfo, Waiter};

/// Checks the entry of `info` in a thread of its own, which must come back.
pub(super) fn check(info: &WaitInfo) {
    let entry = entry_of(super::ENTRIES, info).expect("opened");
    let (done, is_done) = mpsc::channel();
    let thread = std::thread::spawn(move || {
        match (entry.open)() {
            Ok(waiter) => exercise(entry, waiter),
            Err(reason) => expected::may_lack(entry.info.name, &reason),
        }
        // The receiver is gone only where the limit has passed.
        let _ = done.send(());
    });
    if is_done.recv_timeout(Duration::from_secs(60)) == Err(mpsc::RecvTimeoutError::Timeout) {
        panic!("{} hangs", entry.info.name);
    }
    if let Err(panic) = thread.join() {
        std::panic::resume_unwind(panic);
    }
}

fn exercise(entry: &'static Entry, mut waiter: Box<dyn Waiter>) {
    for micros in [1, 100, 1, 2_500] {
        wait_out(entry, waiter.as_mut(), Nanos::from_micros(micros));
    }
    given::check(entry.info, waiter.as_mut(), os::now);
    let now = os::now();
    for (remaining, deadline) in [
        (Nanos::ZERO, now),
        (Nanos(-1), now - Nanos(1)),
        (Nanos::from_secs(-1), Nanos::ZERO),
        (-Nanos::MAX, -Nanos::MAX),
    ] {
        assert_ends(entry, &waiter.wait(Target { remaining, deadline }));
    }
    if entry.info.is_timed() {
        lasts(entry, waiter.as_mut());
    }
    // A second one in the same thread takes nothing away from the first.
    drop((entry.open)());
    wait_out(entry, waiter.as_mut(), Nanos::from_micros(10));
}

/// A wait of some ticks takes about that long: a wrong unit would make it ten times shorter or more, or a thousand times
/// longer.
fn lasts(entry: &'static Entry, waiter: &mut dyn Waiter) {
    let (asked, tick, far_too_long) = (Nanos::from_millis(40), Nanos::from_millis(16), Nanos::from_secs(20));
    let begun = os::now();
    wait_out(entry, waiter, asked);
    let took = os::now() - begun;
    assert!(asked - tick <= took && took < far_too_long, "{}: {took}", entry.info.name);
}

fn assert_ends(entry: &'static Entry, end: &WaitEnd) {
    assert!(matches!(end, WaitEnd::TimedOut | WaitEnd::Interrupted), "{}: {end:?}", entry.info.name);
}

/// Waits until it ends by its timer; a condition may wake for nothing.
fn wait_out(entry: &'static Entry, waiter: &mut dyn Waiter, remaining: Nanos) {
    for _ in 0..100 {
        let end = waiter.wait(Target { remaining, deadline: os::now() + remaining });
        assert_ends(entry, &end);
        if end == WaitEnd::TimedOut {
            return;
        }
    }
    panic!("{}: woken for nothing a hundred times", entry.info.name);
}
