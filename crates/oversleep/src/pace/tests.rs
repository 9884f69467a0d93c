//! The arithmetic of periods, without waiting.

use proptest::prelude::*;

use super::*;
use crate::clock::Clock;

fn pacer(span_ns: u64, parts: u64, policy: Missed) -> Pacer {
    Pacer::on_grid(Grid { start_ns: 1_000, span_ns, parts }).on_missed(policy)
}

fn at(ns: u64) -> Instant {
    Instant::from_nanos(ns)
}

#[test]
fn a_rate_that_does_not_divide_a_second_does_not_drift() {
    let pacer = pacer(1_000_000_000, 144, Missed::Skip);
    assert_eq!(pacer.deadline_of(144 * 3_600), at(1_000 + 3_600 * 1_000_000_000));
}

#[test]
fn skip_delivers_the_latest_and_keeps_the_grid() {
    let mut pacer = pacer(100, 1, Missed::Skip);
    let beat = pacer.deliver(at(1_451));
    assert_eq!(beat, Beat { period: 4, deadline: at(1_400), lateness_ns: 51, missed: 3 });
    assert_eq!((pacer.next_deadline(), pacer.missed()), (at(1_500), 3));
}

#[test]
fn catch_up_delivers_every_period() {
    let mut pacer = pacer(100, 1, Missed::CatchUp);
    let periods: Vec<_> =
        (0..4).map(|_| pacer.deliver(at(1_451))).map(|beat| (beat.period, beat.lateness_ns)).collect();
    assert_eq!(periods, [(1, 351), (2, 251), (3, 151), (4, 51)]);
    assert_eq!((pacer.next_deadline(), pacer.missed()), (at(1_500), 0));
}

#[test]
fn delay_moves_the_grid_only_after_a_miss() {
    let mut pacer = pacer(100, 1, Missed::Delay);
    assert_eq!(pacer.deliver(at(1_150)).missed, 0);
    assert_eq!(pacer.next_deadline(), at(1_200));
    assert_eq!(pacer.deliver(at(1_451)).missed, 2);
    assert_eq!(pacer.next_deadline(), at(1_551));
}

#[test]
fn a_new_start_restarts_a_loop_that_has_run() {
    let mut pacer = pacer(100, 1, Missed::Skip);
    assert_eq!(pacer.deliver(at(1_451)).missed, 3);
    let mut pacer = pacer.starting_at(at(5_000));
    assert_eq!((pacer.next_deadline(), pacer.missed()), (at(5_100), 0));
    assert_eq!(pacer.deliver(at(5_101)), Beat { period: 1, deadline: at(5_100), lateness_ns: 1, missed: 0 });
}

#[test]
fn absurd_periods_are_clamped() {
    assert_eq!(Pacer::every(Duration::MAX).next_deadline(), at(u64::MAX));
    let shortest = Pacer::every(Duration::ZERO);
    assert_eq!(shortest.next_deadline().nanos_since(shortest.start()), 1);
    let slowest = Pacer::per_second(0);
    assert_eq!(slowest.next_deadline().nanos_since(slowest.start()), 1_000_000_000);
}

#[test]
fn nothing_is_due_before_its_time() {
    let mut pacer = Pacer::every(Duration::MAX);
    assert_eq!(pacer.poll(), None);
    let mut pacer = Pacer::every(Duration::from_nanos(1)).starting_at(at(0));
    assert!(pacer.poll().is_some());
}

#[test]
fn waiting_does_not_end_before_the_deadline() {
    let mut pacer = Pacer::every(Duration::from_micros(300));
    let beat = pacer.wait();
    assert!(Clock::now() >= beat.deadline && beat.period >= 1);
}

proptest! {
    /// Whatever the pauses, every period is delivered or counted as missed, never twice and never early.
    #[test]
    fn every_period_is_accounted_for(
        span_ns in 1_u64..2_000_000_000,
        parts in 1_u64..1_000,
        skip: bool,
        pauses in proptest::collection::vec(0_u64..5_000_000_000, 1..60),
    ) {
        let policy = if skip { Missed::Skip } else { Missed::CatchUp };
        let mut pacer = pacer(span_ns, parts, policy);
        let (mut now, mut delivered, mut last) = (at(1_000), 0, 0);
        for pause_ns in pauses {
            now = now.max(pacer.next_deadline()) + Duration::from_nanos(pause_ns);
            let beat = pacer.deliver(now);
            delivered += 1;
            prop_assert!(beat.period > last && beat.deadline <= now);
            prop_assert_eq!(beat.period, delivered + pacer.missed());
            prop_assert_eq!(beat.deadline, pacer.deadline_of(beat.period));
            if skip {
                prop_assert!(pacer.next_deadline() > now);
            }
            last = beat.period;
        }
    }

    #[test]
    fn the_latest_period_is_due_and_the_next_is_not(
        span_ns in 1_u64..1 << 40, parts in 1_u64..1_000_000, since_ns in 0_u64..1 << 60,
    ) {
        let grid = Grid { start_ns: 5, span_ns, parts };
        let latest = grid.latest(at(5 + since_ns)).unwrap();
        prop_assert!(grid.deadline(latest) <= at(5 + since_ns));
        prop_assert!(latest == u64::MAX || grid.deadline(latest + 1) > at(5 + since_ns));
    }
}

#[test]
fn catching_up_has_a_cap() {
    let mut pacer = pacer(100, 1, Missed::CatchUp).catching_up_at_most(2);
    let beats: Vec<_> = (0..3).map(|_| pacer.deliver(at(1_551))).map(|beat| (beat.period, beat.missed)).collect();
    // Periods 1 to 5 are late; 1 to 3 are skipped, and the third call delivers one that isn't due.
    assert_eq!(beats, [(4, 3), (5, 0), (6, 0)]);
    assert_eq!(pacer.missed(), 3);
    // Within the cap nothing is skipped.
    let beat = pacer.deliver(at(1_860));
    assert_eq!((beat.period, beat.missed), (7, 0));
    assert_eq!(Pacer::every(Duration::ZERO).catching_up_at_most(0).catch_up_max, 1);
}

#[test]
fn statistics_count_what_was_delivered_and_missed() {
    let time = crate::time::VirtualClock::new();
    let mut pacer = Pacer::every(Duration::from_micros(10)).with_time(time.clone()).with_statistics();
    time.set_lateness(Duration::from_micros(3));
    for _ in 0..99 {
        pacer.wait();
    }
    time.advance(Duration::from_micros(1_000));
    pacer.wait();
    let statistics = pacer.statistics().unwrap();
    assert_eq!((statistics.count(), statistics.missed()), (100, pacer.missed()));
    assert_eq!(statistics.count() + statistics.missed() + 1, pacer.next);
    assert_eq!(statistics.quantile(0.99), Some(Duration::from_micros(3)));
    assert_eq!(statistics.min(), Some(Duration::from_micros(3)));
    assert!(statistics.spun().is_zero());
}

#[test]
fn the_real_clock_and_unrequested_statistics_take_no_room() {
    let parts = size_of::<(Grid, u64, u64, u64, Missed, Sleeper, Option<Box<Statistics>>)>();
    assert_eq!(size_of::<Pacer>(), parts);
}
