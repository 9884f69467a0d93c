//! A sleep by the operating system, with the thread's slack and slice set for its waits.

use std::time::Duration;

use super::{Slept, Waited};
use crate::algorithm::{self, Access, Machine, Objective};
use crate::claims;
use crate::clock::{self, Clock, Instant};
use crate::outcome::{Denied, Outcome};
use crate::sys;

/// The finest slack that can be requested; zero means the default.
const FINEST_SLACK_NS: u64 = 1;

/// Sleeps until `deadline`, as the plan says.
pub(super) fn sleep_until(plan: &mut impl Access, deadline: Instant, objective: Objective) -> Slept {
    let mut system = System::default();
    let ending = algorithm::sleep_until(plan, &mut system, deadline.as_nanos(), objective);
    let waited = |made: algorithm::Made| Waited { margin_ns: made.margin_ns, lateness_ns: made.lateness_ns };
    Slept {
        lateness_ns: ending.lateness_ns,
        spun_ns: ending.spun_ns,
        wait: ending.wait.map(waited),
        approaches: ending.approaches.map(|made| made.map(waited)),
        slack: system.slack,
        slice: system.slice,
    }
}

/// The operating system, during a sleep.
#[derive(Default)]
struct System {
    finer: Option<Finer>,
    /// What came of setting them.
    slack: Option<Outcome<Duration>>,
    slice: Option<Outcome<Duration>>,
}

impl Machine for System {
    fn now_ns(&mut self) -> u64 {
        Clock::now().as_nanos()
    }

    fn system_ns(&mut self) -> u64 {
        sys::monotonic_ns()
    }

    fn cpu_ns(&mut self) -> Option<u64> {
        sys::thread_cpu_ns()
    }

    fn wait_until(&mut self, ns: u64) -> u64 {
        loop {
            let now_ns = sys::monotonic_ns();
            if now_ns >= ns {
                return now_ns;
            }
            sys::wait_once_until(ns);
        }
    }

    fn begin_waits(&mut self, wants_slice: bool) -> u64 {
        let finer = Finer::hold(wants_slice);
        self.slack = Some(outcome(finer.slack, FINEST_SLACK_NS));
        self.slice = finer.slice.map(|was_ns| outcome(was_ns, sys::FINEST_SLICE_NS));
        let was_ns = finer.was_ns();
        self.finer = Some(finer);
        was_ns
    }

    fn end_waits(&mut self) {
        self.finer = None;
    }
}

/// The beginning of a sleep, by the later of the two clocks: the library's may be 10 µs behind while another thread starts
/// it.
pub(crate) fn start() -> Instant {
    let before_ns = sys::monotonic_ns();
    let now_ns = Instant::now().as_nanos();
    let after_ns = sys::monotonic_ns();
    let ahead_ns = || Instant::now().as_nanos().saturating_sub(after_ns);
    Instant::from_nanos(began_ns(before_ns, now_ns, after_ns, ahead_ns))
}

/// The beginning, if the library's clock was read between two readings of the system's, and is now at most `ahead_ns`
/// ahead of that. What the reads took is part of the sleep: a new line after a pause takes 7 to 11 µs, the first use 0.3 ms
/// (2-vCPU KVM guests, EPYC, 2026-11-26 and 2026-12-01).
fn began_ns(before_ns: u64, now_ns: u64, after_ns: u64, ahead_ns: impl FnOnce() -> u64) -> u64 {
    /// The reads take no longer, unless the library's clock starts or draws a line, or the thread loses its processor.
    const QUICK_NS: u64 = 500;
    const CLOCKS_APART_NS: u64 = 10_000;
    let passed_ns = after_ns.saturating_sub(before_ns);
    if passed_ns <= QUICK_NS {
        return now_ns.max(before_ns);
    }
    let ahead_ns = ahead_ns();
    // How much further ahead it may have been before: it gives up its lead slowly.
    let given_up_ns = clock::lead_given_up_ns(passed_ns, ahead_ns).min(CLOCKS_APART_NS);
    now_ns.min(before_ns.saturating_add(ahead_ns).saturating_add(given_up_ns)).max(before_ns)
}

/// The calling thread's settings for the waits of a sleep. The drop restores the former ones.
struct Finer {
    slack: Result<u64, Denied>,
    slice: Option<Result<u64, Denied>>,
}

impl Finer {
    fn hold(wants_slice: bool) -> Finer {
        let slack = match claims::held_slack_ns() {
            Some(FINEST_SLACK_NS) => Ok(FINEST_SLACK_NS),
            _ => sys::sleep_slack_ns().and_then(|was_ns| match was_ns > FINEST_SLACK_NS {
                true => sys::set_timer_slack_ns(FINEST_SLACK_NS).map(|()| was_ns),
                // Zero means a real-time policy, without slack.
                false => Ok(was_ns),
            }),
        };
        let slice = || sys::shorten_slice_for_sleep(sys::FINEST_SLICE_NS);
        Finer { slack, slice: wants_slice.then(slice) }
    }

    /// The slack that waits would have had otherwise; zero where it still delays them.
    fn was_ns(&self) -> u64 {
        self.slack.as_ref().map_or(0, |&was_ns| was_ns)
    }
}

/// The outcome of setting this value, given the former one. It isn't read back: that would cost as much as setting it,
/// and the lateness shows whether it took effect.
fn outcome(was_ns: Result<u64, Denied>, set_ns: u64) -> Outcome<Duration> {
    match was_ns {
        Ok(was_ns) if was_ns > set_ns => {
            Outcome::Applied { was: Duration::from_nanos(was_ns), now: Duration::from_nanos(set_ns) }
        }
        Ok(was_ns) => Outcome::AlreadyFiner { is: Duration::from_nanos(was_ns) },
        Err(denied) => Outcome::Denied(denied),
    }
}

impl Drop for Finer {
    fn drop(&mut self) {
        // Both were set before, so only a sandbox entered meanwhile can refuse them, and a drop can't report that.
        if let Some(Ok(was_ns)) = self.slice
            && was_ns > sys::FINEST_SLICE_NS
        {
            sys::restore_slice_ns(was_ns);
        }
        if let Ok(was_ns) = self.slack
            && was_ns > FINEST_SLACK_NS
        {
            let _ = sys::set_timer_slack_ns(was_ns);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_read_of_the_clock_takes_is_part_of_the_sleep() {
        // The later of the two clocks, as long as the reads take no time.
        let quick = |now_ns| began_ns(1_000_000, now_ns, 1_000_060, || unreachable!("it costs a read"));
        assert_eq!([quick(1_000_300), quick(992_000)], [1_000_300, 1_000_000]);
        let began_ns = |before_ns, now_ns, after_ns, ahead_ns| began_ns(before_ns, now_ns, after_ns, || ahead_ns);
        // A new line, which is no more ahead than the former one was, or behind.
        assert_eq!(began_ns(1_000_000, 1_009_000, 1_009_050, 0), 1_000_009);
        assert_eq!(began_ns(1_000_000, 1_029_000, 1_009_050, 20_000), 1_020_009);
        // A large lead is given up faster.
        assert_eq!(began_ns(1_000_000, 1_209_000, 1_009_000, 200_000), 1_202_250);
        // The first use of the clock.
        assert_eq!(began_ns(1_000_000, 1_346_000, 1_346_050, 0), 1_000_346);
        // The thread lost its processor before the read, or after it.
        assert_eq!(began_ns(1_000_000, 5_000_000, 5_000_050, 0), 1_010_000);
        assert_eq!(began_ns(1_000_000, 1_000_040, 5_000_000, 0), 1_000_040);
    }
}
