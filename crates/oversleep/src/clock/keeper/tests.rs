//! A thread that stops for good may leave a claim, a slot or a phase behind. Virtual time, so every figure is exact.
//! `tests/faults` tests how faults of the counter are found.

use super::lines::CLAIM_NS;
use super::*;
use crate::clock::fault::{Faulty, as_reader};
use crate::clock::reason::Faults;

const MS: u64 = 1_000_000;

/// A clock that has been in use for a while, so that its lines are long.
fn settled() -> Keeper<Faulty> {
    let clock = Faulty::in_virtual_time();
    for _ in 0..20 {
        clock.now_ns();
        clock.machine.pass(107 * MS);
    }
    assert!(clock.latch.is_started(), "{:?}", clock.rejection());
    clock
}

/// An ordered read, which never goes back.
fn read(clock: &Keeper<Faulty>, reader: usize, latest_ns: &mut u64) {
    as_reader(reader, reader);
    let ns = clock.ordered_now_ns();
    assert!(ns >= *latest_ns, "{} ns back", *latest_ns - ns);
    *latest_ns = ns;
}

#[test]
fn the_renewal_of_a_line_makes_few_reads() {
    let clock = settled();
    let (earlier_ns, start_ns) = (clock.machine.steady_ns(), clock.machine.steady_ns());
    calibrate::readings(&clock.machine, calibrate::TRIES);
    // Three for the suspended time, three for each try of two pairs, two at the end, and this one.
    let reads = (clock.machine.steady_ns() - start_ns) / (start_ns - earlier_ns);
    assert_eq!(reads, 3 + 2 * 3 * u64::from(calibrate::TRIES) + 2 + 1);
}

#[test]
fn a_claim_whose_holder_is_stopped_is_taken_over() {
    let (clock, mut latest_ns) = (settled(), 0);
    clock.machine.pass(200 * MS);
    // A thread claims the next line, and is then stopped in a debugger.
    assert!(clock.claim().is_some());
    let start_ns = clock.machine.steady_ns();
    while clock.latch.state().is_some_and(|(state, _)| state.line.ns_within_window(clock.machine.ticks()).is_none()) {
        read(&clock, 1, &mut latest_ns);
        clock.machine.pass(1_000);
    }
    let duration_ns = clock.machine.steady_ns() - start_ns;
    assert!((CLAIM_NS / 2..2 * CLAIM_NS).contains(&duration_ns), "{duration_ns}");
    assert_eq!(clock.faults(), Faults::default());
}

#[test]
fn a_writer_that_is_stopped_while_it_fills_a_slot_harms_nobody() {
    let (clock, mut latest_ns) = (settled(), 0);
    let (state, sequence) = clock.latch.state().unwrap();
    let lost = clock.latch.draft(sequence).unwrap();
    for n in 0..20_000 {
        read(&clock, n % 2, &mut latest_ns);
        clock.machine.pass(100_000);
    }
    // The thread continues, with a state that is two seconds old.
    clock.latch.fill(&lost, &state);
    assert_eq!(clock.latch.publish(lost), None);
    read(&clock, 0, &mut latest_ns);
    assert_eq!((clock.faults(), clock.rejection()), (Faults::default(), None));
}

#[test]
fn a_child_goes_on_without_its_parents_threads() {
    let (clock, mut latest_ns) = (settled(), 0);
    clock.machine.pass(200 * MS);
    assert!(clock.claim().is_some());
    let (_, sequence) = clock.latch.state().unwrap();
    let drafts: Vec<_> = std::iter::from_fn(|| clock.latch.draft(sequence)).collect();
    assert!(drafts.len() > 4 && clock.claim().is_none());
    clock.after_fork();
    read(&clock, 0, &mut latest_ns);
    assert_ne!(clock.latch.state().unwrap().1, sequence, "the child drew a line");
}
