//! The actions of each strategy, turn by turn.

use super::*;

fn steps(idler: &mut Idler, count: usize) -> Vec<Step> {
    (0..count).map(|_| idler.next()).collect()
}

#[test]
fn spins_then_yields_then_parks_longer_and_longer() {
    use Step::{Park, Spin, Yield};
    let mut idler = Idler::new(Kind::Fixed(backoff(2, 1, US, Nanos(5_000))));
    let expected = [Spin, Spin, Yield, Park(US), Park(Nanos(2_000)), Park(Nanos(4_000)), Park(Nanos(5_000))];
    assert_eq!(steps(&mut idler, 7), expected);
    idler.reset();
    assert_eq!(idler.next(), Spin);
    let of = |name: &str| Idler::new(find(name).expect("it is offered").kind);
    assert_eq!(steps(&mut of("disruptor"), 300)[199..], [&[Yield][..], &[Park(Nanos(100)); 100]].concat());
    assert_eq!(steps(&mut of("aeron"), 17)[9..], [Spin, Yield, Yield, Yield, Yield, Yield, Park(US), Park(US * 2)]);
    assert_eq!(steps(&mut of("jet"), 80).last(), Some(&Park(MS)));
    assert_eq!((of("spin").next(), of("yield").next(), of("condvar").next()), (Spin, Yield, Step::Block));
}

#[test]
fn absurd_figures_hold() {
    let mut idler = Idler::new(Kind::Fixed(backoff(0, 0, Nanos::ZERO, Nanos::MAX)));
    assert!(steps(&mut idler, 200).iter().all(|step| matches!(step, Step::Park(ns) if ns.0 > 0)));
    assert_eq!(idler.next(), Step::Park(Nanos::MAX));
    assert_eq!(Idler::new(Kind::Fixed(backoff(0, 0, MS, Nanos::ZERO))).next(), Step::Park(Nanos(1)));
}

/// The library decides in the same way: given the durations of its parks, this strategy does the same next.
#[test]
fn the_learned_strategy_decides_as_the_library_does() {
    use oversleep::backoff::{Idled, Limits};
    let quick = |park_us, absence_us| (park_us, absence_us);
    for (park_us, absence_us) in [quick(1, 200), quick(1, 1_000), quick(500, 20), quick(1, 10)] {
        let limits = Limits {
            spins: 3,
            yields: 2,
            park: std::time::Duration::from_micros(park_us),
            absence: std::time::Duration::from_micros(absence_us),
        };
        let mut library = oversleep::Backoff::with_limits(limits);
        let of_us = |us: u64| Nanos(us as i64 * 1_000);
        let mut ours = Idler::new(Kind::Learned(backoff(3, 2, of_us(park_us), of_us(absence_us))));
        for turn in 0..3_000 {
            if turn == 1_500 {
                library.reset();
                ours.reset();
            }
            let step = ours.next();
            let expected = match library.idle() {
                Idled::Spun => Step::Spin,
                Idled::Yielded => Step::Yield,
                Idled::Parked { requested_ns, duration_ns } => {
                    let requested = Nanos(requested_ns as i64);
                    ours.learn(requested, Nanos(duration_ns as i64));
                    Step::Park(requested)
                }
                other => panic!("{other:?}"),
            };
            assert_eq!(step, expected, "turn {turn} of {limits:?}");
            // Real parks take real time; a few of each kind are enough.
            if turn > 40 && turn < 1_000 && matches!(step, Step::Park(_)) {
                break;
            }
        }
    }
}

#[test]
fn a_coarse_tick_ends_learned_parks_except_for_probes() {
    let mut idler = Idler::new(Kind::Learned(backoff(0, 0, US, MS)));
    idler.learn(US, Nanos(1_001_000));
    let parks = |idler: &mut Idler| steps(idler, 800_000).iter().filter(|step| matches!(step, Step::Park(_))).count();
    assert_eq!(parks(&mut idler), 4);
    (0..40).for_each(|_| idler.learn(US, Nanos(60_000)));
    assert_eq!(parks(&mut idler), 800_000, "the tick became finer");
}
