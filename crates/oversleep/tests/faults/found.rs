//! Tests how soon a counter that fails goes out of use, and that no reading goes back meanwhile. Virtual time, so every
//! figure is exact.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use oversleep::clock::fault::{CPUS, FaultyClock as Clock, as_reader};
use oversleep::clock::{Faults, Reason};
use proptest::prelude::*;

const MS: u64 = 1_000_000;
const S: u64 = 1_000_000_000;
/// How often one reader may see the same time before the counter counts as stopped: the larger of two processors' limits.
const REPEATS_MAX: u64 = 256;

fn pass(clock: &Clock, ns: u64) {
    clock.pass(Duration::from_nanos(ns));
}

/// A clock that has been in use for a while, so that its lines are long.
fn settled() -> Clock {
    let clock = Clock::in_virtual_time();
    for _ in 0..20 {
        clock.now();
        pass(&clock, 107 * MS);
    }
    assert!(clock.demotion().is_none(), "{:?}", clock.demotion());
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
        let was_demoted = clock.demotion().is_some();
        let ns = if is_ordered { clock.now_ordered().as_nanos() } else { clock.now().as_nanos() };
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
    // A reader with dense reads finds the fault in a shorter time.
    let limit_ns = 2 * S.min(every_ns.max(10) * 100_000);
    let start_ns = clock.monotonic_ns();
    while clock.monotonic_ns() - start_ns < limit_ns {
        for reader in 0..2 {
            judge.read(clock, reader, reader, is_ordered);
            if clock.demotion().is_some() {
                return Some(clock.monotonic_ns() - start_ns);
            }
            pass(clock, every_ns);
        }
    }
    None
}

fn go_on(clock: &Clock, judge: &mut Judge) {
    for n in 0..3_000 {
        judge.read(clock, n % CPUS, n % 3, n % 2 == 0);
        pass(clock, 100_000);
    }
    let (os_ns, ns) = (clock.monotonic_ns(), judge.read(clock, 0, 0, true));
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
    assert_eq!((clock.faults(), clock.demotion()), (Faults::default(), None));
}

/// Two processors differ by less than the suspicious amount: an ordered read may return another thread's time, and
/// later plain reads of its thread aren't below that.
#[test]
fn a_small_skew_is_no_step_back_within_a_thread() {
    let clock = settled();
    clock.shift(1, -800);
    let mut judge = Judge::default();
    for n in 0..100_000_u64 {
        judge.read(&clock, 0, 0, true);
        judge.read(&clock, 1, 1, n % 3 > 0);
        judge.read(&clock, 1, 1, false);
        // A thread that moves to the processor that is behind.
        judge.read(&clock, 2, (n % 2) as usize, n % 5 == 0);
        pass(&clock, 40 + n % 7 * 200);
    }
    assert_eq!((clock.faults(), clock.demotion()), (Faults::default(), None));
}

#[test]
fn a_slewed_clock_is_no_fault_of_the_counter() {
    // By adjtime (500 ppm), and by chrony (8.3 %).
    for ppm in [500_i64, -500, 83_333, -83_333] {
        let clock = settled();
        let mut judge = Judge::default();
        for n in 0..30_000 {
            clock.slew(100_000 * ppm / 1_000_000);
            judge.read(&clock, n % 2, n % 2, n % 3 == 0);
            pass(&clock, 100_000);
        }
        assert_eq!((clock.faults(), clock.demotion()), (Faults::default(), None), "{ppm}");
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
        pass(&clock, phase_ns);
        for reader in 0..2 {
            judge.read(&clock, reader, reader, is_ordered);
        }
        let skew_ns = 30_000_i64 << magnitude;
        clock.shift(1, if ahead { skew_ns } else { -skew_ns });
        let duration_ns = until_demoted(&clock, &mut judge, every_ns, is_ordered);
        prop_assert!(duration_ns.is_some_and(|ns| ns <= S), "{duration_ns:?}");
        prop_assert!(!matches!(clock.demotion(), Some(Reason::KernelPrefers { .. })), "{:?}", clock.demotion());
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
        pass(&clock, phase_ns);
        judge.read(&clock, 0, 0, false);
        let jump_ns = 30_000_i64 << magnitude;
        clock.shift_all(if ahead { jump_ns } else { -jump_ns });
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
        pass(&clock, phase_ns);
        judge.read(&clock, 0, 0, false);
        clock.drift(if ahead { ppm } else { -ppm });
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
                pass(&clock, step_ns);
                judge.read(&clock, 0, 0, true);
                left_ns -= step_ns;
            }
            clock.suspend(Duration::from_nanos(length_ns));
            for _ in 0..50 {
                judge.read(&clock, 0, 0, true);
                pass(&clock, every_ns);
            }
        }
        prop_assert_eq!(clock.demotion(), None);
        for _ in 0..2_000 {
            pass(&clock, MS);
            judge.read(&clock, 1, 0, true);
        }
        let (ns, os_ns) = (judge.read(&clock, 0, 0, true), clock.monotonic_ns());
        prop_assert!(ns.abs_diff(os_ns) < 1_000, "{} ns off", ns.abs_diff(os_ns));
    }
}

