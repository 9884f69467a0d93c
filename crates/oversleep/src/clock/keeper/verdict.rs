//! The clock's reaction to a counter that fails: it counts what is suspicious, asks the kernel, takes the counter out
//! of use and records why.

use std::sync::atomic::{AtomicU64, Ordering};

use super::Keeper;
use crate::clock::machine::Machine;
use crate::clock::reason::{Faults, Reason};
use crate::clock::watch::{self, Suspicion};
use crate::sys;

/// The time between two questions to the kernel, which take about 3 µs.
const KERNEL_NS: u64 = 400_000_000;

impl<M: Machine> Keeper<M> {
    /// Counts a reading below an earlier one. Returns whether the counter went out of use because of it.
    pub(super) fn was_behind(&self, sequence: u64, behind_ns: u64) -> bool {
        self.backward.fetch_add(1, Ordering::Relaxed);
        self.backward_max_ns.fetch_max(behind_ns, Ordering::Relaxed);
        // If another line was drawn meanwhile, the reading belongs to the old one and proves nothing.
        match self.latch.state() {
            Some((_, now)) if now == sequence => self.suspect(&watch::behind(behind_ns)),
            _ => true,
        }
    }

    /// Acts on a suspicion. Returns whether the counter went out of use.
    pub(super) fn suspect(&self, suspicion: &Suspicion) -> bool {
        self.suspected.fetch_add(1, Ordering::Relaxed);
        let objection = self.objection();
        let is_fault = suspicion.is_fault() || self.bucket.add(self.machine.steady_ns());
        if objection.is_none() && !is_fault {
            return false;
        }
        self.demote(objection.unwrap_or(suspicion.reason));
        true
    }

    pub(super) fn must_check_kernel(&self, now_ns: u64) -> bool {
        let kernel_checked_ns = self.kernel_checked_ns.load(Ordering::Relaxed);
        now_ns.wrapping_sub(kernel_checked_ns) >= KERNEL_NS
            && self
                .kernel_checked_ns
                .compare_exchange(kernel_checked_ns, now_ns, Ordering::Relaxed, Ordering::Relaxed)
                .is_ok()
    }

    pub(super) fn objection(&self) -> Option<Reason> {
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

    pub(super) fn record_rejection(&self, reason: Reason) {
        if !self.is_rejected.swap(true, Ordering::Relaxed) {
            let _ = self.rejected.set(reason);
        }
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
