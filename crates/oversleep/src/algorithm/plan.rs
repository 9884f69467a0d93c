//! Decides how to spend the time left until a deadline: wait, wait again, or spin, whichever is expected to cost least.
//!
//! Pure: costs, lateness and times in, steps out.
//!
//! A wait costs CPU time of its own: 8 µs on one machine, 18 to 32 µs on another (a 2-vCPU KVM guest). A later wake-up
//! saves spinning and risks lateness. So the plan learns both for long waits, by duration and by how the wait before ended,
//! and for the short ones that may follow, the approaches. It compares: spin; wait and spin; wait, approach and spin.

use core::fmt;

use super::contention::Contention;
use super::cost::Cost;
use super::lateness::{Lateness, Margin};
use super::objective::{FIXED_MARGIN_NS, Objective};
use super::tail::{MILLION, Missed, Share, Uncovered, Yardstick};

/// Durations up to 2^16, 2^18, … ns (66 µs, 262 µs, 1.05 ms, 4.2 ms), and longer. A processor that idles longer reaches
/// deeper idle states.
const CLASSES: usize = 5;
/// A wait is either punctual or slow, and most often as the one before it: a processor or a host stays in one state for
/// tens to hundreds of sleeps. On a 2-vCPU KVM guest (EPYC, Linux 6.18, 2026-11-26) waits of 1 ms ended 25 µs late (p99: 49)
/// after a punctual one and 49 µs late (p99: 75) after a slow one. One margin for both would spin too long after the
/// former or be late after the latter.
const CONTEXTS: usize = 2;
/// The first of them: the wait before was punctual, and just before this one. All other waits are in the second.
const SETTLED: usize = 0;
const UNSETTLED: usize = 1;
/// After a pause as long as this, the wait before says nothing about the next one.
const PAUSE_NS: u64 = 1 << 24;
/// How many waits may follow the first one.
pub(crate) const APPROACHES: usize = 2;
/// What a sleep costs besides waits and spin: slack set and restored, clocks read (a 2-vCPU KVM guest, 2026-11-29).
const OWN_COST_NS: u64 = 1_500;
/// What a slice set and restored costs (on the same guest).
const SLICE_COST_NS: u64 = 4_000;
const ASSUMED_WAIT_NS: [u64; 4] = [30_000, 30_000, 30_000, 66_000];
const ASSUMED_APPROACH_NS: [u64; 4] = [8_000, 8_000, 8_000, 12_000];
/// The shortest wait worth requesting.
const SHORTEST_NS: u64 = 4_000;
/// A sleep shorter than this may begin with an approach.
const SHORT_NS: u64 = 1 << 16;
/// The library's clock may be this far behind the system's, by which waits end.
const BEHIND_NS: u64 = 1_000;
/// After this many sleeps without an approach, the initial assumptions return, so that approaches are tried again.
const FORGET: u16 = 1_000;

/// What to do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Have the system wake the thread this long before the deadline, and report how it went.
    Wait { margin_ns: u64 },
    /// Do the same in a short wait after that, the approach of this number.
    Approach { number: usize, margin_ns: u64 },
    /// Spin until the deadline.
    Spin,
}

/// How a wait went.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ended {
    pub(crate) lateness_ns: u64,
    /// Its CPU time, if it was measured.
    pub(crate) cpu_ns: Option<u64>,
}

/// Waits of one kind: their lateness, and the margin that follows from it.
#[derive(Clone)]
struct Kind {
    lateness: Lateness,
    /// New values until the margin is computed again.
    due: u8,
    margin: Margin,
    /// The CPU time that follows with that margin, on average.
    cpu_ns: u64,
    yardstick: Yardstick,
    /// The lateness from which a wait counts as slow.
    slow_ns: u64,
    /// The lateness from which a wait counts as stalled.
    stall_ns: u64,
}

/// What has been learned about waits. All zero at first, so that a static takes no space in the program's file.
#[derive(Clone)]
pub(crate) struct Plan {
    waits: [[Kind; CLASSES]; CONTEXTS],
    approach: [Kind; CONTEXTS],
    wait_cost: Cost,
    approach_cost: Cost,
    /// Sleeps since the last approach.
    without_approach: u16,
    /// The context of the next wait, unless the pause before it is long.
    context: usize,
    /// Slow waits since the last punctual one.
    slow_in_a_row: u16,
    /// The deadline of the last sleep.
    deadline_ns: u64,
    contention: Contention,
    /// How many waits are in the second context.
    unsettled: Share,
    uncovered: [Uncovered; CLASSES],
    missed: Missed,
    /// How much of a fixed margin the thread's own timer slack uses up.
    slack_ns: u64,
}

