//! The plan in virtual time, on machines that are distributions of lateness.

use proptest::prelude::*;

use super::*;

const MS: u64 = 1_000_000;
const DEFAULT: Objective = Objective::DEFAULT;
/// A microsecond of lateness is worth one of CPU time.
const EVEN: Objective = Objective::of_price(1);

/// Linux's default timer slack, which the plan's waits don't have.
const SLACK_NS: u64 = 50_000;

impl Plan {
    /// A new one that takes the processor to be wanted by others, for all sleeps of a test.
    pub(crate) fn beside_busy_threads() -> Plan {
        Plan { contention: Contention::LASTING, ..Plan::new() }
    }
}

/// Reproducible random numbers (a linear congruential generator).
struct Dice(u64);

impl Dice {
    /// A random number below `n`.
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }

    fn between(&mut self, from: u64, to: u64) -> u64 {
        from + self.below(to - from)
    }
}

/// When a wait requested to end at `at_ns` ends, given the time at which it begins.
type End = fn(&mut Dice, at_ns: u64, now_ns: u64) -> u64;

struct Machine {
    end: End,
    wait_cost_ns: u64,
    dice: Dice,
    now_ns: u64,
}

/// The totals of some sleeps.
#[derive(Debug, Default)]
struct Sum {
    sleeps: u64,
    waits: u64,
    cpu_ns: u64,
    spun_max_ns: u64,
    lateness_ns: Vec<u64>,
}

impl Sum {
    fn cpu_us(&self) -> u64 {
        self.cpu_ns / self.sleeps / 1_000
    }

    /// How many sleeps per thousand were later than this.
    fn later_than(&self, ns: u64) -> u64 {
        self.lateness_ns.iter().filter(|&&late_ns| late_ns > ns).count() as u64 * 1_000 / self.sleeps
    }

    fn mean_lateness_ns(&self) -> u64 {
        self.lateness_ns.iter().sum::<u64>() / self.sleeps
    }
}

impl Machine {
    fn new(end: End, wait_cost_ns: u64) -> Machine {
        Machine { end, wait_cost_ns, dice: Dice(7), now_ns: 12_345 }
    }

    /// 30 µs of work, then a sleep, again and again.
    fn sleeps(&mut self, plan: &mut Plan, sleeps: u64, ahead_ns: u64, objective: Objective) -> Sum {
        let mut sum = Sum { sleeps, ..Sum::default() };
        for _ in 0..sleeps {
            self.now_ns += self.dice.between(20_000, 40_000);
            let deadline_ns = self.now_ns + ahead_ns;
            let mut step = plan.first(self.now_ns, ahead_ns, objective);
            loop {
                let (margin_ns, done) = match step {
                    Step::Wait { margin_ns } => (margin_ns, 0),
                    Step::Approach { number, margin_ns } => (margin_ns, number + 1),
                    Step::Spin => break,
                };
                let at_ns = deadline_ns.saturating_sub(margin_ns);
                self.now_ns = (self.end)(&mut self.dice, at_ns.max(self.now_ns), self.now_ns).max(self.now_ns);
                let cpu_ns = plan.wants_cost(step).then_some(self.wait_cost_ns);
                let ended = Ended { lateness_ns: self.now_ns.saturating_sub(at_ns), cpu_ns };
                plan.note_slack(SLACK_NS);
                if done == 0 {
                    plan.learn_wait(ahead_ns, ended)
                } else {
                    plan.learn_approach(ended)
                }
                sum.waits += 1;
                sum.cpu_ns += self.wait_cost_ns;
                step = plan.then(done, deadline_ns.saturating_sub(self.now_ns), objective);
            }
            let spun_ns = deadline_ns.saturating_sub(self.now_ns);
            sum.spun_max_ns = sum.spun_max_ns.max(spun_ns);
            sum.cpu_ns += spun_ns;
            self.now_ns += spun_ns;
            sum.lateness_ns.push(self.now_ns - deadline_ns);
        }
        sum
    }

    /// The same after 500 sleeps of learning.
    fn learned(&mut self, sleeps: u64, ahead_ns: u64, objective: Objective) -> Sum {
        let mut plan = Plan::new();
        self.sleeps(&mut plan, 500, ahead_ns, objective);
        self.sleeps(&mut plan, sleeps, ahead_ns, objective)
    }
}

/// Idle bare metal: short waits are more exact.
fn idle(dice: &mut Dice, at_ns: u64, now_ns: u64) -> u64 {
    let late = if at_ns - now_ns < 200_000 { (4_000, 8_000) } else { (20_000, 80_000) };
    at_ns + dice.between(late.0, late.1)
}

