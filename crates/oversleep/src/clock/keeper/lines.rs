//! Draws the lines of a clock, and has each thread examine each line once.

use std::sync::atomic::Ordering;

use super::Keeper;
use crate::clock::calibrate;
use crate::clock::machine::Machine;
use crate::clock::servo::{Readings, State};
use crate::clock::watch::{self, Sight};

/// A thread needs a microsecond to draw the line that it has claimed. After this time it must have lost its processor,
/// and another thread may draw the line.
pub(super) const CLAIM_NS: u64 = 1_000_000;
/// Tries for a first reading of the counter, and for a close one after a suspicion.
const LOOK_TRIES: u32 = 3;
const CLOSE_TRIES: u32 = 24;

impl<M: Machine> Keeper<M> {
    /// Draws the next line if this one has ended and no other thread does. Otherwise examines the line if this thread
    /// hasn't yet, or has read something odd.
    pub(super) fn refresh(&self, is_odd: bool) {
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

    /// Claims the next line, unless another thread did less than a millisecond ago.
    pub(in crate::clock) fn claim(&self) -> Option<u64> {
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
    pub(in crate::clock) fn publish(&self, sequence: u64, next: &State) {
        // The slot is taken only now, so that a thread that loses its processor before this keeps no slot.
        if let Some(draft) = self.latch.draft(sequence) {
            self.latch.fill(&draft, next);
            if let Some(sequence) = self.latch.publish(draft) {
                self.machine.with_seen(|seen| seen.examined(sequence, &next.line));
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
        self.machine.with_seen(|seen| seen.examined(sequence, &state.line));
    }

    /// Draws a short line, because time will stand still until its end.
    pub(super) fn shorten(&self) {
        if let Some((state, sequence)) = self.latch.state() {
            let readings = calibrate::readings(&self.machine, calibrate::TRIES);
            self.publish(sequence, &state.next(&readings).for_a_moment());
        }
    }
}
