//! Giving the CPU away.

use oversleep_system::{Target, WaitEnd, WaitInfo, waits};

use super::entry::{Stateless, proved};
use super::reason::ended_by_zero;
use crate::native::waits::calls;

calls! { waits::MACOS;
    SCHED_YIELD = "sched-yield" => proved(Stateless(sched_yield)),
    SWTCH_PRI = "swtch-pri" => proved(Stateless(lower_and_yield)),
}

fn sched_yield(_target: Target) -> WaitEnd {
    // SAFETY: takes nothing.
    ended_by_zero(SCHED_YIELD, unsafe { libc::sched_yield() })
}

// SAFETY: as <mach/mach_traps.h> declares it, in libSystem.
unsafe extern "C" {
    // https://github.com/apple-oss-distributions/xnu/blob/main/osfmk/mach/mach_traps.h
    fn swtch_pri(priority: libc::c_int) -> libc::boolean_t;
}

fn lower_and_yield(_target: Target) -> WaitEnd {
    // SAFETY: takes a number that is not used. It returns whether anybody else is waiting, which is no error.
    unsafe { swtch_pri(0) };
    WaitEnd::TimedOut
}

#[cfg(test)]
mod tests {
    use super::super::conformance::{NeverEarly, check};
    use super::*;

    #[test]
    fn yields_conform() {
        check(SCHED_YIELD, NeverEarly::NotPromised);
        check(SWTCH_PRI, NeverEarly::NotPromised);
    }
}
