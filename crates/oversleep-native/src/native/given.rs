//! What a call is given: rounded as its description says, and noted in tests at the point where it takes the form of the
//! call's argument. So a call and its description can't part.

use oversleep_record::Nanos;
use oversleep_system::WaitInfo;

/// The argument that the call of `info` gets for this request. It is never negative: calls refuse negative values or treat
/// them as forever.
#[inline]
pub(crate) fn rounded(info: &WaitInfo, requested: Nanos) -> Nanos {
    info.rounded(requested.max(Nanos::ZERO))
}

/// Records, in tests, the meaning of an argument that was just computed for a call.
#[inline(always)]
pub(crate) fn note(_info: &WaitInfo, _argument: Nanos) {
    #[cfg(test)]
    tests::LAST.set(Some((_info.name, _argument)));
}

#[cfg(test)]
pub(crate) mod tests {
    use std::cell::Cell;

    use oversleep_system::{Takes, Target, WaitEnd, Waiter};

    use super::*;

    thread_local! {
        /// The wait whose argument this thread computed last, and what the argument means.
        pub(super) static LAST: Cell<Option<(&'static str, Nanos)>> = const { Cell::new(None) };
    }

    /// Requests just below and above every unit.
    const REQUESTS: [Nanos; 6] =
        [Nanos(1), Nanos(999), Nanos(300_000), Nanos(1_000_000), Nanos(1_500_000), Nanos(2_000_100)];

    /// Checks that a wait's call is given what the description says, by the note taken where the argument is made.
    /// Conformance tests of every system call it.
    pub(crate) fn check(info: &WaitInfo, waiter: &mut dyn Waiter, now: fn() -> Nanos) {
        for requested in REQUESTS {
            let target = Target { remaining: requested, deadline: now() + requested };
            LAST.set(None);
            let end = waiter.wait(target);
            assert!(!matches!(end, WaitEnd::Failed(_)), "{}: {end:?}", info.name);
            let expected = match info.takes {
                // The standard library accepts any span and rounds it.
                Takes::Span if info.call.starts_with("std::") => None,
                Takes::Span => Some(info.rounded(requested)),
                Takes::Deadline => Some(info.rounded(target.deadline)),
                // By another clock: the trace of system calls knows by which.
                Takes::TimeOfDay => LAST.get().map(|(_, given)| given),
                Takes::Nothing => None,
            };
            assert_eq!(LAST.get(), expected.map(|given| (info.name, given)), "{} of {requested}", info.name);
            assert!(!(info.takes == Takes::TimeOfDay && LAST.get().is_none()), "{} notes nothing", info.name);
        }
    }
}