#[test]
fn a_counter_that_stops_is_found_at_once() {
    for every_ns in [0, 10_000, MS] {
        let bound_ns = 100_000 + 3 * REPEATS_MAX * (every_ns + 30);
        let clock = settled();
        let mut judge = Judge::default();
        judge.read(&clock, 0, 0, false);
        clock.stop();
        let duration_ns = until_demoted(&clock, &mut judge, every_ns, false);
        assert!(duration_ns.is_some_and(|ns| ns <= bound_ns), "{duration_ns:?} at {every_ns}");
        go_on(&clock, &mut judge);
    }
}

#[test]
fn a_change_of_the_kernels_clocksource_is_found_within_a_second() {
    let clock = settled();
    let mut judge = Judge::default();
    clock.change_clocksource();
    let duration_ns = until_demoted(&clock, &mut judge, 50_000, false);
    assert!(duration_ns.is_some_and(|ns| ns <= 600 * MS), "{duration_ns:?}");
    assert!(matches!(clock.demotion(), Some(Reason::KernelPrefers { .. })));
    // The counter is as good as before, so time stands still for a millisecond at most.
    let behind_ns = judge.read(&clock, 0, 0, false).saturating_sub(clock.monotonic_ns());
    assert!(behind_ns < 2 * MS, "{behind_ns}");
    go_on(&clock, &mut judge);
}

#[test]
fn a_small_chronic_skew_fills_the_bucket_and_a_single_one_does_not() {
    let clock = settled();
    let mut judge = Judge::default();
    until_demoted(&clock, &mut judge, 80 * MS, false);
    clock.shift(1, 16_000);
    judge.read(&clock, 1, 1, false);
    pass(&clock, 110 * MS);
    judge.read(&clock, 1, 1, false);
    clock.shift(1, -16_000);
    assert_eq!((until_demoted(&clock, &mut judge, 40 * MS, false), clock.faults().suspected > 0), (None, true));
    pass(&clock, 60 * S);
    judge.read(&clock, 0, 0, false);
    clock.shift(1, -16_000);
    assert!(until_demoted(&clock, &mut judge, 10 * MS, true).is_some());
}

#[test]
fn an_emulated_counter_is_not_used() {
    let clock = Clock::in_virtual_time();
    clock.emulate_counter(Duration::from_nanos(600));
    clock.now();
    let Some(Reason::Emulated { read_ns, os_ns }) = clock.demotion() else { panic!("{:?}", clock.demotion()) };
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
    clock.shift_all(5_000_000);
    assert!(until_demoted(&clock, &mut Judge::default(), 1_000, false).is_some());
    assert_eq!(CALLS.load(Ordering::Relaxed), 1);
    // One that comes late is called at once, and the first one not again.
    assert!(clock.on_demotion(callback));
    assert_eq!(CALLS.load(Ordering::Relaxed), 2);
}

#[test]
fn a_thread_that_is_stopped_with_the_next_line_claimed_makes_nobody_go_back() {
    let clock = settled();
    let mut judge = Judge::default();
    for n in 0..20_u64 {
        pass(&clock, 200 * MS);
        assert!(clock.lose_claim());
        for _ in 0..3_000 {
            let (before_ns, ns) = (clock.monotonic_ns(), judge.read(&clock, 1, 1, n % 2 == 0));
            // A thread that can't draw the line may be behind by this much, and a line may be ahead by this much.
            assert!(ns + 101_000 >= before_ns && ns <= before_ns + 100_000, "{ns} {before_ns}");
            pass(&clock, 1_000);
        }
    }
    assert_eq!((clock.faults(), clock.demotion()), (Faults::default(), None));
}
