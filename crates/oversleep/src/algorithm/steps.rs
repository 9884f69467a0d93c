//! Makes the waits of a sleep or of a park, and the spin after them, on a machine, and reports to what learns from them.

use super::Machine;
use super::margins::{Margins, WAIT_COST_NS};
use super::objective::Objective;
use super::plan::{APPROACHES, Ended, Plan, Step};

/// Access to a plan that another thread may be using.
pub(crate) trait Access {
    /// Calls `body` with the plan; `None` if someone else is using it.
    fn with<R>(&mut self, body: impl FnOnce(&mut Plan) -> R) -> Option<R>;
}

impl Access for Plan {
    fn with<R>(&mut self, body: impl FnOnce(&mut Plan) -> R) -> Option<R> {
        Some(body(self))
    }
}

/// A wait: how long before the deadline it was to end, and how much later it did.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Made {
    #[cfg_attr(not(feature = "std"), expect(dead_code, reason = "a sleep with the standard library says it"))]
    pub(crate) margin_ns: u64,
    pub(crate) lateness_ns: u64,
}

/// How a sleep went.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Ending {
    pub(crate) wait: Option<Made>,
    pub(crate) approaches: [Option<Made>; APPROACHES],
    pub(crate) spun_ns: u64,
    pub(crate) lateness_ns: u64,
}

/// Sleeps until `deadline_ns`, as the plan says.
pub(crate) fn sleep_until(
    plan: &mut impl Access,
    machine: &mut impl Machine,
    deadline_ns: u64,
    objective: Objective,
) -> Ending {
    let now_ns = machine.now_ns();
    let ahead_ns = deadline_ns.saturating_sub(now_ns);
    let mut ending = Ending::default();
    let first = plan.with(|plan| {
        let step = plan.first(now_ns, ahead_ns, objective);
        (step, plan.wants_cost(step), plan.wants_slice())
    });
    let (mut step, mut wants_cost, wants_slice) = first.unwrap_or((otherwise(ahead_ns, objective), false, false));
    if step != Step::Spin {
        let was_ns = machine.begin_waits(wants_slice);
        // All bookkeeping happens before the deadline, in time that would otherwise be spun away.
        loop {
            let (margin_ns, number) = match step {
                Step::Wait { margin_ns } => (margin_ns, None),
                Step::Approach { number, margin_ns } => (margin_ns, Some(number)),
                Step::Spin => break,
            };
            let (waited, cpu_ns) = wait_before(machine, deadline_ns, margin_ns, wants_cost);
            let made = match number {
                None => &mut ending.wait,
                Some(number) => &mut ending.approaches[number],
            };
            *made = Some(waited);
            let left_ns = deadline_ns.saturating_sub(machine.now_ns());
            let next = plan.with(|plan| {
                let ended = Ended { lateness_ns: waited.lateness_ns, cpu_ns };
                let approaches = match number {
                    None => {
                        plan.note_slack(was_ns);
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
        machine.end_waits();
    }
    (ending.spun_ns, ending.lateness_ns) = spin_until(machine, deadline_ns);
    ending
}

/// The step if the plan is in use elsewhere: wait for all but the budget, with the margin for an unknown machine.
fn otherwise(left_ns: u64, objective: Objective) -> Step {
    const MARGIN_NS: u64 = 70_000;
    let margin_ns = MARGIN_NS.min(objective.budget_ns);
    if left_ns > margin_ns { Step::Approach { number: 0, margin_ns } } else { Step::Spin }
}

/// Has the system wake this thread `margin_ns` before the deadline. Also returns the CPU time of the wait, if wanted.
fn wait_before(machine: &mut impl Machine, deadline_ns: u64, margin_ns: u64, wants_cost: bool) -> (Made, Option<u64>) {
    let wake_ns = deadline_ns.saturating_sub(margin_ns);
    let before_ns = if wants_cost { machine.cpu_ns() } else { None };
    let lateness_ns = machine.wait_until(wake_ns) - wake_ns;
    let cpu_ns = before_ns.and_then(|before_ns| machine.cpu_ns()?.checked_sub(before_ns));
    (Made { margin_ns, lateness_ns }, cpu_ns)
}

/// Spins until `deadline_ns`; returns for how long and how late it ended, in nanoseconds.
fn spin_until(machine: &mut impl Machine, deadline_ns: u64) -> (u64, u64) {
    let start_ns = machine.now_ns();
    let mut now_ns = start_ns;
    while now_ns < deadline_ns {
        machine.relax();
        now_ns = machine.now_ns();
    }
    // Our clock may be a few nanoseconds ahead of the operating system's, and the guarantee holds for both.
    while machine.system_ns() < deadline_ns {
        machine.relax();
        now_ns = machine.now_ns();
    }
    let spun_ns = now_ns.min(deadline_ns).saturating_sub(start_ns);
    (spun_ns, now_ns.saturating_sub(deadline_ns))
}

/// Waits until `deadline_ns`, or until what it waits for has come: then it returns `None`, otherwise how late it ended.
pub(crate) fn wait_until(machine: &mut impl Machine, deadline_ns: u64, margins: &Margins) -> Option<u64> {
    let mut has_waited = false;
    // The kind of the last wait that ended by itself, and when it was due.
    let mut last = None;
    for which in [0, 1] {
        let margin_ns = margins.margin_ns(which);
        if machine.has_come() || deadline_ns.saturating_sub(machine.now_ns()) < margin_ns + WAIT_COST_NS {
            if which > 0 {
                margins.forget(which);
            }
            continue;
        }
        if let Some((which, _, lateness_ns)) = last.take() {
            margins.learn(which, lateness_ns);
        }
        if !has_waited {
            machine.begin_waits(false);
            has_waited = true;
        }
        let wake_ns = deadline_ns - margin_ns;
        if !machine.has_come() {
            let now_ns = machine.wait_until(wake_ns);
            if now_ns >= wake_ns {
                last = Some((which, wake_ns, now_ns - wake_ns)).filter(|_| !machine.has_come());
            }
        }
    }
    if has_waited {
        machine.end_waits();
    }
    if let Some((which, wake_ns, _)) = last {
        // A margin also covers what comes between waking up and spinning, such as the call that restores the slack.
        margins.learn(which, machine.system_ns().saturating_sub(wake_ns));
    }
    loop {
        // What it waits for is checked before the time, so what came before the deadline counts.
        if machine.has_come() {
            return None;
        }
        let now_ns = machine.now_ns();
        // The library's clock may be a few nanoseconds ahead of the system's, and the guarantee holds for both.
        if now_ns >= deadline_ns && machine.system_ns() >= deadline_ns {
            return Some(now_ns - deadline_ns);
        }
        machine.relax();
    }
}
