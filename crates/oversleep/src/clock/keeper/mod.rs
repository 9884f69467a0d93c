//! The keeper of a clock starts it on first use and reads it. `lines` draws its lines, and `verdict` takes the counter
//! out of use if it fails. All state that threads share is here.

mod lines;
mod verdict;

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering, fence};

use super::bucket::Bucket;
use super::demotion::Listeners;
use super::latch::{Latch, Reading};
use super::latest::Latest;
use super::machine::Machine;
use super::reason::Reason;
use super::servo::{Pair, State, TRYING_CAUTION_NS};
use super::watch;
use super::{calibrate, judge};
use crate::sys;

const UNTRIED: u8 = 0;
const TRYING: u8 = 1;
const DONE: u8 = 2;

/// The order that the caller of a read needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    /// It doesn't go back within its thread.
    Plain,
    /// It doesn't go back at all.
    Ordered,
}

/// A clock with its whole state.
pub(crate) struct Keeper<M> {
    pub(super) machine: M,
    pub(super) latch: Latch,
    pub(super) latest: Latest,
    phase: AtomicU8,
    /// When a thread claimed the next line, by the steady clock; 0 if no thread does.
    claim: AtomicU64,
    /// Why the counter isn't in use; set once, before it goes out of use.
    rejected: OnceLock<Reason>,
    /// Whether a thread has begun to set `rejected`. Others must not try: they would wait for that thread, which doesn't
    /// exist in a child forked meanwhile.
    is_rejected: AtomicBool,
    /// Whether a counter that was in use has been taken out of use.
    is_demoted: AtomicBool,
    listeners: Listeners,
    bucket: Bucket,
    /// When the kernel was last asked, by the steady clock.
    kernel_checked_ns: AtomicU64,
    suspected: AtomicU64,
    backward: AtomicU64,
    backward_max_ns: AtomicU64,
}

impl<M: Machine> Keeper<M> {
    pub(crate) const fn new(machine: M) -> Self {
        Self {
            machine,
            latch: Latch::new(),
            latest: Latest::new(),
            phase: AtomicU8::new(UNTRIED),
            claim: AtomicU64::new(0),
            rejected: OnceLock::new(),
            is_rejected: AtomicBool::new(false),
            is_demoted: AtomicBool::new(false),
            listeners: Listeners::new(),
            bucket: Bucket::new(),
            kernel_checked_ns: AtomicU64::new(0),
            suspected: AtomicU64::new(0),
            backward: AtomicU64::new(0),
            backward_max_ns: AtomicU64::new(0),
        }
    }

    /// Nanoseconds now. The processor may read the counter slightly early.
    #[inline]
    pub(crate) fn now_ns(&self) -> u64 {
        match self.machine.with_seen(|seen| self.latch.now(seen, || self.machine.ticks())) {
            Reading::Time(ns) => ns,
            other => self.slow_ns(Order::Plain, other),
        }
    }

    /// Nanoseconds now. The processor reads the counter after every earlier load.
    #[inline]
    pub(crate) fn ordered_now_ns(&self) -> u64 {
        // Before the counter is read: a counter that is below this is behind another one.
        let latest_ns = self.latest.ns();
        // Orders the loads of the line after earlier loads; the counter read follows that. No instruction on x86-64.
        fence(Ordering::Acquire);
        match self.machine.with_seen(|seen| self.latch.now(seen, || self.machine.ticks_ordered())) {
            Reading::Time(ns) if ns.saturating_add(watch::BEHIND_NS) >= latest_ns => {
                let raised_ns = self.latest.raise_from(latest_ns, ns);
                if raised_ns > ns { self.given_ns(raised_ns) } else { ns }
            }
            Reading::Time(_) => self.slow_ns(Order::Ordered, Reading::Odd),
            other => self.slow_ns(Order::Ordered, other),
        }
    }

    #[cold]
    #[inline(never)]
    fn slow_ns(&self, order: Order, reading: Reading) -> u64 {
        let mut floor_ns = self.machine.with_seen(|seen| seen.ns());
        if order == Order::Ordered {
            floor_ns = floor_ns.max(self.latest.ns());
        }
        fence(Ordering::Acquire);
        let ns = match reading {
            Reading::NoCounter => self.without_counter_ns(),
            _ => {
                self.refresh(reading == Reading::Odd);
                self.by_line_ns(floor_ns)
            }
        };
        let ns = ns.max(floor_ns);
        self.given_ns(if order == Order::Ordered { self.latest.raise(ns) } else { ns })
    }

