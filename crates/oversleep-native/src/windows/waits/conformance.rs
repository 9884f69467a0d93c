//! What a wait of Windows must do in addition to every other: it ends, and not long after its span, early by no more than
//! the tick by which Windows 7 may end one early.

use oversleep_record::Nanos;

use crate::handoff_conformance::within_limit;
use crate::native::paired::call_of;
use crate::native::wait_conformance::{NeverEarly, exercise, wait_out};
use crate::windows::{expected, os};
use oversleep_system::{WaitInfo, Waiter};

/// Checks the wait of `info` in a thread of its own, which must end.
pub(super) fn check(info: &'static WaitInfo) {
    let open = call_of(super::CALLS, info.name).expect("paired");
    within_limit(info.name, move || match open() {
        Ok(mut waiter) => {
            exercise(info, open, waiter.as_mut(), NeverEarly::NotPromised, os::now);
            if info.is_timed() {
                lasts(info, waiter.as_mut());
            }
        }
        Err(reason) => expected::may_lack(info.name, &reason),
    });
}

/// Checks that a wait of some ticks takes about that long: a wrong unit would make it ten times shorter or a thousand
/// times longer.
fn lasts(info: &WaitInfo, waiter: &mut dyn Waiter) {
    let (requested, tick, far_too_long) = (Nanos::from_millis(40), Nanos::from_millis(16), Nanos::from_secs(20));
    let begun = os::now();
    wait_out(info, waiter, requested, NeverEarly::NotPromised, os::now);
    let took = os::now() - begun;
    assert!(requested - tick <= took && took < far_too_long, "{}: {took}", info.name);
}
