//! Makes the waits of a sleep and the spin after them, with the thread's slack and slice set for both, and reports to the
//! plan.

use std::time::Duration;

use super::objective::Objective;
use super::plan::{Ended, Plan, Step};
use super::{Slept, Waited};
use crate::claims;
use crate::clock::{Clock, Instant};
use crate::outcome::{Denied, Outcome};
use crate::sys;

/// The finest slack that can be requested; zero means the default.
const FINEST_SLACK_NS: u64 = 1;

/// Access to a plan that another thread may be using.
pub(super) trait Access {
    /// Calls `body` with the plan; `None` if someone else is using it.
    fn with<R>(&mut self, body: impl FnOnce(&mut Plan) -> R) -> Option<R>;
}

impl Access for Plan {
    fn with<R>(&mut self, body: impl FnOnce(&mut Plan) -> R) -> Option<R> {
        Some(body(self))
    }
}

/// Sleeps until `deadline`, as the plan says.
pub(super) fn sleep_until(plan: &mut impl Access, deadline: Instant, objective: Objective) -> Slept {
    let now_ns = Clock::now().as_nanos();
    let ahead_ns = deadline.as_nanos().saturating_sub(now_ns);
    let mut slept = Slept::without_a_wait(Duration::ZERO);
    let first = plan.with(|plan| {
        let step = plan.first(now_ns, ahead_ns, objective);
        (step, plan.wants_cost(step), plan.is_contended())
    });
    let (mut step, mut wants_cost, is_contended) = first.unwrap_or((otherwise(ahead_ns, objective), false, false));
    if step != Step::Spin {
        let finer = Finer::hold(is_contended);
        slept.slack = Some(outcome(finer.slack, FINEST_SLACK_NS));
        slept.slice = finer.slice.map(|was_ns| outcome(was_ns, sys::FINEST_SLICE_NS));
        // All bookkeeping happens before the deadline, in time that would otherwise be spun away.
        loop {
            let (margin_ns, number) = match step {
                Step::Wait { margin_ns } => (margin_ns, None),
                Step::Approach { number, margin_ns } => (margin_ns, Some(number)),
                Step::Spin => break,
            };
            let (waited, cpu_ns) = wait_before(deadline, margin_ns, wants_cost);
            let made = match number {
                None => &mut slept.wait,
                Some(number) => &mut slept.approaches[number],
            };
            *made = Some(waited);
            let left_ns = left_ns(deadline);
            let next = plan.with(|plan| {
                let ended = Ended { lateness_ns: waited.lateness_ns, cpu_ns };
                let approaches = match number {
                    None => {
                        plan.note_slack(finer.was_ns());
                        plan.learn_wait(ahead_ns, ended);
                        0
                    }
                    Some(number) => {
                        plan.learn_approach(ended);
                        number + 1
                    }
                };
                let step = plan.then(approaches, left_ns, objective);
                (step, plan.wants_cost(step))
            });
            (step, wants_cost) = next.unwrap_or((otherwise(left_ns, objective), false));
        }
    }
    (slept.spun_ns, slept.lateness_ns) = spin_until(deadline);
    slept
}

/// The step if the plan is in use elsewhere: wait for all but the budget, with the margin for an unknown machine.
fn otherwise(left_ns: u64, objective: Objective) -> Step {
    const MARGIN_NS: u64 = 70_000;
    let margin_ns = MARGIN_NS.min(objective.budget_ns);
    if left_ns > margin_ns { Step::Approach { number: 0, margin_ns } } else { Step::Spin }
}

/// The beginning of a sleep, by the later of the two clocks: the library's may be 10 µs behind while another thread starts
/// it.
pub(crate) fn start() -> Instant {
    let before_ns = sys::monotonic_ns();
    let now = Instant::now();
    Instant::from_nanos(began_ns(before_ns, now.as_nanos(), sys::monotonic_ns()))
}

