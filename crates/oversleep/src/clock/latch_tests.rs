//! The latch used by one thread step by step, and by readers beside a writer.

use super::*;
use std::sync::atomic::AtomicBool;
use std::thread;

const SECOND: u64 = (2 * GENERATION) | (2 * SLOT as u64);

/// A state whose words all derive from one number, so that a mixture of two is detected.
fn state(n: u64) -> State {
    let pair = |i| Pair { ticks: n * 100 + i, ns: n * 100 + i + 1 };
    let line = Line { start: pair(0), slope: Slope { factor: n * 100 + 2 }, window: n * 100 + 3 };
    let rate = Scale { factor: n * 100 + 4, shift: (n % 50) as u32 };
    State { line, rate, last: pair(5), far: pair(7), near: pair(9), jumps: n, suspended_ns: n * 100 + 11 }
}

#[test]
fn what_is_stored_is_read() {
    let latch = Latch::new();
    assert!(latch.line(|| 0).is_none() && latch.state().is_none());
    latch.start(&state(1));
    assert_eq!(latch.state(), Some((state(1), FIRST)));
    assert_eq!(latch.line(|| 77), Some((state(1).line, 77)));
}

#[test]
fn sequence_numbers_grow_and_alternate_between_the_slots() {
    assert_eq!(following(FIRST), SECOND);
    assert_eq!(following(FIRST | CLAIMED), SECOND);
    let third = following(SECOND);
    assert!(third > (SECOND | CLAIMED) && third & SLOTS == FIRST & SLOTS && third & CLAIMED == 0);
}

#[test]
fn a_reader_gets_a_time_only_within_the_window() {
    let latch = Latch::new();
    assert_eq!(latch.now(|| unreachable!("there is nothing to read")), Reading::NoCounter);
    latch.start(&state(1));
    let (start, window) = (state(1).line.start, state(1).line.window);
    assert_eq!(latch.now(|| start.ticks), Reading::Time(start.ns));
    assert_eq!(latch.now(|| start.ticks - 1), Reading::Over);
    assert!(matches!(latch.now(|| start.ticks + window), Reading::Time(_)));
    assert_eq!(latch.now(|| start.ticks + window + 1), Reading::Over);
}

#[test]
fn a_line_that_goes_out_of_use_while_the_counter_is_read_gives_no_time() {
    let latch = Latch::new();
    latch.start(&state(1));
    let ticks = state(1).line.start.ticks;
    let read_as_another_is_drawn = || {
        let (_, sequence) = latch.state().expect("it was started");
        let claim = latch.claim(sequence).expect("nobody else writes");
        latch.fill(&claim, &state(2));
        latch.publish(claim);
        ticks
    };
    assert_eq!(latch.now(read_as_another_is_drawn), Reading::Over);
    let read_as_it_is_stopped = || {
        let (state, sequence) = latch.state().expect("it was started");
        assert!(latch.stop(sequence));
        state.line.start.ticks
    };
    assert_eq!(latch.now(read_as_it_is_stopped), Reading::Over);
    assert_eq!(latch.now(|| ticks), Reading::NoCounter);
}

#[test]
fn one_writer_at_a_time_and_readers_do_not_wait() {
    let latch = Latch::new();
    latch.start(&state(1));
    let claim = latch.claim(FIRST).expect("nobody else writes");
    assert!(latch.claim(FIRST).is_none() && latch.claim(FIRST | CLAIMED).is_none());
    latch.fill(&claim, &state(2));
    assert_eq!(latch.line(|| 0), Some((state(1).line, 0)));
    latch.publish(claim);
    assert_eq!(latch.line(|| 0), Some((state(2).line, 0)));
    assert!(latch.claim(FIRST).is_none());
    let claim = latch.claim(SECOND).expect("nobody else writes");
    assert!(latch.stop(claim.sequence()));
    assert!(latch.line(|| 0).is_none());
}

#[test]
fn a_stop_needs_no_claim_and_is_for_good() {
    let latch = Latch::new();
    latch.start(&state(1));
    let claim = latch.claim(FIRST).expect("nobody else writes");
    // The number from before the claim is no longer current.
    assert!(!latch.stop(FIRST));
    assert!(latch.stop(FIRST | CLAIMED) && latch.state().is_none());
    latch.fill(&claim, &state(2));
    latch.publish(claim);
    assert!(latch.state().is_none() && latch.claim(0).is_none());
}

#[test]
fn a_lost_claim_is_revoked() {
    let latch = Latch::new();
    latch.start(&state(1));
    latch.revoke_claim();
    assert_eq!(latch.state(), Some((state(1), FIRST)));
    let lost = latch.claim(FIRST).expect("nobody else writes");
    latch.revoke_claim();
    let claim = latch.claim(FIRST).expect("the lost claim was revoked");
    latch.fill(&claim, &state(2));
    latch.publish(claim);
    // If its holder exists after all, and isn't filling at this moment, it can no longer change anything.
    latch.fill(&lost, &state(9));
    latch.publish(lost);
    assert_eq!(latch.state(), Some((state(2), SECOND)));
    let claim = latch.claim(SECOND).expect("nobody else writes");
    latch.fill(&claim, &state(3));
    latch.publish(claim);
    assert_eq!(latch.state(), Some((state(3), following(SECOND))));
}

/// Lines that all give one nanosecond per tick, each with its own start and window.
fn steady(n: u64) -> State {
    let mut state = state(n);
    state.line = Line { start: Pair { ticks: n, ns: n }, slope: Slope { factor: 1 << 48 }, window: (1 << 30) + n % 7 };
    state
}

#[test]
fn a_time_never_mixes_two_lines() {
    const TICKS: u64 = 1 << 29;
    let (latch, done) = (Latch::new(), AtomicBool::new(false));
    latch.start(&steady(1));
    thread::scope(|scope| {
        let read = || {
            let mut times = 0_u64;
            while !done.load(Ordering::Relaxed) || times == 0 {
                match latch.now(|| TICKS) {
                    Reading::Time(ns) => {
                        assert_eq!(ns, TICKS);
                        times += 1;
                    }
                    Reading::Over => {}
                    Reading::NoCounter => panic!("it was started"),
                }
            }
        };
        let readers: Vec<_> = (0..2).map(|_| scope.spawn(read)).collect();
        for n in 2..300_000 {
            let (_, sequence) = latch.state().expect("it was started");
            let claim = latch.claim(sequence).expect("nobody else writes");
            latch.fill(&claim, &steady(n));
            latch.publish(claim);
        }
        done.store(true, Ordering::Relaxed);
        for reader in readers {
            reader.join().unwrap();
        }
    });
}

#[test]
fn readers_never_see_a_mixture() {
    let (latch, done) = (Latch::new(), AtomicBool::new(false));
    latch.start(&state(1));
    thread::scope(|scope| {
        let readers: Vec<_> = (0..2)
            .map(|_| {
                scope.spawn(|| {
                    let mut last = 0;
                    while !done.load(Ordering::Relaxed) {
                        let (seen, _) = latch.state().expect("it was started");
                        assert_eq!(seen, state(seen.jumps));
                        assert!(seen.jumps >= last);
                        last = seen.jumps;
                    }
                })
            })
            .collect();
        for n in 2..60_000 {
            let (_, sequence) = latch.state().expect("it was started");
            let claim = latch.claim(sequence).expect("nobody else writes");
            latch.fill(&claim, &state(n));
            latch.publish(claim);
        }
        done.store(true, Ordering::Relaxed);
        for reader in readers {
            reader.join().unwrap();
        }
    });
}