/// A guest whose host is slow to schedule it again: short waits are no more exact, and one in fifty is 0.1 ms late.
fn guest(dice: &mut Dice, at_ns: u64, _: u64) -> u64 {
    at_ns + if dice.below(50) == 0 { dice.between(50_000, 130_000) } else { dice.between(14_000, 32_000) }
}

/// A host that is quiet for 0.3 s and slow for 0.3 s.
fn phases(dice: &mut Dice, at_ns: u64, now_ns: u64) -> u64 {
    at_ns
        + if (now_ns / (300 * MS)).is_multiple_of(2) {
            dice.between(22_000, 28_000)
        } else {
            dice.between(48_000, 60_000)
        }
}

/// Other threads want the processor: one wake-up in twenty ends with their time slice, whatever was requested.
fn hogs(dice: &mut Dice, at_ns: u64, _: u64) -> u64 {
    if dice.below(20) == 0 { (at_ns + 100_000).next_multiple_of(4 * MS) } else { at_ns + dice.between(7_000, 13_000) }
}

/// Windows 11: a high-resolution timer ends on a grid of half a millisecond.
fn half_ms_grid(dice: &mut Dice, at_ns: u64, _: u64) -> u64 {
    at_ns.next_multiple_of(MS / 2) + dice.between(4_000, 12_000)
}

/// A tick of 64 Hz.
fn tick(dice: &mut Dice, at_ns: u64, _: u64) -> u64 {
    at_ns.next_multiple_of(15_625_000) + dice.between(4_000, 12_000)
}

const ALL: [(End, u64); 5] = [(idle, 5_000), (guest, 22_000), (hogs, 9_000), (half_ms_grid, 8_000), (tick, 8_000)];

#[test]
fn the_first_wait_has_the_margin_of_an_unknown_machine() {
    let first = Plan::new().first(0, MS / 2, DEFAULT);
    assert!(matches!(first, Step::Wait { margin_ns: 60_000..80_000 }), "{first:?}");
}

#[test]
fn an_idle_machine_gets_an_approach() {
    let sum = Machine::new(idle, 5_000).learned(2_000, MS, DEFAULT);
    assert!(sum.waits > 2 * sum.sleeps * 17 / 20, "{}", sum.waits);
    // One wait would need a margin of 77 µs, and so 32 µs of CPU time.
    assert!(sum.cpu_us() <= 15 && sum.later_than(1_000) <= 250, "{} {}", sum.cpu_us(), sum.later_than(1_000));
}

#[test]
fn where_waits_are_dear_one_is_made() {
    let sum = Machine::new(guest, 22_000).learned(2_000, MS, EVEN);
    assert!(sum.waits <= sum.sleeps * 21 / 20, "{}", sum.waits);
    // The wait, and 12 µs of spinning. Only the lateness of the host remains.
    assert!(sum.cpu_us() <= 34 && sum.later_than(10_000) <= 60, "{} {}", sum.cpu_us(), sum.later_than(10_000));
    // The default spins for what else the host does, too, but no more than a fixed margin would: 52 µs, where a margin
    // that covers all of it would spin for 107.
    let sum = Machine::new(guest, 22_000).learned(4_000, MS, DEFAULT);
    assert!(sum.cpu_us() <= 74 && sum.later_than(1_000) <= 20, "{} {}", sum.cpu_us(), sum.later_than(1_000));
}

#[test]
fn quiet_and_slow_phases_have_margins_of_their_own() {
    let mut machine = Machine::new(phases, 20_000);
    let sum = machine.learned(8_000, MS, DEFAULT);
    // The wait, and 6 µs of spinning on average. One margin for both phases costs 35 µs.
    assert!(sum.cpu_us() <= 30 && sum.later_than(1_000) <= 20, "{} {}", sum.cpu_us(), sum.later_than(1_000));
}

#[test]
fn a_sleep_after_a_pause_has_the_wider_margin() {
    let (mut plan, mut machine) = (Plan::new(), Machine::new(phases, 20_000));
    machine.sleeps(&mut plan, 4_000, MS, DEFAULT);
    machine.now_ns = machine.now_ns.next_multiple_of(600 * MS);
    machine.sleeps(&mut plan, 100, MS, DEFAULT);
    let margin_ns = |plan: &mut Plan, now_ns| match plan.clone().first(now_ns, MS, DEFAULT) {
        Step::Wait { margin_ns } => margin_ns,
        step => panic!("{step:?}"),
    };
    let (soon_ns, later_ns) = (machine.now_ns + MS, machine.now_ns + 2 * PAUSE_NS);
    assert!((26_000..32_000).contains(&margin_ns(&mut plan, soon_ns)));
    assert!((56_000..68_000).contains(&margin_ns(&mut plan, later_ns)));
}

