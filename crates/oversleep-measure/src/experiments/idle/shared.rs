//! The shared state of a pipeline's threads, and how a run is aborted.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};

use oversleep_record::{Idling, Nanos, Unavailable};

use super::marks::Marks;
use super::ring::{Ring, Side};
use super::strategy::Kind;
use crate::bench::Bench;

/// Items that a worker takes before it checks anything else.
pub(super) const BATCH: usize = 64;
/// How long after its start a paced source sends its first item.
pub(super) const LEAD: Nanos = Nanos(200_000);
/// A run is aborted after this multiple of its window; items still in a queue are recorded as missed.
pub(super) const OVERRUN: i64 = 4;

/// A pipeline.
#[derive(Clone, Debug)]
pub(super) struct Line {
    /// How its threads idle.
    pub kind: Kind,
    /// The wait that parks.
    pub park: String,
    /// The grid on which parks end; `None` for the machine's own behaviour.
    pub grid: Option<Nanos>,
    /// Items that each queue holds.
    pub queue: usize,
    /// Workers, one after another.
    pub workers: usize,
    /// Thousandths of a unit of work for each item, in each worker.
    pub milli_units: u64,
}

/// How many items are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Offered {
    /// As many as there is room for; the source idles like the workers.
    FlatOut,
    /// So many per second, each when it is due; the source spins until then.
    PerSecond(u64),
}

/// The shared state of a run.
pub(super) struct Shared {
    pub bench: Bench,
    pub line: Line,
    pub offered: Offered,
    pub rings: Vec<Ring>,
    pub ready: AtomicUsize,
    /// Set if a thread has ended early, so that the run can't continue.
    pub is_broken: AtomicBool,
    pub refused: OnceLock<Unavailable>,
    /// The latest time at which it is aborted.
    pub give_up_at: OnceLock<Nanos>,
    /// The start and the end of the throughput measurement, if the queues filled at once.
    pub counted: OnceLock<(Nanos, Nanos)>,
    /// When the first worker and the last one saw their first items, where these are two, flat out.
    pub first_items: [OnceLock<Nanos>; 2],
    pub ended: Mutex<Vec<(usize, Ended)>>,
}

/// The results of one worker.
#[derive(Debug, Default)]
pub(super) struct Ended {
    pub idling: Idling,
    pub items: u64,
    pub marks: Marks,
    pub latencies: Vec<(Nanos, Nanos)>,
}

impl Shared {
    /// How much later the first items reached the last worker than the first one; `None` if they haven't reached it.
    fn filled_after(&self) -> Option<Nanos> {
        if self.rings.len() == 1 {
            return Some(Nanos::ZERO);
        }
        let [first, last] = &self.first_items;
        Some(*last.get()? - *first.get()?)
    }

    /// The start and the end of the throughput measurement. It is delayed until the pipeline has filled, so `None` until
    /// then.
    pub fn counted(&self) -> Option<(Nanos, Nanos)> {
        let (&(from, to), filled_after) = (self.counted.get()?, self.filled_after()?);
        Some((from + filled_after, to + filled_after))
    }

    pub fn is_over(&self) -> bool {
        self.is_broken.load(Ordering::Acquire) || self.bench.stopped()
    }

    pub fn is_late(&self) -> bool {
        self.give_up_at.get().is_some_and(|&at| self.bench.platform().now() >= at)
    }

    /// Ends the run and wakes every blocked thread.
    pub fn break_off(&self) {
        self.is_broken.store(true, Ordering::Release);
        for ring in &self.rings {
            ring.ring(Side::Producer);
            ring.ring(Side::Consumer);
        }
    }
}

/// Aborts the run if a thread ends early, including by a panic.
pub(super) struct Guard<'a>(pub &'a Shared, pub bool);

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        if !self.1 {
            self.0.break_off();
        }
    }
}
