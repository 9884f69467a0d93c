//! The library's latch in every order that threads and their memory accesses can take, within a bound on how often a
//! thread is interrupted. `cargo prove loom` runs this; the library's own sources are compiled here with loom's atomics.

#![allow(dead_code, reason = "only the latch is used")]

mod sys {
    pub(crate) mod counter {
        pub(crate) const REPEATS_MAX: u32 = 8;
    }
}

mod clock;

use std::time::Instant;

use loom::sync::Arc;
use loom::thread;

use clock::latch::{FIRST, Latch, Reading};
use clock::scale::Slope;
use clock::seen::Seen;
use clock::servo::{Line, Pair, Readings, State};

/// Ticks within the window of every line below.
const TICKS: u64 = 1 << 20;

/// A state whose line gives `TICKS` at `TICKS`, whichever it is, but not if it is mixed with another.
fn state(n: u64) -> State {
    let at = |ns| {
        let pair = Pair { ticks: ns, ns };
        Readings { pair, steady: pair, width: 0, closing: ns, suspended_ns: 0, cpu: 0 }
    };
    let state = State::calibrated(&at(0), &at(1 << 30)).expect("1 GHz");
    let line = Line { start: Pair { ticks: n, ns: n }, slope: Slope { factor: 1 << 48 }, window: (1 << 30) + n };
    State { line, cpu: n as u32, ..state }
}

fn is_whole(line: Line) -> bool {
    line.start.ticks == line.start.ns && line.window == (1 << 30) + line.start.ns
}

/// Draws the line after this sequence number. Its own number, if it was the one that came into use. It doesn't read the
/// slots, because loom remembers one access per word, and a reader's must be that one.
fn draw(latch: &Latch, sequence: u64, n: u64) -> Option<u64> {
    let draft = latch.draft(sequence)?;
    latch.fill(&draft, &state(n));
    latch.publish(draft)
}

/// As the fast path reads, after this thread has examined the first line.
fn read_examined(latch: &Latch) {
    let seen = Seen::new();
    seen.examined(FIRST, &state(1).line);
    match latch.now(&seen, || TICKS) {
        Reading::Time(ns) => assert_eq!(ns, TICKS, "a mixture of two lines"),
        Reading::Over => {}
        odd => panic!("{odd:?}"),
    }
}

/// As the slow path reads.
fn read_current(latch: &Latch) {
    let (line, ..) = latch.line(|| TICKS).expect("it was started");
    assert!(is_whole(line), "a mixture of two lines: {line:?}");
}

fn started() -> Arc<Latch> {
    let latch = Arc::new(Latch::new());
    latch.start(&state(1));
    latch
}

/// A writer that uses the first slot again while a reader is in the middle of it.
fn a_reader_beside_a_writer(read: fn(&Latch)) {
    let latch = started();
    let writer = thread::spawn({
        let latch = Arc::clone(&latch);
        move || {
            let second = draw(&latch, FIRST, 2).expect("nobody else writes");
            draw(&latch, second, 3).expect("nobody else writes");
        }
    });
    read(&latch);
    writer.join().unwrap();
    assert_eq!(latch.state().map(|(state, _)| state.cpu), Some(3));
}

/// Two writers at once: the line of one of them comes into use, whole.
fn two_writers() {
    let latch = started();
    let other = thread::spawn({
        let latch = Arc::clone(&latch);
        move || draw(&latch, FIRST, 2)
    });
    let mine = draw(&latch, FIRST, 3);
    let others = other.join().unwrap();
    assert!(mine.is_some() != others.is_some(), "one of them comes into use");
    let (last, _) = latch.state().expect("it was started");
    assert_eq!(last, state(if mine.is_some() { 3 } else { 2 }));
}

/// The counter goes out of use while a writer draws: for good.
fn a_stop_beside_a_writer() {
    let latch = started();
    let writer = thread::spawn({
        let latch = Arc::clone(&latch);
        move || draw(&latch, FIRST, 2)
    });
    while let Some((_, sequence)) = latch.state() {
        if latch.stop(sequence) {
            break;
        }
    }
    writer.join().unwrap();
    assert!(latch.state().is_none());
}

fn main() {
    let cases: [(&str, usize, fn()); 4] = [
        ("a reader on the fast path beside a writer", 5, || a_reader_beside_a_writer(read_examined)),
        ("a reader on the slow path beside a writer", 5, || a_reader_beside_a_writer(read_current)),
        ("two writers", 5, two_writers),
        ("a stop beside a writer", 5, a_stop_beside_a_writer),
    ];
    for (name, interruptions, case) in cases {
        let start = Instant::now();
        let mut model = loom::model::Builder::new();
        model.preemption_bound = Some(interruptions);
        model.max_branches = 100_000;
        let orders = std::sync::Arc::new(std::sync::atomic::AtomicU64::new(0));
        let counted = std::sync::Arc::clone(&orders);
        model.check(move || {
            counted.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            case();
        });
        let (orders, seconds) = (orders.load(std::sync::atomic::Ordering::Relaxed), start.elapsed().as_secs_f64());
        println!("{name}: {orders} orders with up to {interruptions} interruptions, {seconds:.1} s");
    }
}