#[test]
fn a_machine_that_becomes_slow_for_good_is_learned_anew() {
    let (mut plan, mut machine) = (Plan::new(), Machine::new(phases, 20_000));
    machine.sleeps(&mut plan, 4_000, MS, DEFAULT);
    // Twice as slow from now on, with the same two phases.
    machine.end = |dice, at_ns, now_ns| at_ns + 2 * (phases(dice, at_ns, now_ns) - at_ns) + 40_000;
    machine.sleeps(&mut plan, 4_000, MS, DEFAULT);
    let sum = machine.sleeps(&mut plan, 8_000, MS, DEFAULT);
    assert!(sum.cpu_us() <= 45 && sum.later_than(1_000) <= 20, "{} {}", sum.cpu_us(), sum.later_than(1_000));
}

#[test]
fn beside_hogs_the_margin_stays_small_and_slices_are_requested() {
    let mut plan = Plan::new();
    assert!(!plan.wants_slice());
    let mut machine = Machine::new(hogs, 9_000);
    machine.sleeps(&mut plan, 500, MS, DEFAULT);
    let sum = machine.sleeps(&mut plan, 2_000, MS, DEFAULT);
    assert!(sum.cpu_us() <= 14 && (40..=60).contains(&sum.later_than(10_000)), "{} {:?}", sum.cpu_us(), sum.waits);
    // The hogs end with a last stall. Until that is certain, slices are still requested.
    plan.learn_wait(MS, Ended { lateness_ns: 3 * MS, cpu_ns: None });
    let mut machine = Machine::new(idle, 5_000);
    machine.sleeps(&mut plan, 511, MS, DEFAULT);
    assert!(plan.wants_slice());
    machine.sleeps(&mut plan, 8_192, MS, DEFAULT);
    assert!(!plan.wants_slice());
}

/// Most waits end 25 µs late, one in 60 as late as a fixed margin covers or later.
fn with_a_tail(dice: &mut Dice, at_ns: u64, now_ns: u64) -> u64 {
    let late_ns = if dice.below(60) == 0 { dice.between(60_000, 130_000) } else { dice.between(20_000, 30_000) };
    at_ns.max(now_ns) + late_ns
}

#[test]
fn slices_are_requested_where_the_quantile_is_missed() {
    for (end, is_missed) in [(with_a_tail as End, true), (idle, false)] {
        let mut plan = Plan::new();
        Machine::new(end, 15_000).sleeps(&mut plan, 4_000, MS, DEFAULT);
        assert_eq!(plan.wants_slice(), is_missed);
    }
}

#[test]
fn the_margin_covers_a_grid_of_half_a_millisecond() {
    for ahead_ns in [600_000, MS, 3 * MS, 16 * MS] {
        let sum = Machine::new(half_ms_grid, 8_000).learned(2_000, ahead_ns, DEFAULT);
        assert!(sum.later_than(10_000) <= 100, "{ahead_ns}: {} in 1000", sum.later_than(10_000));
        assert!(sum.waits <= sum.sleeps * 21 / 20 && sum.cpu_us() <= 280, "{} {}", sum.waits, sum.cpu_us());
    }
}

#[test]
fn a_coarse_tick_is_not_spun_away() {
    let sum = Machine::new(tick, 8_000).learned(500, MS, DEFAULT);
    assert!(sum.cpu_us() <= DEFAULT.budget_ns / 1_000 && sum.mean_lateness_ns() > MS, "{}", sum.cpu_us());
    // Anything within the budget is spun, and exact.
    let sum = Machine::new(tick, 8_000).learned(500, MS / 2, DEFAULT);
    assert_eq!((sum.waits, sum.mean_lateness_ns()), (0, 0));
}

#[test]
fn a_budget_of_zero_makes_one_wait_and_spins_nothing() {
    let objective = Objective { budget_ns: 0, ..DEFAULT };
    for (end, wait_cost_ns) in ALL {
        for ahead_ns in [1, 500, 30_000, MS, 50 * MS] {
            let sum = Machine::new(end, wait_cost_ns).learned(500, ahead_ns, objective);
            assert_eq!((sum.waits, sum.spun_max_ns, sum.cpu_ns), (500, 0, 500 * wait_cost_ns), "{ahead_ns}");
        }
    }
}

#[test]
fn a_higher_price_buys_less_lateness_with_more_cpu_time() {
    for (end, wait_cost_ns) in [(guest as End, 22_000), (half_ms_grid, 8_000)] {
        let of = |price| Machine::new(end, wait_cost_ns).learned(4_000, MS, Objective::of_price(price));
        let [thrifty, default, precise] = [0, DEFAULT.price, 200].map(of);
        assert!(thrifty.cpu_ns <= default.cpu_ns && default.cpu_ns <= precise.cpu_ns);
        assert!(thrifty.cpu_ns < precise.cpu_ns && thrifty.mean_lateness_ns() > precise.mean_lateness_ns());
    }
}

