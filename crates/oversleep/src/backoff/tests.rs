//! A worker that idles in virtual time, on a machine whose parks are late now and then.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use proptest::prelude::*;

use super::*;
use crate::clock::Instant;
use crate::time::VirtualClock;

const US: u64 = 1_000;
const MS: u64 = 1_000_000;
const SECOND: u64 = 1_000 * MS;
const LIMITS: Limits =
    Limits { spins: 0, yields: 0, park: Duration::from_micros(1), absence: Duration::from_millis(1) };

/// A machine with one idle worker. It notes the CPU time that the worker used up to each point in time.
#[derive(Clone)]
struct Machine {
    now_ns: Rc<Cell<u64>>,
    cpu_ns: Rc<Cell<u64>>,
    used: Rc<RefCell<Vec<(u64, u64)>>>,
    /// How late the next park is: by its number, the time and its deadline.
    lateness_ns: Rc<dyn Fn(u64, u64, u64) -> u64>,
    parks: Rc<Cell<u64>>,
    /// The duration of a yield.
    yield_ns: u64,
}

impl Machine {
    fn new(lateness_ns: impl Fn(u64, u64, u64) -> u64 + 'static) -> Self {
        let zero = || Rc::new(Cell::new(0));
        Machine {
            now_ns: zero(),
            cpu_ns: zero(),
            used: Rc::default(),
            lateness_ns: Rc::new(lateness_ns),
            parks: zero(),
            yield_ns: 500,
        }
    }

    fn with_yields_of(self, yield_ns: u64) -> Self {
        Machine { yield_ns, ..self }
    }

    fn run(&self, duration_ns: u64, cpu_ns: u64) {
        self.now_ns.set(self.now_ns.get() + duration_ns);
        self.cpu_ns.set(self.cpu_ns.get() + cpu_ns);
        self.used.borrow_mut().push((self.now_ns.get(), self.cpu_ns.get()));
    }

    /// The CPU time used by then.
    fn used_ns(&self, at_ns: u64) -> u64 {
        let used = self.used.borrow();
        let next = used.partition_point(|&(ns, _)| ns < at_ns);
        let (before, after) = (next.checked_sub(1).map_or((0, 0), |i| used[i]), used.get(next).or(used.last()));
        let Some(&(after_ns, cpu_ns)) = after.filter(|after| after.0 > before.0) else { return before.1 };
        let share = (at_ns.min(after_ns) - before.0) as f64 / (after_ns - before.0) as f64;
        before.1 + ((cpu_ns - before.1) as f64 * share) as u64
    }

    /// Idles for so long, and returns the back-off.
    fn idle(&self, limits: Limits, duration_ns: u64) -> Backoff<Machine> {
        let mut backoff = Backoff::with_limits(limits).with_time(self.clone());
        while self.now_ns.get() < duration_ns {
            // All yields before the next probe at once.
            let due_ns = backoff.plan.parks.due_ns().map_or(0, |due_ns| due_ns.saturating_sub(self.now_ns.get()));
            let yields_ns = due_ns.next_multiple_of(self.yield_ns);
            self.run(yields_ns, yields_ns);
            backoff.idle();
        }
        backoff
    }

    /// The largest CPU time of any second from then on.
    fn busiest_ns(&self, from_ns: u64) -> u64 {
        let end_ns = self.now_ns.get().saturating_sub(SECOND);
        let starts = (from_ns..=end_ns).step_by(5 * MS as usize);
        starts.map(|start_ns| self.used_ns(start_ns + SECOND) - self.used_ns(start_ns)).max().unwrap_or(0)
    }
}

impl TimeSource for Machine {
    fn now(&self) -> Instant {
        Instant::from_nanos(self.now_ns.get())
    }

    fn sleep_until(&self, deadline: Instant) {
        let park = self.parks.replace(self.parks.get() + 1);
        let (now_ns, deadline_ns) = (self.now_ns.get(), deadline.as_nanos());
        let end_ns = deadline_ns + (self.lateness_ns)(park, now_ns, deadline_ns);
        // As a park of a futex costs on a virtual machine.
        self.run(end_ns - now_ns, 8 * US);
    }

    fn relax(&self) {
        self.run(30, 30);
    }

    fn yield_now(&self) {
        self.run(self.yield_ns, self.yield_ns);
    }
}

