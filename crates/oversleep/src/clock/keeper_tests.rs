//! The keeper of a clock whose counter fails. Virtual time, so every figure is exact.

use super::*;
use crate::clock::fault::{CPUS, Faulty, as_reader};
use crate::sys::counter;
use proptest::prelude::*;

const MS: u64 = 1_000_000;
const S: u64 = 1_000_000_000;

type Clock = Keeper<Faulty>;

/// A clock that has been in use for a while, so that its lines are long.
fn settled() -> Clock {
    let clock = Faulty::in_virtual_time();
    for _ in 0..20 {
        clock.now_ns();
        clock.machine.pass(107 * MS);
    }
    assert!(clock.latch.is_started(), "{:?}", clock.rejection());
    clock
}

/// Checks the promises: an ordered read never goes back, a plain one not within its reader, and after the demotion not
/// at all.
#[derive(Default)]
struct Judge {
    ordered_ns: u64,
    plain_ns: [u64; CPUS],
    any_ns: u64,
    readings: u64,
}

impl Judge {
    fn read(&mut self, clock: &Clock, reader: usize, cpu: usize, is_ordered: bool) -> u64 {
        as_reader(reader, cpu);
        let was_demoted = !clock.latch.is_started();
        let ns = if is_ordered { clock.ordered_now_ns() } else { clock.now_ns() };
        assert!(ns >= self.plain_ns[reader], "{} ns back within a reader", self.plain_ns[reader] - ns);
        assert!(!is_ordered || ns >= self.ordered_ns, "{} ns back in order", self.ordered_ns - ns);
        assert!(!was_demoted || ns >= self.any_ns, "{} ns back after the demotion", self.any_ns - ns);
        self.plain_ns[reader] = ns;
        self.ordered_ns = if is_ordered { ns } else { self.ordered_ns };
        self.any_ns = self.any_ns.max(ns);
        self.readings += 1;
        ns
    }
}

/// Reads on two processors, every `every_ns` in turn, until the counter is out of use. Returns how long that took.
fn until_demoted(clock: &Clock, judge: &mut Judge, every_ns: u64, is_ordered: bool) -> Option<u64> {
    // A dense reader shows what there is to see in a shorter time.
    let limit_ns = 2 * S.min(every_ns.max(10) * 100_000);
    let start_ns = clock.machine.steady_ns();
    while clock.machine.steady_ns() - start_ns < limit_ns {
        for reader in 0..2 {
            judge.read(clock, reader, reader, is_ordered);
            if !clock.latch.is_started() {
                return Some(clock.machine.steady_ns() - start_ns);
            }
            clock.machine.pass(every_ns);
        }
    }
    None
}

fn go_on(clock: &Clock, judge: &mut Judge) {
    for n in 0..3_000 {
        judge.read(clock, n % CPUS, n % 3, n % 2 == 0);
        clock.machine.pass(100_000);
    }
    let (os_ns, ns) = (clock.machine.monotonic_ns(), judge.read(clock, 0, 0, true));
    assert!(
        ns.abs_diff(os_ns) < 1_000,
        "it has returned to the operating system's clock: {} ns off",
        ns.abs_diff(os_ns)
    );
}

#[test]
fn a_sound_counter_stays_in_use() {
    let clock = settled();
    let mut judge = Judge::default();
    for every_ns in [100, 30_000, 3 * MS, 90 * MS, 400 * MS] {
        for is_ordered in [false, true] {
            assert_eq!(until_demoted(&clock, &mut judge, every_ns, is_ordered), None, "{every_ns}");
        }
    }
    assert_eq!((clock.faults(), clock.rejection()), (Faults::default(), None));
}