    /// Notes that this thread gets this time, which isn't from its counter. Returns the time, or a later one if the
    /// thread got that before.
    #[cold]
    fn given_ns(&self, ns: u64) -> u64 {
        let line = self.latch.line(|| 0);
        self.machine.with_seen(|seen| {
            let ns = seen.raised(ns);
            if let Some((line, _, sequence)) = line {
                seen.raise(sequence, &line);
            }
            ns
        })
    }

    /// The time by the current line, or by the operating system's clock if the next line is overdue. Counts a reading
    /// below `floor_ns`, which was learned before the counter is read.
    fn by_line_ns(&self, floor_ns: u64) -> u64 {
        loop {
            let Some((line, ticks, sequence)) = self.latch.line(|| self.machine.ticks_ordered()) else {
                return self.without_counter_ns();
            };
            if let Some(ns) = line.ns_within_grace(ticks) {
                let behind_ns = line.ns_before_start(ticks).max(floor_ns.saturating_sub(ns));
                if behind_ns > watch::BEHIND_NS && self.was_behind(sequence, behind_ns) {
                    continue;
                }
                return ns;
            }
            // The line is overdue, unless another was drawn meanwhile.
            if let Some((state, now)) = self.latch.state()
                && now == sequence
            {
                let mut pair = Pair { ticks, ns: self.machine.monotonic_ns() };
                // A pause between the two readings looks like a clock that is slewed, and would cost milliseconds.
                if !state.line.has_kept(pair.ticks, pair.ns) {
                    pair = calibrate::pair(&self.machine, calibrate::TRIES).0;
                }
                let suspended_ns = calibrate::suspended_ns(&self.machine);
                return self.latest.raise(state.overdue_ns(pair.ticks, pair.ns, suspended_ns));
            }
        }
    }

    #[inline(never)]
    fn without_counter_ns(&self) -> u64 {
        match self.phase.load(Ordering::Acquire) {
            // The counter came into use after this thread found none, and the thread's last time, from the operating
            // system's clock, may be ahead of the counter's line.
            DONE if self.latch.is_started() => {
                self.refresh(false);
                self.by_line_ns(0)
            }
            DONE => {
                self.machine.with_seen(|seen| seen.without_a_line());
                let ns = self.machine.monotonic_ns();
                // The operating system may read the counter that failed.
                if self.is_demoted.load(Ordering::Relaxed) { self.latest.raise(ns) } else { ns }
            }
            _ => self.first_use_ns(),
        }
    }

    #[cold]
    fn first_use_ns(&self) -> u64 {
        if self.phase.compare_exchange(UNTRIED, TRYING, Ordering::Acquire, Ordering::Relaxed).is_err() {
            // Another thread is calibrating, or this is a signal handler that interrupted it.
            return match self.phase.load(Ordering::Acquire) {
                DONE => self.without_counter_ns(),
                _ => self.latest.raise(self.machine.monotonic_ns().saturating_sub(TRYING_CAUTION_NS)),
            };
        }
        let _uncancelled = sys::uncancelled();
        let judged = match self.machine.refusal() {
            Some(reason) => Err(reason),
            None => judge::costs(calibrate::costs(&self.machine))
                .and_then(|()| judge::after_calibration(calibrate::first_state(&self.machine))),
        };
        match judged {
            Ok(state) => {
                self.kernel_checked_ns.store(state.steady.last.ns, Ordering::Relaxed);
                self.latch.start(&state);
            }
            Err(reason) => self.record_rejection(reason),
        }
        self.phase.store(DONE, Ordering::Release);
        self.without_counter_ns()
    }

    /// Cleans up in a forked child, where other threads no longer finish what they had begun.
    pub(crate) fn after_fork(&self) {
        self.latch.free_slots();
        self.claim.store(0, Ordering::Relaxed);
        // The thread that tried the counter may already have stored a result.
        let is_tried = self.latch.is_started() || self.is_rejected.load(Ordering::Relaxed);
        let phase = if is_tried { DONE } else { UNTRIED };
        let _ = self.phase.compare_exchange(TRYING, phase, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// The state of the counter if it is in use. Starts the clock.
    pub(crate) fn counter_state(&self) -> Option<State> {
        self.now_ns();
        self.latch.state().map(|(state, _)| state)
    }
}

#[cfg(test)]
mod tests;
