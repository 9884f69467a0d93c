//! Sleeps in a process whose clock is taken back while it waits or works, in virtual time.

use std::cell::Cell;

use proptest::prelude::*;

use super::*;

const MS: u64 = 1_000_000;
const S: u64 = 1_000_000_000;
/// A sleep never exceeds its duration by more than this because of a namespace.
const BOUND_NS: u64 = 10 * MS;

/// A kernel whose clocks take 20 ns to read, and that moves one of them back or forward.
struct Moved {
    true_ns: Cell<u64>,
    offset_ns: Cell<i64>,
    /// When the clock moves, and how far.
    moves: Cell<Option<(u64, i64)>>,
    /// The thread loses its processor each time after this many reads, for this long.
    preempted: Cell<(u32, u64)>,
    reads: Cell<u32>,
}

impl Moved {
    fn read(&self) {
        let (every, ns) = self.preempted.get();
        self.reads.set(self.reads.get() + 1);
        self.pass(if self.reads.get().is_multiple_of(every) { ns } else { 20 });
    }

    fn pass(&self, ns: u64) {
        self.true_ns.set(self.true_ns.get() + ns);
        if let Some((at_ns, by_ns)) = self.moves.get()
            && self.true_ns.get() >= at_ns
        {
            self.offset_ns.set(self.offset_ns.get() + by_ns);
            self.moves.set(None);
        }
    }
}

impl Clocks for Moved {
    fn monotonic_ns(&self) -> u64 {
        self.read();
        self.true_ns.get().wrapping_add_signed(self.offset_ns.get())
    }

    fn real_ns(&self) -> u64 {
        self.read();
        1_000_000 * S + self.true_ns.get()
    }
}

fn line() -> TimeLine<Moved> {
    let clocks = Moved {
        true_ns: Cell::new(7_200 * S),
        offset_ns: Cell::new(0),
        moves: Cell::new(None),
        preempted: Cell::new((u32::MAX, 20)),
        reads: Cell::new(0),
    };
    TimeLine::new(clocks)
}

/// Sleeps as the library does: until the clock shows the deadline, in waits that the kernel ends by its own clock, and
/// that a signal may end after `longest_ns`. Returns how long that took.
fn sleep(line: &TimeLine<Moved>, duration_ns: u64, longest_ns: u64) -> u64 {
    let start_ns = line.clocks.true_ns.get();
    let deadline_ns = line.now_ns() + duration_ns;
    while line.now_ns() < deadline_ns {
        let kernel_ns = line.of_kernel_ns(deadline_ns);
        let now_ns = line.clocks.monotonic_ns();
        // The kernel's timer is on the clock of the namespace in which it was set.
        line.clocks.pass(kernel_ns.saturating_sub(now_ns).clamp(1_000, longest_ns));
    }
    line.clocks.true_ns.get() - start_ns
}

proptest! {
    #[test]
    fn a_sleep_exceeds_its_duration_by_10_ms_at_most(
        steps in proptest::collection::vec((1..400 * S, 0..2 * S, 0..3 * S), 1..6),
        duration_ns in 1_000..2 * S,
        longest_ns in prop_oneof![Just(u64::MAX), MS..100 * MS],
        (every, away_ns) in (5_u32..12, 20..100 * MS),
        is_fork: bool,
    ) {
        let line = line();
        line.now_ns();
        line.clocks.preempted.set((every, away_ns));
        for (back_ns, before_ns, work_ns) in steps {
            // The process worked without reading the clock, and then entered the namespace, or was forked into it.
            line.clocks.pass(before_ns);
            if is_fork {
                line.note();
                line.clocks.offset_ns.set(line.clocks.offset_ns.get() - back_ns as i64);
                line.after_fork();
            } else {
                line.clocks.offset_ns.set(line.clocks.offset_ns.get() - back_ns as i64);
            }
            line.clocks.pass(work_ns);
            line.now_ns();
            // Time that the thread loses while it sleeps isn't the clock's fault.
            line.clocks.preempted.set((u32::MAX, 20));
            let slept_ns = sleep(&line, duration_ns, longest_ns);
            line.clocks.preempted.set((every, away_ns));
            prop_assert!((duration_ns..duration_ns + BOUND_NS).contains(&slept_ns), "{slept_ns} of {duration_ns}");
        }
    }

    /// The clock is moved back during the sleep, as a thread would see it if `setns` moved the clock between two of its
    /// instructions.
    #[test]
    fn a_sleep_during_which_the_clock_goes_back_does_so_too(
        back_ns in 1..4_000 * S, at_ns in 0..100 * MS, duration_ns in 1_000..200 * MS, longest_ns in MS..8 * MS,
    ) {
        let line = line();
        line.now_ns();
        line.clocks.moves.set(Some((line.clocks.true_ns.get() + at_ns, -(back_ns as i64))));
        let slept_ns = sleep(&line, duration_ns, longest_ns);
        prop_assert!((duration_ns..duration_ns + BOUND_NS).contains(&slept_ns), "{slept_ns} of {duration_ns}");
    }

    /// A deadline that was computed before the fork is met in the child.
    #[test]
    fn an_inherited_deadline_is_met(
        offset_ns in -(3_000 * S as i64)..3_000 * S as i64,
        left_ns in 3 * S..4 * S,
        (every, away_ns) in (5_u32..12, 20..100 * MS),
    ) {
        let line = line();
        let start_ns = line.clocks.true_ns.get();
        let deadline_ns = line.now_ns() + left_ns;
        line.clocks.preempted.set((every, away_ns));
        line.note();
        line.clocks.offset_ns.set(offset_ns);
        line.after_fork();
        line.clocks.preempted.set((u32::MAX, 20));
        let rest_ns = deadline_ns.saturating_sub(line.now_ns());
        sleep(&line, rest_ns, u64::MAX);
        let duration_ns = line.clocks.true_ns.get() - start_ns;
        // A shift below 1 ms isn't noticed, and moves the deadline by as much.
        prop_assert!(duration_ns + MS >= left_ns && duration_ns < left_ns + BOUND_NS, "{duration_ns} of {left_ns}");
    }
}
