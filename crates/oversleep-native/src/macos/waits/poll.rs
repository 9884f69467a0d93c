//! Waits for descriptors, here with none to wait for.

use oversleep_system::{Target, WaitEnd, WaitInfo, waits};

use super::args;
use super::entry::{Stateless, proved};
use super::reason::{ended_by_zero, too_long};
use crate::native::waits::calls;

calls! { waits::MACOS;
    SELECT = "select" => proved(Stateless(select)),
    PSELECT = "pselect" => proved(Stateless(pselect)),
    POLL = "poll" => proved(Stateless(poll)),
}

/// `select` refuses a longer timeout (EINVAL): 100,000,000 s.
const LONGEST_SELECT_S: i64 = 100_000_000;

fn select(target: Target) -> WaitEnd {
    let mut span = args::timeval(SELECT, target.remaining);
    if span.tv_sec > LONGEST_SELECT_S {
        return too_long(SELECT);
    }
    let none = std::ptr::null_mut();
    // SAFETY: no set is passed, and the timeout is valid.
    ended_by_zero(SELECT, unsafe { libc::select(0, none, none, none, &raw mut span) })
}

fn pselect(target: Target) -> WaitEnd {
    let span = args::timespec(PSELECT, target.remaining);
    if span.tv_sec > LONGEST_SELECT_S {
        return too_long(PSELECT);
    }
    let none = std::ptr::null_mut();
    // SAFETY: no set and no mask is passed, and the timeout is valid.
    ended_by_zero(PSELECT, unsafe { libc::pselect(0, none, none, none, &raw const span, std::ptr::null()) })
}

fn poll(target: Target) -> WaitEnd {
    let Some(millis) = args::millis(POLL, target.remaining) else { return too_long(POLL) };
    // SAFETY: no descriptor is passed.
    ended_by_zero(POLL, unsafe { libc::poll(std::ptr::null_mut(), 0, millis) })
}

#[cfg(test)]
mod tests {
    use super::super::conformance::{NeverEarly, check};
    use super::*;

    #[test]
    fn polls_conform() {
        check(SELECT, NeverEarly::Holds);
        check(PSELECT, NeverEarly::Holds);
        check(POLL, NeverEarly::Holds);
    }
}
