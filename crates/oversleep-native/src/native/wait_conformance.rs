//! What every wait must do on every system: the test beneath each calls its system's check, which calls [`exercise`].
//!
//! Nothing here judges how late a wait is. Its call is given what its description says; it returns where there is
//! nothing to wait for, and works again after that and beside another one.
#![cfg_attr(target_os = "windows", allow(dead_code, reason = "Windows promises nothing about early ends"))]

use oversleep_record::Nanos;
use oversleep_system::{Target, WaitEnd, WaitInfo, Waiter};

use super::given::tests as given;
use super::waits::Open;

/// Whether the wait's end is at or after its deadline on the reference clock.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum NeverEarly {
    /// The system guarantees it.
    Holds,
    /// The system doesn't guarantee it: another clock or the tick decides, or there is no deadline.
    NotPromised,
}

/// Runs a check on a separate thread and propagates its panic.
pub(crate) fn on_a_thread(body: impl FnOnce() + Send + 'static) {
    if let Err(panic) = std::thread::spawn(body).join() {
        std::panic::resume_unwind(panic);
    }
}

/// Uses an open wait in every way that all systems allow.
pub(crate) fn exercise(
    info: &WaitInfo,
    open: Open,
    waiter: &mut dyn Waiter,
    never_early: NeverEarly,
    now: fn() -> Nanos,
) {
    for micros in [1, 100, 1, 30] {
        wait_out(info, waiter, Nanos::from_micros(micros), never_early, now);
    }
    given::check(info, waiter, now);
    for target in [
        Target { remaining: Nanos::ZERO, deadline: now() },
        Target { remaining: Nanos(-1), deadline: now() - Nanos(1) },
        Target { remaining: Nanos::from_secs(-1), deadline: Nanos::ZERO },
        Target { remaining: -Nanos::MAX, deadline: -Nanos::MAX },
    ] {
        let end = waiter.wait(target);
        assert!(matches!(end, WaitEnd::TimedOut | WaitEnd::Interrupted), "{}, {target:?}: {end:?}", info.name);
    }
    // A second waiter in the same thread must not affect the first one (where the process can have two).
    drop(open());
    wait_out(info, waiter, Nanos::from_micros(10), never_early, now);
}

/// Waits until the timer ends the wait: a signal of another test may interrupt it, and a condition may wake for no reason.
pub(crate) fn wait_out(
    info: &WaitInfo,
    waiter: &mut dyn Waiter,
    remaining: Nanos,
    never_early: NeverEarly,
    now: fn() -> Nanos,
) {
    for _ in 0..1_000 {
        let target = Target { remaining, deadline: now() + remaining };
        match waiter.wait(target) {
            WaitEnd::TimedOut => {
                let early = target.deadline - now();
                assert!(never_early == NeverEarly::NotPromised || early <= Nanos::ZERO, "{}: {early}", info.name);
                return;
            }
            WaitEnd::Interrupted => {}
            WaitEnd::Failed(reason) => panic!("{}: {reason:?}", info.name),
        }
    }
    panic!("{}: interrupted a thousand times", info.name);
}