impl Kind {
    const NEW: Kind = Kind {
        lateness: Lateness::new(),
        due: 0,
        margin: Margin { ns: 0, cost_ns: 0 },
        cpu_ns: 0,
        yardstick: Yardstick { cpu_ns: 0, late_ppm: 0 },
        slow_ns: 0,
        stall_ns: 0,
    };

    fn learn(&mut self, lateness_ns: u64) {
        self.lateness.learn(lateness_ns);
        self.due = self.due.saturating_sub(1);
    }

    /// Computes the margin if that is due: it takes a microsecond or two, and moves slowly once there are many values.
    /// Says whether it was.
    fn update(&mut self, assumed_ns: [u64; 4], objective: Objective, after: impl Fn(i64) -> u64) -> bool {
        if self.lateness.count() == 0 {
            self.lateness.assume(assumed_ns);
        }
        if self.due == 0 {
            self.slow_ns = self.lateness.slow_ns();
            self.stall_ns = self.lateness.stall_ns();
            self.margin = self.lateness.cheapest(objective, after);
            self.due = (self.lateness.count() / 16).clamp(1, 16) as u8;
            return true;
        }
        false
    }
}

impl Plan {
    pub(crate) const fn new() -> Plan {
        Plan {
            waits: [const { [Kind::NEW; CLASSES] }; CONTEXTS],
            approach: [Kind::NEW; CONTEXTS],
            wait_cost: Cost::NEW,
            approach_cost: Cost::NEW,
            without_approach: 0,
            context: SETTLED,
            slow_in_a_row: 0,
            deadline_ns: 0,
            contention: Contention::NONE,
            unsettled: Share::NONE,
            uncovered: [Uncovered::NOTHING; CLASSES],
            missed: Missed::NOTHING,
            slack_ns: 0,
        }
    }

    /// Computes every margin anew at its next use: for a new objective.
    #[cfg(feature = "std")]
    pub(crate) fn recompute(&mut self) {
        self.waits.as_flattened_mut().iter_mut().chain(&mut self.approach).for_each(|kind| kind.due = 0);
    }

    /// Whether the sleep that begins should ask the scheduler for short slices: another thread had the processor at the end
    /// of a recent one, or the quantile is missed. (On a KVM guest with an idle machine's daemons, EPYC, Linux 6.18,
    /// 2026-12-01, slices halved the sleeps that ended more than 2 µs late: 2.4 % of 11,000, beside 4.3 %.)
    pub(crate) fn wants_slice(&self) -> bool {
        self.contention.is_likely() || self.missed.wants_slice()
    }

    /// Whether the next wait (or approach) should report its CPU time.
    pub(crate) fn wants_cost(&self, step: Step) -> bool {
        match step {
            Step::Wait { .. } => self.wait_cost.is_due(),
            Step::Approach { .. } => self.approach_cost.is_due(),
            Step::Spin => false,
        }
    }

