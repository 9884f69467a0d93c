//! The actions of each strategy, turn by turn.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use oversleep::backoff::{Idled, Limits};
use oversleep::time::TimeSource;
use proptest::prelude::*;

use super::*;

fn steps(idler: &mut Idler, count: usize) -> Vec<Step> {
    (0..count).map(|_| idler.next(|| Nanos::ZERO)).collect()
}

#[test]
fn spins_then_yields_then_parks_longer_and_longer() {
    use Step::{Park, Spin, Yield};
    let mut idler = Idler::new(Kind::Fixed(backoff(2, 1, US, Nanos(5_000))));
    let expected = [Spin, Spin, Yield, Park(US), Park(Nanos(2_000)), Park(Nanos(4_000)), Park(Nanos(5_000))];
    assert_eq!(steps(&mut idler, 7), expected);
    idler.reset();
    assert_eq!(steps(&mut idler, 1), [Spin]);
    let of = |name: &str| Idler::new(find(name).expect("it is offered").kind);
    assert_eq!(steps(&mut of("disruptor"), 300)[199..], [&[Yield][..], &[Park(Nanos(100)); 100]].concat());
    assert_eq!(steps(&mut of("aeron"), 17)[9..], [Spin, Yield, Yield, Yield, Yield, Yield, Park(US), Park(US * 2)]);
    assert_eq!(steps(&mut of("jet"), 80).last(), Some(&Park(MS)));
    let firsts = ["spin", "yield", "condvar"].map(|name| steps(&mut of(name), 1)[0]);
    assert_eq!(firsts, [Spin, Yield, Step::Block]);
}

#[test]
fn absurd_figures_hold() {
    let mut idler = Idler::new(Kind::Fixed(backoff(0, 0, Nanos::ZERO, Nanos::MAX)));
    assert!(steps(&mut idler, 200).iter().all(|step| matches!(step, Step::Park(ns) if ns.0 > 0)));
    assert_eq!(steps(&mut idler, 1), [Step::Park(Nanos::MAX)]);
    assert_eq!(steps(&mut Idler::new(Kind::Fixed(backoff(0, 0, MS, Nanos::ZERO))), 1), [Step::Park(Nanos(1))]);
}

/// A machine for the library: parks are late as scripted, and yields take 10 µs.
#[derive(Clone)]
struct Scripted {
    now_ns: Rc<Cell<u64>>,
    park: Rc<Cell<usize>>,
    lateness_ns: Rc<[u64]>,
}

impl TimeSource for Scripted {
    fn now(&self) -> oversleep::Instant {
        oversleep::Instant::from_nanos(self.now_ns.get())
    }

    fn sleep_until(&self, deadline: oversleep::Instant) {
        let park = self.park.replace(self.park.get() + 1);
        self.now_ns.set(deadline.as_nanos() + self.lateness_ns[park % self.lateness_ns.len()]);
    }

    fn relax(&self) {}

    fn yield_now(&self) {
        self.now_ns.set(self.now_ns.get() + 10_000);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// The library decides in the same way: given the durations of its parks, this strategy does the same next.
    #[test]
    fn the_learned_strategy_decides_as_the_library_does(
        park_us in 0_u64..600,
        absence_us in prop_oneof![0_u64..30, 100_u64..2_000],
        lateness_ns in proptest::collection::vec(prop_oneof![0_u64..200_000, 900_000_u64..30_000_000], 1..60),
        reset in 0_usize..40_000,
    ) {
        let [park, absence] = [park_us, absence_us].map(Duration::from_micros);
        let (now_ns, park_number) = (Rc::new(Cell::new(0)), Rc::new(Cell::new(0)));
        let machine = Scripted { now_ns: Rc::clone(&now_ns), park: park_number, lateness_ns: lateness_ns.into() };
        let mut library = oversleep::Backoff::with_limits(Limits { spins: 3, yields: 2, park, absence }).with_time(machine);
        let of_us = |us: u64| Nanos(us as i64 * 1_000);
        let mut ours = Idler::new(Kind::Learned(backoff(3, 2, of_us(park_us), of_us(absence_us))));
        for turn in 0..40_000 {
            if turn == reset {
                library.reset();
                ours.reset();
            }
            let step = ours.next(|| Nanos(now_ns.get() as i64));
            let expected = match library.idle() {
                Idled::Spun => Step::Spin,
                Idled::Yielded => Step::Yield,
                Idled::Parked { requested_ns, duration_ns } => {
                    let requested = Nanos(requested_ns as i64);
                    ours.learn(requested, Nanos(duration_ns as i64), Nanos(now_ns.get() as i64));
                    Step::Park(requested)
                }
                other => panic!("{other:?}"),
            };
            prop_assert_eq!(step, expected, "turn {}", turn);
        }
    }
}

#[test]
fn a_coarse_tick_ends_learned_parks_except_for_probes() {
    let mut idler = Idler::new(Kind::Learned(backoff(0, 0, US, MS)));
    let mut now = Nanos::ZERO;
    let mut parks = |took: Nanos, turns: usize| {
        let mut parks = 0;
        for _ in 0..turns {
            match idler.next(|| now) {
                Step::Park(requested) => {
                    now += requested + took;
                    idler.learn(requested, requested + took, now);
                    parks += 1;
                }
                _ => now += Nanos(500),
            }
        }
        parks
    };
    // At growing intervals, then one per 90 ms.
    assert_eq!(parks(MS, 3_000_000), 24);
    assert_eq!(parks(Nanos(60_000), 800_000), 761_952, "the tick became finer");
}
