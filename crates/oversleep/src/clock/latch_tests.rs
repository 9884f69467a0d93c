//! The latch used by one thread step by step, and by readers beside a writer.

use std::sync::atomic::AtomicBool;
use std::thread;

use super::*;

const SECOND: u64 = (2 * GENERATION) | (2 * SLOT as u64);

/// The view of a thread that has examined this line.
fn examined(sequence: u64) -> Seen {
    let seen = Seen::new();
    seen.examined(sequence, &state(1).line);
    seen
}

fn published(latch: &Latch, state: &State) -> u64 {
    let (_, sequence) = latch.state().expect("it was started");
    let draft = latch.draft(sequence).expect("a slot is free");
    latch.fill(&draft, state);
    latch.publish(draft).expect("nobody else writes")
}

/// A state whose words all derive from one number, so that a mixture of two is detected.
fn state(n: u64) -> State {
    let pair = |i| Pair { ticks: n * 100 + i, ns: n * 100 + i + 1 };
    let line = Line { start: pair(0), slope: Slope { factor: n * 100 + 2 }, window: n * 100 + 3 };
    let track = |i| Track {
        rate: Scale { factor: n * 100 + i, shift: (n % 50) as u32 },
        last: pair(i + 1),
        far: pair(i + 3),
        near: pair(i + 5),
    };
    State {
        line,
        track: track(4),
        steady: track(12),
        suspended_ns: n * 100 + 20,
        cpu: n as u32,
        width_ns: n * 100 + 21,
    }
}

#[test]
fn what_is_stored_is_read() {
    let latch = Latch::new();
    assert!(latch.line(|| 0).is_none() && latch.state().is_none());
    latch.start(&state(1));
    assert_eq!(latch.state(), Some((state(1), FIRST)));
    assert_eq!(latch.line(|| 77), Some((state(1).line, 77, FIRST)));
}

#[test]
fn sequence_numbers_grow_and_name_their_slot() {
    assert_eq!(following(FIRST, 2), SECOND);
    let third = following(SECOND, 1);
    assert!(third > SECOND && third & SLOTS == FIRST & SLOTS);
    assert_eq!(following(SECOND, NUMBERS - 1) & SLOTS, SLOTS);
}

#[test]
fn a_reader_gets_a_time_only_within_the_window() {
    let latch = Latch::new();
    assert_eq!(latch.now(&Seen::new(), || unreachable!("there is nothing to read")), Reading::NoCounter);
    latch.start(&state(1));
    let (start, window) = (state(1).line.start, state(1).line.window);
    let now = |ticks: u64| latch.now(&examined(FIRST), || ticks);
    assert_eq!(now(start.ticks), Reading::Time(start.ns));
    assert_eq!(now(start.ticks - 1), Reading::Over);
    assert!(matches!(now(start.ticks + window), Reading::Time(_)));
    assert_eq!(now(start.ticks + window + 1), Reading::Over);
}

#[test]
fn a_reader_gets_no_time_from_a_line_that_it_has_not_examined() {
    let latch = Latch::new();
    latch.start(&state(1));
    let seen = examined(FIRST);
    let second = published(&latch, &state(2));
    assert_eq!(latch.now(&seen, || state(1).line.start.ticks), Reading::Over);
    seen.examined(second, &state(2).line);
    assert_eq!(latch.now(&seen, || state(2).line.start.ticks), Reading::Time(state(2).line.start.ns));
}

#[test]
fn a_reader_gets_no_time_below_its_last_one() {
    let latch = Latch::new();
    latch.start(&steady(1));
    let seen = examined(FIRST);
    assert_eq!(latch.now(&seen, || 500), Reading::Time(500));
    assert_eq!(latch.now(&seen, || 499), Reading::Odd);
    // A repeated time is odd only if it is repeated often.
    let repeats = (0..10_000).find(|_| latch.now(&seen, || 500) == Reading::Odd);
    assert_eq!(repeats, Some(crate::sys::counter::REPEATS_MAX - 1));
    assert_eq!(latch.now(&seen, || 501), Reading::Time(501));
}

