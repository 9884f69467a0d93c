//! Yielding the CPU.

use oversleep_system::{Target, WaitEnd, WaitInfo, waits};

use super::entry::{Stateless, proved};
use super::reason::ended_by_zero;
use crate::native::waits::calls;

calls! { waits::LINUX;
    SCHED_YIELD = "sched-yield" => proved(Stateless(sched_yield)),
}

fn sched_yield(_target: Target) -> WaitEnd {
    // SAFETY: takes nothing. https://man7.org/linux/man-pages/man2/sched_yield.2.html
    ended_by_zero(SCHED_YIELD, unsafe { libc::sched_yield() })
}

#[cfg(test)]
mod tests {
    use super::super::conformance::{NeverEarly, Signals, check};
    use super::*;

    #[test]
    fn sched_yield_conforms() {
        check(SCHED_YIELD, NeverEarly::NotPromised, Signals::AreRetried);
    }
}
