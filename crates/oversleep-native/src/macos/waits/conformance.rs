//! What every wait must do, whatever it is: the test beneath each calls [`check`].
//!
//! Nothing here judges how late a wait is. Its call is given what its description says. It is never early, returns at
//! once where there is nothing to wait for, and leaves no descriptor behind.

use oversleep_record::{Nanos, Unavailable};

use crate::macos::{os, sysctl};
use crate::native::given::tests as given;
use crate::native::paired::call_of;
use crate::native::waits::Open;
use oversleep_system::{Target, WaitEnd, WaitInfo, Waiter};

/// Whether the wait's end is at or after its deadline on the reference clock.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum NeverEarly {
    /// The system promises it.
    Holds,
    /// The system promises nothing: another clock decides, or there is no deadline.
    NotPromised,
}

/// Checks the wait of `info`, in a thread of its own.
pub(super) fn check(info: &'static WaitInfo, never_early: NeverEarly) {
    let open = call_of(super::CALLS, info.name).expect("paired");
    let body = move || match open() {
        Ok(waiter) => exercise(info, open, waiter, never_early),
        Err(reason) => may_lack(info, &reason),
    };
    if let Err(panic) = std::thread::spawn(body).join() {
        std::panic::resume_unwind(panic);
    }
}

/// Fails where the system is new enough for the call: without this, a misspelt name would look like an older system.
fn may_lack(info: &WaitInfo, reason: &Unavailable) {
    let numbers = |version: &str| -> Vec<u32> {
        version.split(|sign: char| !sign.is_ascii_digit()).filter_map(|part| part.parse().ok()).collect()
    };
    let here = sysctl::text("kern.osproductversion").unwrap_or_default();
    assert!(numbers(&here) < numbers(info.since), "{} is not here (macOS {here}): {reason}", info.name);
}

fn exercise(info: &'static WaitInfo, open: Open, mut waiter: Box<dyn Waiter>, never_early: NeverEarly) {
    for micros in [1, 100, 1, 30] {
        wait_out(waiter.as_mut(), Nanos::from_micros(micros), never_early);
    }
    given::check(info, waiter.as_mut(), os::now);
    for target in [
        Target { remaining: Nanos::ZERO, deadline: os::now() },
        Target { remaining: Nanos(-1), deadline: os::now() - Nanos(1) },
        Target { remaining: Nanos::from_secs(-1), deadline: Nanos::ZERO },
        Target { remaining: -Nanos::MAX, deadline: -Nanos::MAX },
    ] {
        assert_eq!(waiter.wait(target), WaitEnd::TimedOut, "{}: {target:?}", info.name);
    }
    // A second one in the same thread leaves the first as it was.
    drop(open());
    wait_out(waiter.as_mut(), Nanos::from_micros(10), never_early);
}

fn wait_out(waiter: &mut dyn Waiter, remaining: Nanos, never_early: NeverEarly) {
    for _ in 0..100 {
        let target = Target { remaining, deadline: os::now() + remaining };
        match waiter.wait(target) {
            WaitEnd::TimedOut => {
                let early = target.deadline - os::now();
                assert!(never_early == NeverEarly::NotPromised || early <= Nanos::ZERO, "early by {early}");
                return;
            }
            WaitEnd::Interrupted => {}
            WaitEnd::Failed(reason) => panic!("{reason:?}"),
        }
    }
    panic!("interrupted a hundred times");
}
