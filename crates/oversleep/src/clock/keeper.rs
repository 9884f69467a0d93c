//! The keeper of a clock: starts it on first use, draws its lines, watches its counter, and takes the counter out of use
//! if it fails. Everything that threads share is in here.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering, fence};

use crate::sys;

use super::bucket::Bucket;
use super::demotion::Listeners;
use super::latch::{Latch, Reading};
use super::latest::Latest;
use super::machine::Machine;
use super::reason::{Faults, Reason};
use super::servo::{Pair, Readings, State, TRYING_CAUTION_NS};
use super::watch::{self, Sight, Suspicion};
use super::{calibrate, judge};

const UNTRIED: u8 = 0;
const TRYING: u8 = 1;
const DONE: u8 = 2;

/// A thread that has claimed the next line needs a microsecond to draw it. After this time it has lost its processor,
/// and another thread may draw the line.
const CLAIM_NS: u64 = 1_000_000;
/// The time between two questions to the kernel, which take about 3 µs.
const KERNEL_NS: u64 = 400_000_000;
/// Tries for a first look at the counter, and for a close one after a suspicion.
const LOOK_TRIES: u32 = 3;
const CLOSE_TRIES: u32 = 24;

/// What the caller needs of a reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    /// It doesn't go back within its thread.
    Plain,
    /// It doesn't go back at all.
    Ordered,
}

