//! What a wait of Windows must do in addition to every other: it is early by no more than the tick by which Windows 7 may
//! end one early.

use oversleep_record::Nanos;
use oversleep_system::{WaitInfo, Waiter};

use crate::native::paired::call_of;
use crate::native::wait_conformance::{NeverEarly, exercise, on_a_thread, wait_out};
use crate::windows::{expected, os};

/// Checks the wait of `info` in a thread of its own.
pub(super) fn check(info: &'static WaitInfo) {
    let open = call_of(super::CALLS, info.name).expect("paired");
    on_a_thread(move || match open() {
        Ok(mut waiter) => {
            exercise(info, open, waiter.as_mut(), NeverEarly::NotPromised, os::now);
            if info.is_timed() {
                lasts(info, waiter.as_mut());
            }
        }
        Err(reason) => expected::may_lack(info.name, &reason),
    });
}

/// Checks that a wait of some ticks isn't much shorter, as one in a wrong unit would be.
fn lasts(info: &WaitInfo, waiter: &mut dyn Waiter) {
    let (requested, tick) = (Nanos::from_millis(40), Nanos::from_millis(16));
    let begun = os::now();
    wait_out(info, waiter, requested, NeverEarly::NotPromised, os::now);
    let duration = os::now() - begun;
    assert!(requested - tick <= duration, "{}: {duration}", info.name);
}