#[test]
fn a_new_objective_applies_from_the_next_sleep_on() {
    let (mut plan, mut machine) = (Plan::new(), Machine::new(guest, 22_000));
    machine.sleeps(&mut plan, 1_000, MS, Objective::of_price(50));
    plan.recompute();
    let margin_ns = |step| match step {
        Step::Wait { margin_ns } => margin_ns,
        step => panic!("{step:?}"),
    };
    let thrifty_ns = margin_ns(plan.first(machine.now_ns, MS, Objective::of_price(1)));
    assert!((20_000..26_000).contains(&thrifty_ns), "{thrifty_ns}");
}

#[test]
fn only_what_is_cheaper_to_spin_is_spun() {
    let (mut plan, mut machine) = (Plan::new(), Machine::new(guest, 22_000));
    // Before anything was learned, a wait is assumed to cost 8 µs.
    assert_eq!(plan.first(0, 10_000, EVEN), Step::Spin);
    assert_eq!(plan.first(0, 40_000, EVEN), Step::Approach { number: 0, margin_ns: 8_192 });
    machine.sleeps(&mut plan, 500, MS, EVEN);
    machine.sleeps(&mut plan, 200, 60_000, EVEN);
    // A wait costs 22 µs here, what follows it 12 µs or more, and each microsecond of lateness 1.
    assert_eq!(plan.first(machine.now_ns, 30_000, EVEN), Step::Spin);
    assert!(matches!(plan.first(machine.now_ns, 200_000, EVEN), Step::Wait { .. }));
}

#[test]
fn approaches_that_ended_late_are_tried_again() {
    let mut plan = Plan::new();
    for n in 0..400 {
        plan.context = n as usize % CONTEXTS;
        plan.learn_approach(Ended { lateness_ns: 20_000 + n / 2 % 10 * 60_000, cpu_ns: Some(9_000) });
    }
    let mut machine = Machine::new(idle, 5_000);
    let sum = machine.sleeps(&mut plan, 500, MS, DEFAULT);
    assert_eq!(sum.waits, sum.sleeps);
    machine.sleeps(&mut plan, u64::from(FORGET), MS, DEFAULT);
    let sum = machine.sleeps(&mut plan, 500, MS, DEFAULT);
    assert!(sum.waits > sum.sleeps * 17 / 10, "{}", sum.waits);
}

#[test]
fn an_improved_machine_is_noticed() {
    // Who aims at one in a hundred takes longer to give up a margin that hardly any sleep needs.
    for (objective, sleeps) in [(EVEN, 900), (DEFAULT, 2_500)] {
        let mut plan = Plan::new();
        Machine::new(half_ms_grid, 8_000).sleeps(&mut plan, 1_000, MS, objective);
        let mut machine = Machine::new(idle, 5_000);
        machine.sleeps(&mut plan, sleeps, MS, objective);
        let sum = machine.sleeps(&mut plan, 500, MS, objective);
        assert!(sum.cpu_us() <= 40 && sum.later_than(20_000) <= 200, "{} {}", sum.cpu_us(), sum.later_than(20_000));
    }
}

#[test]
fn classes_cover_every_duration() {
    assert_eq!((class(0), class((1 << 16) - 1), class(1 << 16)), (0, 0, 1));
    assert_eq!(class(MS), class(300_000));
    assert_ne!(class(MS), class(5 * MS));
    assert_eq!(class(u64::MAX), CLASSES - 1);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Whatever the machine did before, and whatever the objective: no sleep spins longer than its budget.
    #[test]
    fn no_sleep_spins_longer_than_its_budget(
        machines in proptest::collection::vec((0..ALL.len(), 1_u64..200), 1..6),
        ahead_ns in prop_oneof![1_u64..200_000, 200_000_u64..20_000_000],
        price in 0_u32..500,
        budget_ns in prop_oneof![0_u64..50_000, 0_u64..2_000_000],
    ) {
        let (mut plan, objective) = (Plan::new(), Objective { budget_ns, ..Objective::of_price(price) });
        for (at, sleeps) in machines {
            let sum = Machine::new(ALL[at].0, ALL[at].1).sleeps(&mut plan, sleeps, ahead_ns, objective);
            prop_assert!(sum.spun_max_ns <= budget_ns.saturating_add(BEHIND_NS), "{} > {budget_ns}", sum.spun_max_ns);
        }
    }
}
