//! What to do with the time left until a deadline: wait for most of it, wait again, or spin.
//!
//! Pure: times and lateness in, steps out.
//!
//! After a long wait a thread wakes tens of microseconds late, and spinning away a margin for that would be most of the
//! cost of an exact sleep. After a wait of tens of microseconds it wakes only a few late. So a long sleep has one long
//! wait that ends early enough, and two short ones, the approaches, for the rest. If the system's timers are too coarse
//! for that, there are no approaches.

use super::margin::Learned;

/// Durations up to 2^16, 2^18, … ns (66 µs, 262 µs, 1.05 ms, 4.2 ms, 17 ms, 67 ms), and longer.
const CLASSES: usize = 7;
/// A sleep without a wait is spun if it is at most this many budgets long.
const SPIN_BUDGETS: u64 = 5;
/// The CPU time that a wait costs, about. Anything shorter is spun.
const WAIT_COST_NS: u64 = 8_000;
/// How many waits may follow the first one.
pub(super) const APPROACHES: usize = 2;
/// How far beyond the budget the margins of a long wait and of each approach may reach when another wait, not the spin,
/// covers what they leave.
const WAIT_REACH_NS: u64 = 180_000;
const APPROACH_REACH_NS: [u64; APPROACHES] = [40_000, 0];
/// Approaches stop paying off when the margin of the last one exceeds the budget by more than this.
const LAST_MARGIN_NS: u64 = 40_000;
/// A median lateness of long waits above this means a coarse timer, which would end an approach just as late.
const COARSE_NS: u64 = 150_000;
/// After this many sleeps without an approach, approaches are tried again.
const FORGET: u32 = 1_000;
/// This many waits in a row that ended far too early, with the rest spun, mean that the machine has improved.
const EARLY: u8 = 16;
/// The shortest sleep that could have an approach.
const APPROACHABLE_NS: u64 = 33_000;

/// What to do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Have the system wake the thread this long before the deadline, and report the lateness.
    Wait { margin_ns: u64 },
    /// Do the same in a short wait after that, the approach of this number.
    Approach { number: usize, margin_ns: u64 },
    /// Spin until the deadline.
    Spin,
}

/// What a sleeper has learned about waits.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    waits: [Learned; CLASSES],
    approaches: [Learned; APPROACHES],
    /// Sleeps since the last approach that could have had one.
    without_approach: u32,
    /// For each class, waits in a row that ended so early that their sleep was mostly spun.
    early: [u8; CLASSES],
}

impl Plan {
    pub(super) const fn new() -> Plan {
        Plan { waits: [Plan::WAIT; CLASSES], approaches: Plan::APPROACHES, without_approach: 0, early: [0; CLASSES] }
    }

    const WAIT: Learned = Learned::assuming([30_000, 30_000, 30_000, 66_000], 30_000, 100_000);

    const APPROACHES: [Learned; APPROACHES] = [
        Learned::assuming([8_000, 8_000, 8_000, 12_000], 8_000, 50_000),
        Learned::assuming([9_000, 9_000, 9_000, 12_000], 9_000, 25_000),
    ];

    /// The first step of a sleep of `ahead_ns`. `budget_ns` is how far a margin that is spun may exceed the median.
    pub(super) fn first(&mut self, ahead_ns: u64, budget_ns: u64) -> Step {
        let class = class(ahead_ns);
        let margin_ns = self.waits[class].margin_within_ns(self.wait_reach_ns(class, budget_ns));
        if margin_ns.saturating_add(WAIT_COST_NS) <= ahead_ns {
            return Step::Wait { margin_ns };
        }
        match self.then(ahead_ns, 0, ahead_ns, budget_ns) {
            // The sleep is too short for this machine's lateness and too long to spin: wait and accept the lateness.
            Step::Spin if ahead_ns > budget_ns.saturating_mul(SPIN_BUDGETS).max(WAIT_COST_NS) => {
                Step::Wait { margin_ns: ahead_ns - WAIT_COST_NS / 2 }
            }
            Step::Spin => {
                if ahead_ns >= APPROACHABLE_NS && !self.approaches_pay(class, budget_ns) {
                    self.went_without_approach();
                }
                Step::Spin
            }
            step => step,
        }
    }

