//! Giving the CPU away.

use super::entry::{Entry, Stateless, proved};
use super::reason::ended_by_zero;
use oversleep_system::{Family, Granularity, SlackRule, Target, WaitEnd, WaitInfo, ZeroMeans};

const INFO: WaitInfo = WaitInfo {
    name: "sched-yield",
    call: "sched_yield",
    doc: "Back-off of spin locks; std::thread::yield_now and Thread.yield; pthread_yield_np is the same. With nobody else to \
          run it returns at once and burns CPU, with competition its length is the scheduler's choice.",
    family: Family::Yield,
    absolute: false,
    granularity: Granularity::NANOSECOND,
    zero: ZeroMeans::NoArgument,
    slack: SlackRule::NoTimer,
    since: "Mac OS X 10.0",
    page: "https://github.com/apple-oss-distributions/libpthread",
};

pub(super) static SCHED_YIELD: Entry = Entry { info: INFO, open: || proved(Stateless(sched_yield)) };

fn sched_yield(_target: Target) -> WaitEnd {
    // SAFETY: takes nothing.
    ended_by_zero(&SCHED_YIELD.info, unsafe { libc::sched_yield() })
}

// SAFETY: as <mach/mach_traps.h> declares it, in libSystem.
unsafe extern "C" {
    // https://github.com/apple-oss-distributions/xnu/blob/main/osfmk/mach/mach_traps.h
    fn swtch_pri(priority: libc::c_int) -> libc::boolean_t;
}

pub(super) static SWTCH_PRI: Entry = Entry {
    info: WaitInfo {
        name: "swtch-pri",
        call: "swtch_pri(0)",
        doc: "Mach's own yield, beneath sched_yield: it lowers the thread's priority until it runs again, so that anybody \
              else comes first.",
        page: "https://github.com/apple-oss-distributions/xnu/blob/main/osfmk/mach/mach_traps.h",
        ..INFO
    },
    open: || proved(Stateless(lower_and_yield)),
};

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
        check(&SCHED_YIELD, NeverEarly::NotPromised);
        check(&SWTCH_PRI, NeverEarly::NotPromised);
    }
}