/// The beginning, if the library's clock was read between two readings of the system's. The first use of the clock takes
/// 0.3 ms (a 2-vCPU KVM guest, EPYC, 2026-11-26), and a thread may lose its processor there: that is part of the sleep.
fn began_ns(before_ns: u64, now_ns: u64, after_ns: u64) -> u64 {
    const CLOCKS_APART_NS: u64 = 10_000;
    let passed_ns = after_ns.saturating_sub(before_ns).saturating_sub(CLOCKS_APART_NS);
    now_ns.saturating_sub(passed_ns).max(before_ns)
}

/// The calling thread's settings for the waits of a sleep. The drop restores the former ones.
struct Finer {
    slack: Result<u64, Denied>,
    slice: Option<Result<u64, Denied>>,
}

impl Finer {
    fn hold(is_contended: bool) -> Finer {
        let slack = match claims::held_slack_ns() {
            Some(FINEST_SLACK_NS) => Ok(FINEST_SLACK_NS),
            _ => sys::sleep_slack_ns().and_then(|was_ns| match was_ns > FINEST_SLACK_NS {
                true => sys::set_timer_slack_ns(FINEST_SLACK_NS).map(|()| was_ns),
                // Zero means a real-time policy, without slack.
                false => Ok(was_ns),
            }),
        };
        let slice = || sys::shorten_slice_for_sleep(sys::FINEST_SLICE_NS);
        Finer { slack, slice: is_contended.then(slice) }
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

fn left_ns(deadline: Instant) -> u64 {
    u64::try_from(deadline.nanos_since(Clock::now())).unwrap_or(0)
}

/// Has the system wake this thread `margin_ns` before the deadline. Also returns the CPU time of the wait, if wanted.
fn wait_before(deadline: Instant, margin_ns: u64, wants_cost: bool) -> (Waited, Option<u64>) {
    let wake_ns = deadline.as_nanos().saturating_sub(margin_ns);
    let before_ns = if wants_cost { sys::thread_cpu_ns() } else { None };
    let lateness_ns = wait_until(wake_ns) - wake_ns;
    let cpu_ns = before_ns.and_then(|before_ns| sys::thread_cpu_ns()?.checked_sub(before_ns));
    (Waited { margin_ns, lateness_ns }, cpu_ns)
}

/// Waits until the operating system's clock reads `ns` or later, and returns that reading.
fn wait_until(ns: u64) -> u64 {
    loop {
        let now_ns = sys::monotonic_ns();
        if now_ns >= ns {
            return now_ns;
        }
        sys::wait_once_until(ns);
    }
}

/// Spins until `deadline`; returns for how long and how late it ended, in nanoseconds.
fn spin_until(deadline: Instant) -> (u64, u64) {
    let start = Clock::now();
    let mut now = start;
    while now < deadline {
        std::hint::spin_loop();
        now = Clock::now();
    }
    // Our clock may be a few nanoseconds ahead of the operating system's, and the guarantee holds for both.
    while sys::monotonic_ns() < deadline.as_nanos() {
        std::hint::spin_loop();
        now = Clock::now();
    }
    let spun_ns = now.as_nanos().min(deadline.as_nanos()).saturating_sub(start.as_nanos());
    (spun_ns, now.as_nanos().saturating_sub(deadline.as_nanos()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_read_of_the_clock_takes_is_part_of_the_sleep() {
        // The later of the two clocks, as long as the reads take no time.
        assert_eq!(began_ns(1_000_000, 1_000_300, 1_000_060), 1_000_300);
        assert_eq!(began_ns(1_000_000, 992_000, 1_000_060), 1_000_000);
        // The first use of the clock.
        assert_eq!(began_ns(1_000_000, 1_346_000, 1_346_050), 1_009_950);
        // The thread lost its processor before the read, or after it.
        assert_eq!(began_ns(1_000_000, 5_000_000, 5_000_050), 1_009_950);
        assert_eq!(began_ns(1_000_000, 1_000_040, 5_000_000), 1_000_000);
    }
}