#[test]
fn a_line_that_goes_out_of_use_while_the_counter_is_read_gives_no_time() {
    let latch = Latch::new();
    latch.start(&state(1));
    let ticks = state(1).line.start.ticks;
    let seen = examined(FIRST);
    let read_as_another_is_drawn = || {
        published(&latch, &state(2));
        ticks
    };
    assert_eq!(latch.now(&seen, read_as_another_is_drawn), Reading::Over);
    let (state, sequence) = latch.state().expect("it was started");
    let read_as_it_is_stopped = || {
        assert!(latch.stop(sequence));
        state.line.start.ticks
    };
    assert_eq!(latch.now(&examined(sequence), read_as_it_is_stopped), Reading::Over);
    assert!(latch.line(|| ticks).is_none());
}

#[test]
fn of_two_writers_the_first_wins_and_readers_do_not_wait() {
    let latch = Latch::new();
    latch.start(&state(1));
    let (one, other) = (latch.draft(FIRST).unwrap(), latch.draft(FIRST).unwrap());
    assert_ne!(one.number, other.number);
    latch.fill(&one, &state(2));
    assert_eq!(latch.line(|| 0), Some((state(1).line, 0, FIRST)));
    latch.fill(&other, &state(3));
    let sequence = latch.publish(other);
    assert_eq!(latch.state(), sequence.map(|sequence| (state(3), sequence)));
    assert_eq!(latch.publish(one), None);
    assert_eq!(latch.state(), sequence.map(|sequence| (state(3), sequence)));
}

#[test]
fn a_late_writer_does_not_touch_the_current_slot() {
    let latch = Latch::new();
    latch.start(&state(1));
    let second = published(&latch, &state(2));
    // Its number is old, so it may be given the slot that is now current.
    let late = latch.draft(FIRST).unwrap();
    assert_eq!((late.number * SLOT) as u64, second & SLOTS);
    latch.fill(&late, &state(9));
    assert_eq!(latch.publish(late), None);
    assert_eq!(latch.state(), Some((state(2), second)));
}

#[test]
fn a_stop_is_for_good() {
    let latch = Latch::new();
    latch.start(&state(1));
    let draft = latch.draft(FIRST).unwrap();
    let second = published(&latch, &state(2));
    assert!(!latch.stop(FIRST) && latch.stop(second));
    latch.fill(&draft, &state(3));
    assert!(latch.publish(draft).is_none() && latch.state().is_none());
}

#[test]
fn lost_slots_are_used_up_and_freed_in_a_child() {
    let latch = Latch::new();
    latch.start(&state(1));
    let lost: Vec<_> = std::iter::from_fn(|| latch.draft(FIRST)).collect();
    assert_eq!(lost.len(), NUMBERS - 2);
    latch.free_slots();
    let second = published(&latch, &state(2));
    assert_eq!(latch.state(), Some((state(2), second)));
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
                let sequence = latch.state().expect("it was started").1;
                match latch.now(&examined(sequence), || TICKS) {
                    Reading::Time(ns) => {
                        assert_eq!(ns, TICKS);
                        times += 1;
                    }
                    Reading::Over => {}
                    odd => panic!("{odd:?}"),
                }
            }
        };
        let readers: Vec<_> = (0..2).map(|_| scope.spawn(read)).collect();
        for n in 2..300_000 {
            published(&latch, &steady(n));
        }
        done.store(true, Ordering::Relaxed);
        for reader in readers {
            reader.join().unwrap();
        }
    });
}

#[test]
fn readers_never_see_a_mixture_of_two_writers() {
    let (latch, done, last) = (Latch::new(), AtomicBool::new(false), AtomicU64::new(1));
    latch.start(&state(1));
    thread::scope(|scope| {
        let read = || {
            while !done.load(Ordering::Relaxed) {
                let (seen, _) = latch.state().expect("it was started");
                assert_eq!(seen, state(u64::from(seen.cpu)));
            }
        };
        let write = || {
            for _ in 0..30_000 {
                let (_, sequence) = latch.state().expect("it was started");
                let draft = latch.draft(sequence).expect("two writers take two slots");
                latch.fill(&draft, &state(last.fetch_add(1, Ordering::Relaxed) + 1));
                let _ = latch.publish(draft);
            }
        };
        let readers: Vec<_> = (0..2).map(|_| scope.spawn(read)).collect();
        let writers: Vec<_> = (0..2).map(|_| scope.spawn(write)).collect();
        for writer in writers {
            writer.join().unwrap();
        }
        done.store(true, Ordering::Relaxed);
        for reader in readers {
            reader.join().unwrap();
        }
    });
}