    /// The next step of a sleep of `ahead_ns` after `approaches` approaches, with `left_ns` to go.
    pub(super) fn then(&self, ahead_ns: u64, approaches: usize, left_ns: u64, budget_ns: u64) -> Step {
        if !self.approaches_pay(class(ahead_ns), budget_ns) {
            return Step::Spin;
        }
        let margins = (approaches..APPROACHES).map(|number| (number, self.approach_margin_ns(number, budget_ns)));
        let mut worth_it = margins.filter(|(_, margin_ns)| margin_ns.saturating_add(WAIT_COST_NS) <= left_ns);
        worth_it.next().map_or(Step::Spin, |(number, margin_ns)| Step::Approach { number, margin_ns })
    }

    /// Adds the lateness of the first wait of a sleep of `ahead_ns`, requested to end `margin_ns` before the deadline.
    pub(super) fn learn_wait(&mut self, ahead_ns: u64, margin_ns: u64, lateness_ns: u64, budget_ns: u64) {
        let class = class(ahead_ns);
        self.waits[class].learn(lateness_ns, self.wait_reach_ns(class, budget_ns));
        let left_ns = margin_ns.saturating_sub(lateness_ns);
        let is_spun = left_ns > budget_ns.saturating_mul(SPIN_BUDGETS).max(WAIT_COST_NS);
        self.early[class] = if is_spun && !self.approaches_pay(class, budget_ns) { self.early[class] + 1 } else { 0 };
        if self.early[class] == EARLY {
            // What was learned comes from a busier machine or a coarser timer.
            self.waits[class] = Plan::WAIT;
            self.approaches = Plan::APPROACHES;
            self.early[class] = 0;
        }
        self.went_without_approach();
    }

    fn went_without_approach(&mut self) {
        self.without_approach += 1;
        if self.without_approach >= FORGET {
            self.approaches = Plan::APPROACHES;
            self.without_approach = 0;
        }
    }

    /// How far the margin of a long wait may exceed the median.
    fn wait_reach_ns(&self, class: usize, budget_ns: u64) -> u64 {
        budget_ns.saturating_add(if self.approaches_pay(class, budget_ns) { WAIT_REACH_NS } else { 0 })
    }

    /// Adds the lateness of an approach.
    pub(super) fn learn_approach(&mut self, number: usize, lateness_ns: u64, budget_ns: u64) {
        self.approaches[number].learn(lateness_ns, budget_ns.saturating_add(APPROACH_REACH_NS[number]));
        self.without_approach = 0;
    }

    fn approaches_pay(&self, class: usize, budget_ns: u64) -> bool {
        self.waits[class].median_ns() <= COARSE_NS
            && self.approach_margin_ns(APPROACHES - 1, budget_ns) <= budget_ns.saturating_add(LAST_MARGIN_NS)
    }

    fn approach_margin_ns(&self, number: usize, budget_ns: u64) -> u64 {
        self.approaches[number].margin_within_ns(budget_ns.saturating_add(APPROACH_REACH_NS[number]))
    }
}