/// A second of an idle worker on this machine without disturbances, in CPU time.
fn idle_use_ns(usual_ns: u64) -> u64 {
    let machine = Machine::new(move |_, _, _| usual_ns);
    machine.idle(Limits::default(), 3 * SECOND);
    machine.busiest_ns(SECOND)
}

/// Checks that no second from 100 ms after `from_ns` on takes more than 2 % of a core above the idle use.
fn check(machine: &Machine, usual_ns: u64, from_ns: u64) -> Result<(), TestCaseError> {
    let (busiest_ns, idle_ns) = (machine.busiest_ns(from_ns + 100 * MS), idle_use_ns(usual_ns));
    prop_assert!(busiest_ns <= idle_ns + 20 * MS, "{} µs in a second, idle {}", busiest_ns / US, idle_ns / US);
    Ok(())
}

#[test]
fn one_late_park_of_any_length_costs_nothing() {
    for late_ms in [1, 2, 4, 20, 80, 5_000] {
        let machine = Machine::new(move |park, _, _| if park == 90 { late_ms * MS } else { 60 * US });
        let backoff = machine.idle(Limits::default(), 8 * SECOND);
        assert_eq!(backoff.park_lateness(), Some(Duration::from_micros(60)), "{late_ms} ms");
        let yields = machine.busiest_ns(100 * MS).saturating_sub(idle_use_ns(60 * US)) / 500;
        assert!(yields < 20, "{late_ms} ms: {yields}");
    }
}

#[test]
fn a_late_first_park_costs_a_few_hundred_yields() {
    let machine = Machine::new(|park, _, _| if park == 0 { 20 * MS } else { 60 * US });
    assert_eq!(machine.idle(Limits::default(), 3 * SECOND).park_lateness(), Some(Duration::from_micros(60)));
    assert!(machine.used_ns(30 * MS) < MS);
}

/// A quota of a fifth: the machine stands still for 80 of every 100 ms.
#[test]
fn a_throttled_worker_parks_on() {
    let machine = Machine::new(|_, _, deadline_ns| match deadline_ns % (100 * MS) {
        at if at > 20 * MS => 100 * MS - at,
        _ => 60 * US,
    });
    machine.idle(Limits::default(), 10 * SECOND);
    check(&machine, 60 * US, 0).unwrap();
}

#[test]
fn on_a_coarse_tick_it_stops_parking() {
    let time = VirtualClock::new();
    time.set_lateness(Duration::from_micros(15_625));
    let mut backoff = Backoff::with_limits(LIMITS).with_time(time);
    assert_eq!(backoff.idle(), Idled::Parked { requested_ns: 1_000, duration_ns: 15_626_000 });
    assert_eq!(backoff.park_lateness(), Some(Duration::from_micros(15_625)));
    assert!((0..1_000).all(|_| backoff.idle() == Idled::Yielded));
}

/// How long the parks that began in this second take in total, on ticks of this length.
fn parked_on_ticks_ns(tick_ns: u64, (from_ns, to_ns): (u64, u64)) -> u64 {
    let parked_ns = Rc::new(Cell::new(0));
    let machine = Machine::new({
        let parked_ns = Rc::clone(&parked_ns);
        move |_, now_ns, deadline_ns| {
            let end_ns = deadline_ns.next_multiple_of(tick_ns);
            if (from_ns..to_ns).contains(&now_ns) {
                parked_ns.set(parked_ns.get() + end_ns - now_ns);
            }
            end_ns - deadline_ns
        }
    });
    machine.idle(LIMITS, to_ns);
    parked_ns.get()
}

#[test]
fn probes_of_a_coarse_tick_take_about_a_hundredth_of_the_time() {
    for tick_us in [15_625, 10_000, 4_000] {
        let first_ns = parked_on_ticks_ns(tick_us * US, (0, 2 * SECOND));
        let later_ns = parked_on_ticks_ns(tick_us * US, (2 * SECOND, 62 * SECOND));
        assert!(first_ns < 300 * MS && (1..=1_200 * MS).contains(&later_ns), "{tick_us}: {first_ns} {later_ns}");
    }
}

