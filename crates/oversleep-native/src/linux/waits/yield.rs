//! Giving the CPU away.

use super::entry::{Entry, Stateless, proved};
use super::reason::ended_by_zero;
use oversleep_system::{Family, Granularity, SlackRule, Target, WaitEnd, WaitInfo, ZeroMeans};

pub(super) static SCHED_YIELD: Entry = Entry {
    info: WaitInfo {
        name: "sched-yield",
        call: "sched_yield",
        doc: "Back-off of spin locks; std::thread::yield_now and Thread.yield. Takes no time: with nobody else to run it \
              returns at once and burns CPU, with competition its length is the scheduler's choice.",
        family: Family::Yield,
        absolute: false,
        granularity: Granularity::NANOSECOND,
        zero: ZeroMeans::NoArgument,
        slack: SlackRule::NoTimer,
        since: "Linux 2.0",
        page: "https://man7.org/linux/man-pages/man2/sched_yield.2.html",
    },
    open: || proved(Stateless(sched_yield)),
};

fn sched_yield(_target: Target) -> WaitEnd {
    // SAFETY: takes nothing. https://man7.org/linux/man-pages/man2/sched_yield.2.html
    ended_by_zero(&SCHED_YIELD.info, unsafe { libc::sched_yield() })
}

#[cfg(test)]
mod tests {
    use super::super::conformance::{NeverEarly, Signals, check};
    use super::*;

    #[test]
    fn sched_yield_conforms() {
        check(&SCHED_YIELD, NeverEarly::NotPromised, Signals::AreRetried);
    }
}