    /// The first step of a sleep of `ahead_ns` that begins now.
    pub(crate) fn first(&mut self, now_ns: u64, ahead_ns: u64, objective: Objective) -> Step {
        if ahead_ns == 0 {
            return Step::Spin;
        }
        if now_ns.saturating_sub(self.deadline_ns) > PAUSE_NS {
            self.context = UNSETTLED;
        }
        self.deadline_ns = now_ns.saturating_add(ahead_ns);
        let class = class(ahead_ns);
        // What follows a wait, if it ends early enough for an approach, follows a punctual one.
        self.approaches(objective);
        let following = self.approach(SETTLED);
        let approach = self.approach(self.context);
        let wait_cost_ns = self.wait_cost.ns();
        let [settled, unsettled] = &mut self.waits;
        let kind = match self.context {
            SETTLED if settled[class].lateness.count() == 0 => {
                settled[class] = unsettled[class].clone();
                &mut settled[class]
            }
            SETTLED => &mut settled[class],
            _ => &mut unsettled[class],
        };
        let is_contended = self.contention.is_certain();
        let least = if is_contended { objective.beside_busy_threads() } else { objective.least() };
        if kind.update(ASSUMED_WAIT_NS, least, |left_ns| following.after(left_ns, least))
            && let Some(late_one_in) = objective.late_one_in
        {
            let fixed_ns = FIXED_MARGIN_NS.saturating_sub(self.slack_ns);
            let of_fixed = |after: fn(i64) -> u64| kind.lateness.mean(objective, fixed_ns, after);
            let (fixed_cpu_ns, fixed_late_ppm) =
                (of_fixed(spun_ns), of_fixed(|left_ns| u64::from(left_ns < 0) * MILLION));
            let fixed_cpu_ns = fixed_cpu_ns.saturating_add(wait_cost_ns);
            let yardstick = Yardstick { cpu_ns: fixed_cpu_ns, late_ppm: fixed_late_ppm };
            let slice_ns = if self.missed.wants_slice() { SLICE_COST_NS } else { 0 };
            let own_ns = wait_cost_ns.saturating_add(OWN_COST_NS + slice_ns);
            let cpu_ns = |margin_ns: u64| {
                let after_ns = kind.lateness.mean(objective, margin_ns, |left_ns| following.cpu_ns(left_ns, objective));
                after_ns.saturating_add(own_ns)
            };
            let mut least_ns = kind.margin.ns;
            if yardstick.dear_ns(cpu_ns(least_ns)) > 0 {
                least_ns = least_ns.min(yardstick.shorten(fixed_ns.saturating_sub(OWN_COST_NS)));
            }
            // What comes is a little later than what has been, so half of what may be late is aimed at. Where that is
            // missed, the margin is at least the fixed one, which an approach makes cheaper.
            let late_one_in = u64::from(late_one_in.get());
            let of_aim_ns = kind.lateness.covering_ns(objective, 2 * late_one_in);
            let is_missed = self.missed.judge(late_one_in, fixed_late_ppm) && !is_contended;
            let least_covering_ns = if is_missed { fixed_ns.min(kind.lateness.longest_ns(objective)) } else { 0 };
            let covering_ns = of_aim_ns.max(least_covering_ns);
            let uncovered_ns = if is_contended { covering_ns } else { self.uncovered[class].ns() };
            let margin_ns = covering_ns.saturating_sub(uncovered_ns).max(least_ns);
            (kind.margin.ns, kind.cpu_ns, kind.yardstick) = (margin_ns, cpu_ns(margin_ns), yardstick);
            let kinds = self.waits.each_ref().map(|classes| &classes[class]);
            let of_both = |figure: fn(&Kind) -> u64| self.unsettled.mean(kinds.map(figure));
            let yardstick = Yardstick {
                cpu_ns: of_both(|kind| kind.yardstick.cpu_ns),
                late_ppm: of_both(|kind| kind.yardstick.late_ppm),
            };
            if !is_contended {
                self.uncovered[class].adjust(yardstick.dear_ns(of_both(|kind| kind.cpu_ns)));
            }
        }
        let margin = self.waits[self.context][class].margin;
        self.contention.begin_sleep();
        let spin_ns = if ahead_ns <= objective.budget_ns { ahead_ns } else { u64::MAX };
        let is_wait_possible = margin.ns.saturating_add(SHORTEST_NS) <= ahead_ns || objective.budget_ns == 0;
        let wait_ns = if is_wait_possible { wait_cost_ns.saturating_add(margin.cost_ns) } else { u64::MAX };
        let is_approach_possible = approach.from_ns <= ahead_ns && objective.budget_ns > 0;
        let is_short = ahead_ns < SHORT_NS || !is_wait_possible;
        let approach_ns = if is_approach_possible && is_short { approach.cost_ns } else { u64::MAX };
        let least_ns = spin_ns.min(wait_ns).min(approach_ns);
        if least_ns == u64::MAX {
            // Too long to spin, too short for this machine's lateness: wait and accept the lateness.
            Step::Wait { margin_ns: objective.budget_ns.min(ahead_ns.saturating_sub(SHORTEST_NS)) }
        } else if spin_ns == least_ns {
            Step::Spin
        } else if wait_ns == least_ns {
            Step::Wait { margin_ns: margin.ns }
        } else {
            Step::Approach { number: 0, margin_ns: approach.margin_ns }
        }
    }

    /// The next step after `approaches` approaches, with `left_ns` to go.
    pub(crate) fn then(&mut self, approaches: usize, left_ns: u64, objective: Objective) -> Step {
        if self.approach[self.context].lateness.count() == 0 {
            self.approaches(objective);
        }
        let approach = self.approach(self.context);
        let must_wait = left_ns > objective.budget_ns.saturating_add(BEHIND_NS);
        let worth_it = left_ns >= approach.from_ns && objective.budget_ns > 0;
        if left_ns == 0 || !must_wait && (approaches == APPROACHES || !worth_it) {
            self.without_approach = if approaches == 0 { self.without_approach + 1 } else { 0 };
            if self.without_approach == FORGET {
                (self.approach, self.approach_cost, self.without_approach) = ([Kind::NEW; CONTEXTS], Cost::NEW, 0);
            }
            self.missed.ended(left_ns == 0);
            return Step::Spin;
        }
        let margin_ns = approach.margin_ns.min(objective.budget_ns);
        Step::Approach { number: approaches.min(APPROACHES - 1), margin_ns }
    }