/// A clock and everything it knows.
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
                self.latest.raise_from(latest_ns, ns)
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
        let ns = self.machine.with_seen(|seen| seen.raised(ns.max(floor_ns)));
        if order == Order::Ordered { self.latest.raise(ns) } else { ns }
    }

    /// Draws the next line if this one has ended and no other thread does. Otherwise examines the line if this thread
    /// hasn't yet, or has read something odd.
    fn refresh(&self, is_odd: bool) {
        let Some((state, sequence)) = self.latch.state() else { return };
        if state.line.ns_within_window(self.machine.ticks_ordered()).is_none() {
            // Claim before comparing, so that only one thread pays for the comparison.
            if let Some(claim) = self.claim() {
                self.renew(&state, sequence);
                let _ = self.claim.compare_exchange(claim, 0, Ordering::Release, Ordering::Relaxed);
            }
        } else if is_odd || self.machine.with_seen(|seen| seen.sequence()) != sequence {
            self.examine(&state, sequence);
        }
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
            // The counter came into use after this thread found none, and the operating system's clock may be ahead of
            // its line.
            DONE if self.latch.is_started() => {
                self.refresh(false);
                self.by_line_ns(0)
            }
            DONE => {
                self.machine.with_seen(|seen| seen.examined(0));
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

    /// Claims the next line, unless another thread did less than a millisecond ago.
    pub(super) fn claim(&self) -> Option<u64> {
        let now_ns = self.machine.steady_ns().max(1);
        let held_ns = self.claim.load(Ordering::Relaxed);
        if held_ns != 0 && now_ns.wrapping_sub(held_ns) < CLAIM_NS {
            return None;
        }
        self.claim.compare_exchange(held_ns, now_ns, Ordering::Acquire, Ordering::Relaxed).ok().map(|_| now_ns)
    }

    fn renew(&self, state: &State, sequence: u64) {
        let mut readings = calibrate::readings(&self.machine, calibrate::TRIES);
        let suspicion = |&Readings { steady: pair, width, cpu, .. }: &Readings| {
            watch::suspicion(state, &Sight { pair, width, cpu })
        };
        let mut is_suspect = suspicion(&readings).is_some();
        if is_suspect {
            readings = calibrate::readings(&self.machine, CLOSE_TRIES);
            let close = suspicion(&readings).filter(|_| !state.is_before_suspend(readings.suspended_ns));
            is_suspect = close.is_some();
            if close.is_some_and(|suspicion| self.suspect(&suspicion)) {
                return;
            }
        }
        if self.must_check_kernel(readings.steady.ns)
            && let Some(reason) = self.objection()
        {
            return self.demote(reason);
        }
        let next = state.next(&readings);
        self.publish(sequence, &if is_suspect { next.with_former_rate(state, readings.steady) } else { next });
    }

    /// Puts this state in use, unless another thread was faster.
    pub(super) fn publish(&self, sequence: u64, next: &State) {
        // Only now, so that a thread that loses its processor keeps no slot.
        if let Some(draft) = self.latch.draft(sequence) {
            self.latch.fill(&draft, next);
            if let Some(sequence) = self.latch.publish(draft) {
                self.machine.with_seen(|seen| seen.examined(sequence));
            }
        }
    }

    /// Compares this thread's counter with the line. A thread does this once per line.
    fn examine(&self, state: &State, sequence: u64) {
        let suspicion = |tries| watch::suspicion(state, &calibrate::sight(&self.machine, tries));
        if suspicion(LOOK_TRIES).is_some()
            && let Some(suspicion) = suspicion(CLOSE_TRIES)
            && !state.is_before_suspend(calibrate::suspended_ns(&self.machine))
            && self.suspect(&suspicion)
        {
            return;
        }
        self.machine.with_seen(|seen| seen.examined(sequence));
    }

    /// Counts a reading below an earlier one. Whether the counter went out of use for that.
    fn was_behind(&self, sequence: u64, behind_ns: u64) -> bool {
        self.backward.fetch_add(1, Ordering::Relaxed);
        self.backward_max_ns.fetch_max(behind_ns, Ordering::Relaxed);
        // If another line was drawn meanwhile, the reading belongs to the old one, and says nothing.
        match self.latch.state() {
            Some((_, now)) if now == sequence => self.suspect(&watch::behind(behind_ns)),
            _ => true,
        }
    }

    /// Acts on a suspicion. Whether the counter went out of use.
    fn suspect(&self, suspicion: &Suspicion) -> bool {
        self.suspected.fetch_add(1, Ordering::Relaxed);
        let objection = self.objection();
        let is_fault = suspicion.is_fault() || self.bucket.add(self.machine.steady_ns());
        if objection.is_none() && !is_fault {
            return false;
        }
        self.demote(objection.unwrap_or(suspicion.reason));
        true
    }

    fn must_check_kernel(&self, now_ns: u64) -> bool {
        let kernel_checked_ns = self.kernel_checked_ns.load(Ordering::Relaxed);
        now_ns.wrapping_sub(kernel_checked_ns) >= KERNEL_NS
            && self
                .kernel_checked_ns
                .compare_exchange(kernel_checked_ns, now_ns, Ordering::Relaxed, Ordering::Relaxed)
                .is_ok()
    }

    fn objection(&self) -> Option<Reason> {
        let _uncancelled = sys::uncancelled();
        self.machine.objection()
    }

    /// Takes the counter out of use for good. It never waits for another thread.
    pub(crate) fn demote(&self, reason: Reason) {
        if reason.leaves_counter_sound() {
            self.shorten();
        }
        while let Some((state, sequence)) = self.latch.state() {
            // Other threads continue with the line until the latch stops, so time continues from its end.
            self.latest.raise(state.line.end_ns());
            self.record_rejection(reason);
            self.is_demoted.store(true, Ordering::Relaxed);
            if self.latch.stop(sequence) {
                self.listeners.announce(&reason);
                return;
            }
        }
    }

    /// Draws a short line, because time will stand still until its end.
    fn shorten(&self) {
        if let Some((state, sequence)) = self.latch.state() {
            let readings = calibrate::readings(&self.machine, calibrate::TRIES);
            self.publish(sequence, &state.next(&readings).for_a_moment());
        }
    }

    fn record_rejection(&self, reason: Reason) {
        if !self.is_rejected.swap(true, Ordering::Relaxed) {
            let _ = self.rejected.set(reason);
        }
    }

    /// Cleans up in a forked child, where other threads no longer finish what they had begun.
    pub(crate) fn after_fork(&self) {
        self.latch.free_slots();
        self.claim.store(0, Ordering::Relaxed);
        // The thread that tried the counter may already have a result.
        let is_tried = self.latch.is_started() || self.is_rejected.load(Ordering::Relaxed);
        let phase = if is_tried { DONE } else { UNTRIED };
        let _ = self.phase.compare_exchange(TRYING, phase, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// The state of the counter if it is in use. Starts the clock.
    pub(crate) fn counter_state(&self) -> Option<State> {
        self.now_ns();
        self.latch.state().map(|(state, _)| state)
    }

    /// Why the counter isn't in use, and whether it was. There is no reason yet while another thread is calibrating.
    pub(crate) fn rejection(&self) -> Option<(Reason, bool)> {
        Some((*self.rejected.get()?, self.is_demoted.load(Ordering::Relaxed)))
    }

    /// Calls `callback` when the counter goes out of use, or now if it already did. False if there is no room.
    pub(crate) fn on_demotion(&self, callback: fn(&Reason)) -> bool {
        let is_added = self.listeners.add(callback);
        if let Some((reason, true)) = self.rejection()
            && !self.latch.is_started()
        {
            self.listeners.announce(&reason);
        }
        is_added
    }

    /// What was suspected and counted so far.
    pub(crate) fn faults(&self) -> Faults {
        let of = |count: &AtomicU64| count.load(Ordering::Relaxed);
        Faults {
            suspected: of(&self.suspected),
            backward: of(&self.backward),
            backward_max_ns: of(&self.backward_max_ns),
        }
    }
}

#[cfg(test)]
#[path = "keeper_tests.rs"]
mod tests;