#[test]
fn a_tick_that_becomes_coarse_or_fine_is_found_out() {
    // Coarse from 2 s to 12 s, and long enough to be certain from 20 s to 60 s.
    let is_coarse =
        |now_ns| (2 * SECOND..12 * SECOND).contains(&now_ns) || (20 * SECOND..60 * SECOND).contains(&now_ns);
    let lateness_ns = move |_, now_ns, deadline_ns: u64| match is_coarse(now_ns) {
        true => deadline_ns.next_multiple_of(15_625 * US) - deadline_ns,
        false => 60 * US,
    };
    let machine = Machine::new(lateness_ns);
    machine.idle(LIMITS, 65 * SECOND);
    let busy = |from_ms: u64, to_ms: u64| {
        (machine.used_ns(to_ms * MS) - machine.used_ns(from_ms * MS)) as f64 / ((to_ms - from_ms) * MS) as f64
    };
    assert!(busy(500, 2_000) < 0.02 && busy(12_100, 20_000) < 0.02 && busy(62_000, 65_000) < 0.02);
    assert!(busy(4_000, 12_000) > 0.7 && busy(40_000, 60_000) > 0.97);
}

#[test]
fn the_real_clock_takes_no_room() {
    assert_eq!(size_of::<Backoff>(), size_of::<(Limits, Plan)>());
}

/// A period of so many parks at most, and how many of them are late.
fn share(most: u64) -> impl Strategy<Value = (u64, u64)> {
    (2..most).prop_flat_map(|period| (Just(period), 1..period))
}