#[test]
fn a_slewed_clock_is_no_fault_of_the_counter() {
    // By adjtime (500 ppm), and by chrony (8.3 %).
    for ppm in [500_i64, -500, 83_333, -83_333] {
        let clock = settled();
        let mut judge = Judge::default();
        for n in 0..30_000 {
            clock.machine.slew(100_000 * ppm / 1_000_000);
            judge.read(&clock, n % 2, n % 2, n % 3 == 0);
            clock.machine.pass(100_000);
        }
        assert_eq!((clock.faults(), clock.rejection()), (Faults::default(), None), "{ppm}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// One processor's counter is off by 30 µs or more, ahead or behind, from any moment on, and both processors are
    /// read as seldom as three times a second.
    #[test]
    fn a_skew_is_found_within_a_second(
        magnitude in 0_u32..12, ahead: bool, phase_ns in 0..200 * MS, every_ns in 100..150 * MS, is_ordered: bool,
    ) {
        let clock = settled();
        let mut judge = Judge::default();
        for reader in 0..2 {
            judge.read(&clock, reader, reader, is_ordered);
        }
        clock.machine.pass(phase_ns);
        for reader in 0..2 {
            judge.read(&clock, reader, reader, is_ordered);
        }
        let skew_ns = 30_000_i64 << magnitude;
        clock.machine.shift(1, if ahead { skew_ns } else { -skew_ns });
        let duration_ns = until_demoted(&clock, &mut judge, every_ns, is_ordered);
        prop_assert!(duration_ns.is_some_and(|ns| ns <= S), "{duration_ns:?}");
        prop_assert!(clock.rejection().is_some_and(|(reason, is_demoted)| is_demoted && !reason.leaves_counter_sound()));
        go_on(&clock, &mut judge);
    }

    /// All counters jump at once, as after a migration or a restored snapshot.
    #[test]
    fn a_jump_is_found_within_a_second(
        magnitude in 0_u32..20, ahead: bool, phase_ns in 0..200 * MS, every_ns in 100..150 * MS,
    ) {
        let clock = settled();
        let mut judge = Judge::default();
        judge.read(&clock, 0, 0, false);
        clock.machine.pass(phase_ns);
        judge.read(&clock, 0, 0, false);
        let jump_ns = 30_000_i64 << magnitude;
        clock.machine.shift_all(if ahead { jump_ns } else { -jump_ns });
        let duration_ns = until_demoted(&clock, &mut judge, every_ns, false);
        prop_assert!(duration_ns.is_some_and(|ns| ns <= S), "{duration_ns:?} for {jump_ns} ns");
        go_on(&clock, &mut judge);
    }

    #[test]
    fn a_change_of_rate_is_found_within_a_second(
        octave in 0_u32..12, ahead: bool, phase_ns in 0..200 * MS, every_octave in 0_u32..8,
    ) {
        let (ppm, every_ns) = (200_i64 << octave, 10_000_u64 << (2 * every_octave));
        let clock = settled();
        let mut judge = Judge::default();
        clock.machine.pass(phase_ns);
        judge.read(&clock, 0, 0, false);
        clock.machine.drift(if ahead { ppm } else { -ppm });
        let duration_ns = until_demoted(&clock, &mut judge, every_ns, false);
        prop_assert!(duration_ns.is_some_and(|ns| ns <= S), "{duration_ns:?} for {ppm} ppm");
        go_on(&clock, &mut judge);
    }

    /// A suspend of any length, at any moment of a line, under a dense or a sparse reader: no step back, no demotion,
    /// and the lead is given up.
    #[test]
    fn a_suspend_is_no_step_back(
        lengths in proptest::collection::vec(2 * MS..400 * MS, 1..4), phase_ns in 0..220 * MS, every_ns in 1_000..40 * MS,
    ) {
        let clock = settled();
        let mut judge = Judge::default();
        judge.read(&clock, 0, 0, true);
        for length_ns in lengths {
            let mut left_ns = phase_ns;
            while left_ns > 0 {
                let step_ns = left_ns.min(every_ns.max(phase_ns / 50));
                clock.machine.pass(step_ns);
                judge.read(&clock, 0, 0, true);
                left_ns -= step_ns;
            }
            clock.machine.suspend(length_ns);
            for _ in 0..50 {
                judge.read(&clock, 0, 0, true);
                clock.machine.pass(every_ns);
            }
        }
        prop_assert_eq!(clock.rejection(), None);
        for _ in 0..2_000 {
            clock.machine.pass(MS);
            judge.read(&clock, 1, 0, true);
        }
        let (ns, os_ns) = (judge.read(&clock, 0, 0, true), clock.machine.monotonic_ns());
        prop_assert!(ns.abs_diff(os_ns) < 1_000, "{} ns off", ns.abs_diff(os_ns));
    }
}

#[test]
fn a_counter_that_stops_is_found_at_once() {
    for every_ns in [0, 10_000, MS] {
        let bound_ns = 100_000 + 3 * u64::from(counter::REPEATS_MAX) * (every_ns + 30);
        let clock = settled();
        let mut judge = Judge::default();
        judge.read(&clock, 0, 0, false);
        clock.machine.stop();
        let duration_ns = until_demoted(&clock, &mut judge, every_ns, false);
        assert!(duration_ns.is_some_and(|ns| ns <= bound_ns), "{duration_ns:?} at {every_ns}");
        go_on(&clock, &mut judge);
    }
}

#[test]
fn a_change_of_the_kernels_clocksource_is_found_within_a_second() {
    let clock = settled();
    let mut judge = Judge::default();
    clock.machine.object();
    let duration_ns = until_demoted(&clock, &mut judge, 50_000, false);
    assert!(duration_ns.is_some_and(|ns| ns <= 600 * MS), "{duration_ns:?}");
    assert!(matches!(clock.rejection(), Some((Reason::KernelPrefers { .. }, true))));
    // The counter is as good as before, so time stands still for a millisecond at most.
    let behind_ns = judge.read(&clock, 0, 0, false).saturating_sub(clock.machine.monotonic_ns());
    assert!(behind_ns < 2 * MS, "{behind_ns}");
    go_on(&clock, &mut judge);
}

#[test]
fn a_small_chronic_skew_fills_the_bucket_and_a_single_one_does_not() {
    let clock = settled();
    let mut judge = Judge::default();
    until_demoted(&clock, &mut judge, 80 * MS, false);
    clock.machine.shift(1, 16_000);
    judge.read(&clock, 1, 1, false);
    clock.machine.pass(110 * MS);
    judge.read(&clock, 1, 1, false);
    clock.machine.shift(1, -16_000);
    assert_eq!((until_demoted(&clock, &mut judge, 40 * MS, false), clock.faults().suspected > 0), (None, true));
    clock.machine.pass(60 * S);
    judge.read(&clock, 0, 0, false);
    clock.machine.shift(1, -16_000);
    assert!(until_demoted(&clock, &mut judge, 10 * MS, true).is_some());
}

#[test]
fn a_claim_whose_holder_is_stopped_is_taken_over() {
    let clock = settled();
    let mut judge = Judge::default();
    clock.machine.pass(200 * MS);
    // A thread claims the next line, and is then stopped in a debugger.
    assert!(clock.claim().is_some());
    let start_ns = clock.machine.steady_ns();
    while clock.latch.state().is_some_and(|(state, _)| state.line.ns_within_window(clock.machine.ticks()).is_none()) {
        judge.read(&clock, 1, 1, true);
        clock.machine.pass(1_000);
    }
    let duration_ns = clock.machine.steady_ns() - start_ns;
    assert!((CLAIM_NS / 2..2 * CLAIM_NS).contains(&duration_ns), "{duration_ns}");
    assert_eq!(clock.faults(), Faults::default());
}

#[test]
fn a_writer_that_is_stopped_while_it_fills_a_slot_harms_nobody() {
    let clock = settled();
    let mut judge = Judge::default();
    let (state, sequence) = clock.latch.state().unwrap();
    let lost = clock.latch.draft(sequence).unwrap();
    for n in 0..20_000 {
        judge.read(&clock, n % 2, n % 2, true);
        clock.machine.pass(100_000);
    }
    // The thread continues, with a state that is two seconds old.
    clock.latch.fill(&lost, &state);
    assert_eq!(clock.latch.publish(lost), None);
    judge.read(&clock, 0, 0, true);
    assert_eq!((clock.faults(), clock.rejection()), (Faults::default(), None));
}

#[test]
fn an_emulated_counter_is_not_used() {
    let clock = Faulty::in_virtual_time();
    clock.machine.emulate_counter(600);
    clock.now_ns();
    let Some((Reason::Emulated { read_ns, os_ns }, false)) = clock.rejection() else {
        panic!("{:?}", clock.rejection())
    };
    assert!((600..700).contains(&read_ns) && os_ns < 100, "{read_ns} {os_ns}");
}

#[test]
fn a_callback_learns_the_reason_once() {
    static CALLS: AtomicU64 = AtomicU64::new(0);
    let callback = |reason: &Reason| {
        assert!(matches!(reason, Reason::CounterJumped { .. }), "{reason:?}");
        CALLS.fetch_add(1, Ordering::Relaxed);
    };
    let clock = settled();
    assert!(clock.on_demotion(callback));
    clock.machine.shift_all(5_000_000);
    assert!(until_demoted(&clock, &mut Judge::default(), 1_000, false).is_some());
    assert_eq!(CALLS.load(Ordering::Relaxed), 1);
    // One that comes late is called at once, and the first one not again.
    assert!(clock.on_demotion(callback));
    assert_eq!(CALLS.load(Ordering::Relaxed), 2);
}

#[test]
fn a_child_goes_on_without_its_parents_threads() {
    let clock = settled();
    let mut judge = Judge::default();
    clock.machine.pass(200 * MS);
    assert!(clock.claim().is_some());
    let (_, sequence) = clock.latch.state().unwrap();
    let drafts: Vec<_> = std::iter::from_fn(|| clock.latch.draft(sequence)).collect();
    assert!(drafts.len() > 4 && clock.claim().is_none());
    clock.after_fork();
    judge.read(&clock, 0, 0, true);
    assert_ne!(clock.latch.state().unwrap().1, sequence, "the child drew a line");
}
