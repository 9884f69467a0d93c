//! What the threads of a pipeline share, and how its run is broken off.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};

use oversleep_record::{Idling, Nanos, Unavailable};

use super::marks::Marks;
use super::ring::{Ring, Side};
use super::strategy::Kind;
use crate::bench::Bench;

/// Items that a worker takes before it looks at anything else.
pub(super) const BATCH: usize = 64;
/// How long after its start a paced source sends its first item.
pub(super) const LEAD: Nanos = Nanos(200_000);
/// A run that takes so many times its window is ended; items still in a queue are recorded as missed.
pub(super) const OVERRUN: i64 = 4;

/// A pipeline.
#[derive(Clone, Debug)]
pub(super) struct Line {
    /// How its threads idle.
    pub kind: Kind,
    /// The wait that parks.
    pub park: String,
    /// The grid that parks end on; `None` as the machine does.
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

/// What the threads of a run share.
pub(super) struct Shared {
    pub bench: Bench,
    pub line: Line,
    pub offered: Offered,
    pub rings: Vec<Ring>,
    pub ready: AtomicUsize,
    /// A thread has ended before its time, so nothing can go on.
    pub is_broken: AtomicBool,
    pub refused: OnceLock<Unavailable>,
    /// When it is ended at the latest.
    pub give_up_at: OnceLock<Nanos>,
    /// From when to when throughput is counted.
    pub counted: OnceLock<(Nanos, Nanos)>,
    pub ended: Mutex<Vec<(usize, Ended)>>,
}

/// What one worker hands over.
#[derive(Debug, Default)]
pub(super) struct Ended {
    pub idling: Idling,
    pub items: u64,
    pub marks: Marks,
    pub latencies: Vec<(Nanos, Nanos)>,
}

impl Shared {
    pub fn is_over(&self) -> bool {
        self.is_broken.load(Ordering::Acquire) || self.bench.stopped()
    }

    pub fn is_late(&self) -> bool {
        self.give_up_at.get().is_some_and(|&at| self.bench.platform().now() >= at)
    }

    /// Ends the run: every thread that blocks is woken.
    pub fn break_off(&self) {
        self.is_broken.store(true, Ordering::Release);
        for ring in &self.rings {
            ring.ring(Side::Producer);
            ring.ring(Side::Consumer);
        }
    }
}

/// Breaks the run off where a thread ends before its time, also by a panic.
pub(super) struct Guard<'a>(pub &'a Shared, pub bool);

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        if !self.1 {
            self.0.break_off();
        }
    }
}