fn class(ns: u64) -> usize {
    const FIRST: u32 = 16;
    let octave = ns.checked_ilog2().unwrap_or(0);
    ((octave.saturating_sub(FIRST - 2) / 2) as usize).min(CLASSES - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BUDGET_NS: u64 = 16_000;
    const MS: u64 = 1_000_000;

    /// Makes `sleeps` sleeps of 1 ms on a system whose long waits are `late_ns` late and whose short ones are
    /// `short_ns` late, in turn. Returns how long the last sleep spun and how late it ended.
    fn slept(plan: &mut Plan, sleeps: usize, late_ns: &[u64], short_ns: &[u64]) -> (u64, u64) {
        let mut spun_and_late_ns = (0, 0);
        let (mut late_ns, mut short_ns) = (late_ns.iter().cycle(), short_ns.iter().cycle());
        for _ in 0..sleeps {
            let mut left_ns = MS as i64;
            let mut step = plan.first(MS, BUDGET_NS);
            while step != Step::Spin {
                let done = match step {
                    Step::Approach { number, margin_ns } => {
                        let lateness_ns = *short_ns.next().unwrap();
                        left_ns = margin_ns as i64 - lateness_ns as i64;
                        plan.learn_approach(number, lateness_ns, BUDGET_NS);
                        number + 1
                    }
                    Step::Wait { margin_ns } => {
                        let lateness_ns = *late_ns.next().unwrap();
                        left_ns = margin_ns as i64 - lateness_ns as i64;
                        plan.learn_wait(MS, margin_ns, lateness_ns, BUDGET_NS);
                        0
                    }
                    Step::Spin => unreachable!(),
                };
                step = plan.then(MS, done, left_ns.max(0) as u64, BUDGET_NS);
            }
            spun_and_late_ns = (left_ns.max(0) as u64, (-left_ns).max(0) as u64);
        }
        spun_and_late_ns
    }

    #[test]
    fn classes_cover_every_duration() {
        assert_eq!(class(0), 0);
        assert_eq!(class((1 << 16) - 1), 0);
        assert_eq!(class(1 << 16), 1);
        assert_eq!(class(MS), class(300_000));
        assert_ne!(class(MS), class(5 * MS));
        assert_eq!(class(u64::MAX), CLASSES - 1);
    }

    #[test]
    fn a_long_sleep_waits_three_times_and_spins_little() {
        let mut plan = Plan::new();
        // Long waits end 20 to 100 µs late, short ones 6 to 10 µs.
        let late_ns = [20_000, 30_000, 30_000, 40_000, 100_000];
        let (spun_ns, late_ns) = slept(&mut plan, 2_000, &late_ns, &[6_000, 8_000, 10_000]);
        assert_eq!(late_ns, 0);
        assert!(spun_ns <= 12_000, "{spun_ns}");
        for late_ns in 40..100 {
            let (spun_ns, _) = slept(&mut plan, 1, &[late_ns * 1_000], &[36_000, 5_000, 50_000]);
            assert!(spun_ns <= BUDGET_NS + LAST_MARGIN_NS + WAIT_COST_NS, "{late_ns}: {spun_ns}");
        }
        let Step::Wait { margin_ns } = plan.first(MS, BUDGET_NS) else { panic!("no wait") };
        assert!((100_000..110_000).contains(&margin_ns), "{margin_ns}");
    }

    #[test]
    fn approaches_are_made_while_they_save_something() {
        let plan = Plan::new();
        let [far_ns, near_ns] = [0, 1].map(|number: usize| plan.approaches[number].margin_ns());
        let then = |approaches, left_ns| plan.then(MS, approaches, left_ns, BUDGET_NS);
        let (far, near) =
            (Step::Approach { number: 0, margin_ns: far_ns }, Step::Approach { number: 1, margin_ns: near_ns });
        assert_eq!(then(0, far_ns + WAIT_COST_NS), far);
        assert_eq!(then(0, far_ns + WAIT_COST_NS - 1), near);
        assert_eq!(then(1, far_ns + WAIT_COST_NS), near);
        assert_eq!(then(1, near_ns + WAIT_COST_NS - 1), Step::Spin);
        assert_eq!(then(2, MS), Step::Spin);
        assert_eq!(then(0, 0), Step::Spin);
    }

    #[test]
    fn coarse_timers_get_no_approach() {
        let mut plan = Plan::new();
        // With 0.5 ms the first few sleeps may try an approach; later ones have only the margin of their one wait.
        slept(&mut plan, 100, &[480_000, 500_000, 520_000], &[500_000]);
        assert_eq!(plan.then(MS, 0, 140_000, BUDGET_NS), Step::Spin);
        let Step::Wait { margin_ns } = plan.first(MS, BUDGET_NS) else { panic!("no wait") };
        assert!(margin_ns <= 500_000 * 17 / 16 + BUDGET_NS, "{margin_ns}");
    }

    #[test]
    fn approaches_that_end_late_are_given_up_and_tried_again() {
        let mut plan = Plan::new();
        let late_ns = [20_000, 20_000, 20_000, 90_000];
        slept(&mut plan, 60, &late_ns, &[300_000]);
        assert!(!plan.approaches_pay(class(MS), BUDGET_NS));
        // Whatever disturbed them is over.
        slept(&mut plan, FORGET as usize, &late_ns, &[8_000]);
        let (spun_ns, late_ns) = slept(&mut plan, 41, &late_ns, &[8_000]);
        assert!(plan.approaches_pay(class(MS), BUDGET_NS) && plan.without_approach == 0);
        assert_eq!(late_ns, 0);
        assert!(spun_ns <= 5_000, "{spun_ns}");
    }

    #[test]
    fn without_an_approach_the_budget_bounds_what_is_spun() {
        let mut plan = Plan::new();
        let spread: Vec<u64> = (0..100).map(|i| 20_000 + i * 1_000).collect();
        for round in 0..20 {
            slept(&mut plan, 40, &spread[round * 5..], &[300_000]);
            if !plan.approaches_pay(class(MS), BUDGET_NS) {
                let median_ns = plan.waits[class(MS)].median_ns();
                let Step::Wait { margin_ns } = plan.first(MS, BUDGET_NS) else { panic!("no wait") };
                assert!(margin_ns <= median_ns + BUDGET_NS, "{margin_ns} {median_ns}");
            }
        }
        assert!(!plan.approaches_pay(class(MS), BUDGET_NS));
    }

    #[test]
    fn an_improved_machine_is_noticed_within_a_few_sleeps() {
        let mut plan = Plan::new();
        // A coarse timer for a while, then a fine one: at first most of each sleep is spun.
        slept(&mut plan, 200, &[15_600_000], &[15_600_000]);
        let (spun_ns, _) = slept(&mut plan, 1, &[20_000], &[8_000]);
        assert!(spun_ns > 900_000, "{spun_ns}");
        slept(&mut plan, usize::from(EARLY), &[20_000], &[8_000]);
        let (spun_ns, late_ns) = slept(&mut plan, 20, &[20_000, 40_000], &[8_000]);
        assert!(spun_ns < 64_000 && late_ns == 0, "{spun_ns} {late_ns}");
    }

    #[test]
    fn a_smaller_budget_applies_from_the_next_sleep_on() {
        let mut plan = Plan::new();
        // Learned with a large budget: most short waits end within 8 µs, the others within 30 µs.
        for n in 0..200 {
            plan.learn_approach(1, if n % 3 == 0 { 30_000 } else { 8_000 }, MS);
        }
        let margin_ns = |budget_ns| match plan.then(MS, 1, MS, budget_ns) {
            Step::Approach { number: 1, margin_ns } => margin_ns,
            step => panic!("{step:?}"),
        };
        let median_ns = plan.approaches[1].median_ns();
        assert!(margin_ns(MS) >= 30_000 && (8_000..8_600).contains(&median_ns));
        assert_eq!((margin_ns(0), margin_ns(5_000)), (median_ns, median_ns + 5_000));
    }

    #[test]
    fn sleeps_too_short_for_a_wait_try_an_approach_again() {
        let mut plan = Plan::new();
        for _ in 0..20 {
            plan.learn_approach(1, 900_000, BUDGET_NS);
            plan.learn_wait(70_000, 66_000, 100_000, BUDGET_NS);
        }
        plan.without_approach = 0;
        let steps = (0..=FORGET).map(|_| plan.first(70_000, BUDGET_NS)).collect::<Vec<_>>();
        assert_eq!(steps[0], Step::Spin);
        assert_eq!(steps[FORGET as usize], Step::Approach { number: 0, margin_ns: 50_000 });
    }

    #[test]
    fn only_short_sleeps_spin_all_the_way() {
        let mut plan = Plan::new();
        assert_eq!(plan.first(3_000, BUDGET_NS), Step::Spin);
        assert_eq!(plan.first(32_000, BUDGET_NS), Step::Spin);
        // This is shorter than the margin of a long wait, but long enough for a short one.
        assert_eq!(plan.first(60_000, BUDGET_NS), Step::Approach { number: 0, margin_ns: 50_000 });
        // On a machine with a 15.6 ms tick, a sleep of 1 ms waits and ends late; one of 80 µs spins.
        for _ in 0..20 {
            plan.learn_wait(MS, 100_000, 15_600_000, BUDGET_NS);
            plan.learn_wait(80_000, 76_000, 15_600_000, BUDGET_NS);
        }
        assert_eq!(plan.first(MS, BUDGET_NS), Step::Wait { margin_ns: 996_000 });
        assert_eq!(plan.first(80_000, BUDGET_NS), Step::Spin);
        assert_eq!(plan.first(80_000, 0), Step::Wait { margin_ns: 76_000 });
    }
}
