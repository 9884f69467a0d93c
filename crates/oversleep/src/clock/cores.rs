//! Whether the counters of two cores agree: two threads, each pinned to its core, pass a reading back and forth.
//!
//! A reading below the one just received shows a skew of at least the difference.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use crate::sys::{self, counter};

/// Hand-offs per pair of cores. Each takes about 0.1–0.2 µs, and the first few warm up.
const HANDOFFS: u64 = 400;
/// A pair that takes longer than this, because its cores are busy, is inconclusive.
const PATIENCE_NS: u64 = 20_000_000;
/// How many other cores a quick comparison visits. A skew usually separates whole sockets.
const SAMPLE: usize = 4;

/// The largest skew, in ticks, between the first core and a few others across the machine: 0 if they agree, `None` if
/// they couldn't be compared.
pub(super) fn sample_skew() -> Option<u64> {
    let cpus = sys::allowed_cpus()?;
    let stride = cpus.len().div_ceil(SAMPLE).max(1);
    largest_skew(&cpus, cpus.iter().copied().rev().step_by(stride))
}

/// The largest skew, in ticks, between the first core and every other that this thread may use, and how many cores were
/// compared; `None` if they couldn't be.
pub(super) fn skew_of_all() -> Option<(u64, usize)> {
    let cpus = sys::allowed_cpus()?;
    Some((largest_skew(&cpus, cpus.iter().copied())?, cpus.len()))
}

fn largest_skew(cpus: &[usize], others: impl Iterator<Item = usize>) -> Option<u64> {
    let (&first, _) = cpus.split_first()?;
    let mut largest = 0;
    for other in others.filter(|&other| other != first) {
        largest = largest.max(skew_between(first, other)?);
    }
    Some(largest)
}

fn skew_between(one: usize, other: usize) -> Option<u64> {
    let table = Arc::new(Table::default());
    let deadline_ns = sys::monotonic_ns().saturating_add(PATIENCE_NS);
    let player = |cpu: usize, parity: u64| {
        let table = Arc::clone(&table);
        move || sys::pin_this_thread(cpu).ok().and_then(|()| table.play(parity, deadline_ns, counter::ticks_ordered))
    };
    let skew = largest_by(deadline_ns, [player(one, 0), player(other, 1)]);
    // Makes a thread that is still running give up.
    table.given_up.store(true, Ordering::Relaxed);
    skew
}

/// The larger of two threads' results; `None` if either has none, or not by the deadline. The threads aren't joined,
/// because one whose core is kept by a higher priority may run much later.
fn largest_by(deadline_ns: u64, players: [impl FnOnce() -> Option<u64> + Send + 'static; 2]) -> Option<u64> {
    let (sender, results) = mpsc::channel();
    for player in players {
        let sender = sender.clone();
        let play_and_send = move || {
            // After the deadline there is no receiver any more.
            let _ = sender.send(player());
        };
        thread::Builder::new().spawn(play_and_send).ok()?;
    }
    drop(sender);
    let next = || {
        let left_ns = deadline_ns.saturating_sub(sys::monotonic_ns());
        results.recv_timeout(Duration::from_nanos(left_ns)).ok()?
    };
    Some(next()?.max(next()?))
}

#[derive(Default)]
struct Table {
    turn: AtomicU64,
    ticks: AtomicU64,
    given_up: AtomicBool,
}

impl Table {
    /// Takes every turn of this parity, and returns the largest step back.
    fn play(&self, parity: u64, deadline_ns: u64, read_ticks: impl Fn() -> u64) -> Option<u64> {
        let mut largest = 0;
        for turn in (parity..HANDOFFS).step_by(2) {
            let mut spins = 0_u32;
            while self.turn.load(Ordering::Acquire) != turn {
                spins += 1;
                if spins.is_multiple_of(1024) {
                    if self.given_up.load(Ordering::Relaxed) || sys::monotonic_ns() > deadline_ns {
                        return None;
                    }
                    thread::yield_now();
                }
                std::hint::spin_loop();
            }
            let now = read_ticks();
            let before = self.ticks.load(Ordering::Relaxed);
            // A counter that wraps in these microseconds, once in a century, would show an absurd skew.
            largest = largest.max(before.saturating_sub(now));
            self.ticks.store(now, Ordering::Relaxed);
            self.turn.store(turn + 1, Ordering::Release);
        }
        Some(largest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_core_agrees_with_itself() {
        assert_eq!(largest_skew(&[0], [0].into_iter()), Some(0));
        assert_eq!(largest_skew(&[], [].into_iter()), None);
    }

    #[test]
    fn a_step_back_is_found_on_either_side() {
        for lag in [[0, 0], [0, 50], [50, 0]] {
            let (table, time) = (Table::default(), AtomicU64::new(1_000));
            let read = |side: usize| time.fetch_add(1, Ordering::Relaxed) - lag[side];
            let skews = thread::scope(|scope| {
                let even = scope.spawn(|| table.play(0, u64::MAX, || read(0)));
                let odd = scope.spawn(|| table.play(1, u64::MAX, || read(1)));
                [even.join().unwrap().unwrap(), odd.join().unwrap().unwrap()]
            });
            // The modelled counter advances by one per read, which hides one tick of the lag.
            assert_eq!(skews, lag.map(|lag: u64| lag.saturating_sub(1)));
        }
    }

    #[test]
    fn a_lost_player_is_not_waited_for() {
        let table = Table { given_up: AtomicBool::new(true), ..Table::default() };
        assert_eq!(table.play(1, u64::MAX, || 0), None);
        assert_eq!(Table::default().play(1, 0, || 0), None);
    }

    #[test]
    fn an_absent_core_is_not_compared() {
        assert_eq!(skew_between(0, usize::MAX), None);
    }

    #[test]
    fn a_core_that_runs_no_thread_is_not_waited_for() {
        let (let_in, turn) = mpsc::channel::<u64>();
        let player = |turn: Option<mpsc::Receiver<u64>>| move || turn.map_or(Some(3), |turn| turn.recv().ok());
        let deadline_ns = sys::monotonic_ns() + 1_000_000;
        assert_eq!(largest_by(deadline_ns, [player(None), player(Some(turn))]), None);
        assert!(sys::monotonic_ns() >= deadline_ns);
        // A late result is ignored.
        let_in.send(5).unwrap();
    }

    #[test]
    fn the_larger_skew_of_two_players_counts() {
        let player = |skew: Option<u64>| move || skew;
        assert_eq!(largest_by(u64::MAX, [player(Some(3)), player(Some(8))]), Some(8));
        assert_eq!(largest_by(u64::MAX, [player(None), player(Some(8))]), None);
    }
}
