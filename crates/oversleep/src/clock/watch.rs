//! What makes a counter suspect. Pure arithmetic: readings in, suspicions out.
//!
//! The counter is compared with a clock that is never adjusted (`CLOCK_MONOTONIC_RAW` on Linux), so NTP can't be
//! mistaken for a fault. This happens whenever a line is drawn, and whenever a thread first reads a line that another
//! thread drew: each thread's processor is thus compared with the line's processor ten times a second.

use super::reason::Reason;
use super::servo::{PAIR_NS, Pair, State, part, ticks_between};

/// A counter with an error of this much is taken out of use at once. The target is 30 µs, and a part of the error may
/// arise before the counter is read.
pub(crate) const FAULT_NS: u64 = 20_000;
/// Two readings may differ by this much without a fault.
const NOISE_NS: u64 = 2_000;
/// A counter and a clock on two oscillators may drift apart by this much between two lines. Oscillators follow the
/// temperature by a few parts per million; the target is a change of 200, which then fills the bucket in half a second.
const DRIFT_PPM: u64 = 50;
/// An ordered reading that is below an earlier one by more than this is counted. Cores of a healthy machine differ by
/// a few ticks.
pub(crate) const BEHIND_NS: u64 = 1_000;

/// The counter and the steady clock at one moment, and where they were read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sight {
    pub(crate) pair: Pair,
    /// The time between the counter readings before and after the clock's, in ticks.
    pub(crate) width: u64,
    pub(crate) cpu: u32,
}

/// How far the counter is from where it should be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Suspicion {
    /// Positive if the counter is ahead.
    pub(crate) deviation_ns: i64,
    /// Over this time.
    pub(crate) elapsed_ns: u64,
    pub(crate) reason: Reason,
}

impl Suspicion {
    /// Whether one such reading is enough evidence.
    pub(crate) fn is_fault(&self) -> bool {
        self.deviation_ns.unsigned_abs() >= FAULT_NS
    }
}

/// Whether the counter is where the state's steady track predicts it.
pub(crate) fn suspicion(state: &State, sight: &Sight) -> Option<Suspicion> {
    let track = &state.steady;
    let deviation_ns = track.deviation_ns(sight.pair);
    let elapsed_ns = sight.pair.ns.saturating_sub(track.last.ns);
    let width_ns = track.rate.saturating_ns(sight.width);
    // The possible error of this reading, of the line and of its rate.
    let allowed_ns = NOISE_NS
        .saturating_add(width_ns)
        .saturating_add(state.width_ns)
        .saturating_add(part(elapsed_ns, DRIFT_PPM, 1_000_000))
        .saturating_add(track.doubt_of_pairs_ns(elapsed_ns, PAIR_NS.max(state.width_ns)));
    if deviation_ns.unsigned_abs() <= allowed_ns {
        return None;
    }
    let cpus = [state.cpu, sight.cpu];
    let reason = if ticks_between(track.last.ticks, sight.pair.ticks) == Some(0) && state.cpu == sight.cpu {
        Reason::CounterStopped { ns: elapsed_ns }
    } else {
        Reason::CounterJumped { ns: deviation_ns, over_ns: elapsed_ns, cpus }
    };
    Some(Suspicion { deviation_ns, elapsed_ns, reason })
}

/// The suspicion that follows from a reading that is this far below an earlier one.
pub(crate) fn behind(ns: u64) -> Suspicion {
    let deviation_ns = -i64::try_from(ns).unwrap_or(i64::MAX);
    Suspicion { deviation_ns, elapsed_ns: 0, reason: Reason::CounterWentBack { ns } }
}

#[cfg(test)]
#[path = "watch_tests.rs"]
mod tests;