fn hash(i: u64) -> u64 {
    (i.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 32
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// From the first late park on: whatever comes after other parks, and lasts for less than a second.
    #[test]
    fn single_and_repeated_lateness_cost_at_most_2_percent(
        usual_us in 0_u64..400,
        before in 120_u64..2_000,
        late in proptest::collection::vec(prop_oneof![500_u64..2_000, 1_000_u64..30_000, 20_000_u64..1_000_000], 1..48),
    ) {
        let usual_ns = usual_us * US;
        let first_late_ns = Rc::new(Cell::new(0));
        let machine = Machine::new({
            let first_late_ns = Rc::clone(&first_late_ns);
            move |park, now_ns, _| {
                let late_us = park.checked_sub(before).and_then(|i| late.get(i as usize));
                if park == before {
                    first_late_ns.set(now_ns);
                }
                late_us.map_or(usual_ns, |us| us * US)
            }
        });
        let backoff = machine.idle(Limits::default(), 60 * SECOND);
        check(&machine, usual_ns, first_late_ns.get())?;
        prop_assert_eq!(backoff.park_lateness(), Some(Duration::from_nanos(usual_ns)));
    }

    /// Parks that are all late, for any time: from the last late one on.
    #[test]
    fn a_long_disturbance_costs_at_most_2_percent_after_its_end(
        usual_us in 0_u64..400,
        yield_ns in 100_u64..10_000,
        before in 120_u64..2_000,
        late_us in prop_oneof![1_000_u64..5_000, 5_000_u64..100_000],
        duration_ms in prop_oneof![1_u64..5_000, 5_000_u64..180_000],
    ) {
        let (usual_ns, until_ns) = (usual_us * US, Cell::new(u64::MAX));
        let last_late_ns = Rc::new(Cell::new(0));
        let machine = Machine::new({
            let last_late_ns = Rc::clone(&last_late_ns);
            move |park, now_ns, deadline_ns| {
                if park == before {
                    until_ns.set(now_ns + duration_ms * MS);
                }
                let is_late = park >= before && now_ns < until_ns.get();
                if is_late {
                    last_late_ns.set(deadline_ns + late_us * US);
                }
                if is_late { late_us * US } else { usual_ns }
            }
        });
        let machine = machine.with_yields_of(yield_ns);
        machine.idle(Limits::default(), duration_ms * MS + 6 * SECOND);
        check(&machine, usual_ns, last_late_ns.get())?;
    }

    /// The same from the first park on, as far as this may be a disturbance.
    #[test]
    fn late_first_parks_cost_at_most_2_percent_afterwards(
        usual_us in 0_u64..400,
        yield_ns in 100_u64..10_000,
        late in 1_u64..128,
        late_us in prop_oneof![1_000_u64..5_000, 5_000_u64..100_000],
    ) {
        let usual_ns = usual_us * US;
        let last_late_ns = Rc::new(Cell::new(0));
        let machine = Machine::new({
            let last_late_ns = Rc::clone(&last_late_ns);
            move |park, _, deadline_ns| {
                if park < late {
                    last_late_ns.set(deadline_ns + late_us * US);
                }
                if park < late { late_us * US } else { usual_ns }
            }
        });
        let machine = machine.with_yields_of(yield_ns);
        machine.idle(Limits::default(), 3 * SECOND + late * (late_us * US + 100 * MS));
        check(&machine, usual_ns, last_late_ns.get())?;
    }

    /// A share of the parks is late for ever, in runs of less than a second in all.
    #[test]
    fn periodic_lateness_costs_at_most_2_percent(
        usual_us in 0_u64..400,
        yield_ns in 100_u64..10_000,
        before in 120_u64..2_000,
        (period, late) in share(49),
        late_us in prop_oneof![1_000_u64..2_000, 1_000_u64..30_000, 20_000_u64..200_000],
    ) {
        let usual_ns = usual_us * US;
        let machine = Machine::new(move |park, _, _| {
            let is_late = park.checked_sub(before).is_some_and(|i| i % period < late);
            if is_late { late_us * US } else { usual_ns }
        });
        let machine = machine.with_yields_of(yield_ns);
        machine.idle(Limits::default(), 30 * SECOND);
        check(&machine, usual_ns, 0)?;
    }

    /// Almost any share of the parks, periodically or at random, from the first one on or later: it is found out that some
    /// are on time.
    #[test]
    fn lateness_of_any_share_costs_at_most_2_percent_in_the_end(
        usual_us in 0_u64..400,
        yield_ns in 100_u64..10_000,
        (before, is_random, (period, late)) in prop_oneof![
            (Just(0_u64), any::<bool>(), share(12)),
            (120_u64..2_000, Just(true), share(16)),
            (120_u64..2_000, Just(false), share(100)),
        ],
        late_us in prop_oneof![1_000_u64..2_000, 1_000_u64..30_000, 20_000_u64..80_000],
    ) {
        let usual_ns = usual_us * US;
        let machine = Machine::new(move |park, _, _| {
            let turn = |i: u64| if is_random { hash(i) } else { i };
            let is_late = park.checked_sub(before).is_some_and(|i| turn(i) % period < late);
            if is_late { late_us * US } else { usual_ns }
        });
        let machine = machine.with_yields_of(yield_ns);
        machine.idle(Limits::default(), 150 * SECOND);
        check(&machine, usual_ns, 120 * SECOND)?;
    }

    /// A tick that was fine, is coarse for any time and becomes fine again. The worker is hardly away meanwhile.
    #[test]
    fn a_tick_costs_little_while_it_is_coarse_and_after_that(
        usual_us in 0_u64..400,
        yield_ns in 100_u64..10_000,
        tick_us in 3_000_u64..40_000,
        jitter_us in 0_u64..50,
        duration_ms in 5_000_u64..120_000,
    ) {
        let (usual_ns, until_ns) = (usual_us * US, SECOND + duration_ms * MS);
        let last_late_ns = Rc::new(Cell::new(0));
        let machine = Machine::new({
            let last_late_ns = Rc::clone(&last_late_ns);
            move |park, now_ns, deadline_ns| {
                if !(SECOND..until_ns).contains(&now_ns) {
                    return usual_ns;
                }
                let end_ns = deadline_ns.next_multiple_of(tick_us * US) + park * 7_919 * US % (jitter_us * US + 1);
                last_late_ns.set(end_ns);
                end_ns - deadline_ns
            }
        });
        let machine = machine.with_yields_of(yield_ns);
        machine.idle(Limits::default(), until_ns + 6 * SECOND);
        check(&machine, usual_ns, last_late_ns.get())?;
        let yielded_ns = machine.used_ns(until_ns) - machine.used_ns(4 * SECOND);
        prop_assert!(yielded_ns * 100 > (until_ns - 4 * SECOND) * 95, "{} ms", yielded_ns / MS);
    }

    /// The machine stands still for a part of each period.
    #[test]
    fn throttling_costs_at_most_2_percent(
        usual_us in 0_u64..400,
        yield_ns in 100_u64..10_000,
        period_ms in 5_u64..500,
        runs_percent in 5_u64..100,
    ) {
        let (usual_ns, period_ns) = (usual_us * US, period_ms * MS);
        let machine = Machine::new(move |_, _, deadline_ns| {
            let at_ns = (deadline_ns + usual_ns) % period_ns;
            if at_ns * 100 > period_ns * runs_percent { usual_ns + period_ns - at_ns } else { usual_ns }
        });
        let machine = machine.with_yields_of(yield_ns);
        machine.idle(Limits::default(), 20 * SECOND);
        check(&machine, usual_ns, 0)?;
    }
}