    /// Adds the first wait of a sleep of `ahead_ns`.
    pub(crate) fn learn_wait(&mut self, ahead_ns: u64, ended: Ended) {
        let class = class(ahead_ns);
        self.unsettled.learn(self.context == UNSETTLED);
        let kind = &mut self.waits[self.context][class];
        let is_stalled = ended.lateness_ns > kind.stall_ns;
        self.missed.waited(is_stalled);
        if is_stalled {
            self.contention.stalled();
        }
        kind.learn(ended.lateness_ns);
        self.wait_cost.learn(ended.cpu_ns);
        let own_slow_ns = kind.slow_ns;
        let settled = &mut self.waits[SETTLED][class];
        let slow_ns = if settled.lateness.count() == 0 { own_slow_ns } else { settled.slow_ns };
        if ended.lateness_ns <= slow_ns {
            (self.context, self.slow_in_a_row) = (SETTLED, 0);
            return;
        }
        (self.context, self.slow_in_a_row) = (UNSETTLED, self.slow_in_a_row + 1);
        if self.slow_in_a_row == FORGET {
            // No wait is as punctual as they were before, so that is a different machine now.
            (*settled, self.slow_in_a_row) = (Kind::NEW, 0);
        }
    }

    /// Notes the timer slack that the thread had when a sleep began.
    pub(crate) fn note_slack(&mut self, slack_ns: u64) {
        self.slack_ns = slack_ns;
    }

    /// Adds an approach.
    pub(crate) fn learn_approach(&mut self, ended: Ended) {
        let kind = &mut self.approach[self.context];
        let is_stalled = ended.lateness_ns > kind.stall_ns;
        self.missed.waited(is_stalled);
        if is_stalled {
            self.contention.stalled();
        }
        kind.learn(ended.lateness_ns);
        self.approach_cost.learn(ended.cpu_ns);
    }

    /// Computes the approaches anew, before a sleep waits: after a wait, the deadline is near.
    fn approaches(&mut self, objective: Objective) {
        let objective = objective.of_approach();
        for kind in &mut self.approach {
            if kind.update(ASSUMED_APPROACH_NS, objective, |left_ns| objective.of(left_ns)) {
                kind.cpu_ns = kind.lateness.mean(objective, kind.margin.ns, spun_ns);
            }
        }
    }

    fn approach(&self, context: usize) -> Approach {
        let Kind { margin, cpu_ns, .. } = self.approach[context];
        // Until an approach was measured, it is assumed to cost as much as a long wait.
        let own_ns = if self.approach_cost.is_unknown() { self.wait_cost.ns() } else { self.approach_cost.ns() };
        let (cost_ns, cpu_ns) = (own_ns.saturating_add(margin.cost_ns), own_ns.saturating_add(cpu_ns));
        let from_ns = cost_ns.max(margin.ns.saturating_add(SHORTEST_NS));
        Approach { margin_ns: margin.ns, cost_ns, cpu_ns, from_ns }
    }
}

/// A line instead of thousands of counts, since programs print sleepers and pacers inside their own types.
impl fmt::Debug for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut printed = f.debug_struct("Plan");
        printed.field("wait_cost_ns", &self.wait_cost.ns()).field("wants_slice", &self.wants_slice());
        printed.finish_non_exhaustive()
    }
}

/// An approach, before it is made.
#[derive(Clone, Copy)]
struct Approach {
    margin_ns: u64,
    /// Its CPU time, and what follows it.
    cost_ns: u64,
    /// The CPU time alone.
    cpu_ns: u64,
    /// From this much time left on, it costs less than spinning.
    from_ns: u64,
}

impl Approach {
    /// The cost of waking up this long before the deadline (negative: after it).
    fn after(self, left_ns: i64, objective: Objective) -> u64 {
        if self.is_made(left_ns, objective) { self.cost_ns } else { objective.of(left_ns) }
    }

    /// The CPU time of that.
    fn cpu_ns(self, left_ns: i64, objective: Objective) -> u64 {
        if self.is_made(left_ns, objective) { self.cpu_ns } else { spun_ns(left_ns) }
    }

    fn is_made(self, left_ns: i64, objective: Objective) -> bool {
        let left_ns = u64::try_from(left_ns).unwrap_or(0);
        left_ns >= self.from_ns || left_ns > objective.budget_ns
    }
}

/// How long a sleep spins that is this long before its deadline; not at all after it.
fn spun_ns(left_ns: i64) -> u64 {
    u64::try_from(left_ns).unwrap_or(0)
}

fn class(ns: u64) -> usize {
    const FIRST: u32 = 16;
    let octave = ns.checked_ilog2().unwrap_or(0);
    ((octave.saturating_sub(FIRST - 2) / 2) as usize).min(CLASSES - 1)
}

#[cfg(test)]
#[path = "plan_tests.rs"]
mod tests;
