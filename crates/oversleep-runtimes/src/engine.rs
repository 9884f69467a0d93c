//! Operations that pass items on: the amount to request, time limits, and the interpretation of their records.

use std::time::Duration;

use oversleep_measure::{Depth, Plan};
use oversleep_record::Nanos;
use oversleep_record::probe::OpKind;
use oversleep_record::series::{Quantity, Unit};

/// How long a streaming engine may take to start and warm up before its first window. One starts in 3 s on an idle
/// machine, and its threads park hundreds of times meanwhile.
const ENGINE_START_MAX: Duration = Duration::from_secs(60);
/// How long items may be in transit after the last one was due.
const UNDER_WAY_MAX: Duration = Duration::from_secs(20);

/// Whether such an operation passes items on.
pub fn passes_items(kind: OpKind) -> bool {
    matches!(kind, OpKind::Rate | OpKind::Latency)
}

/// The quantity that such operations measure.
pub fn quantity(kind: OpKind) -> Option<(Quantity, Unit)> {
    match kind {
        OpKind::Rate => Some((Quantity::ItemsPerSecond, Unit::Hz)),
        OpKind::Latency => Some((Quantity::ItemLatency, Unit::Ns)),
        OpKind::Wait | OpKind::Clock | OpKind::Work => None,
    }
}

/// The window length and how many windows to count, or the period of items and how many items.
pub fn amount(kind: OpKind, depth: Depth) -> (Nanos, u64) {
    match kind {
        OpKind::Rate => (Nanos::from_secs(1), depth.pick(3, 4, 10)),
        _ => (Nanos::from_millis(1), depth.pick(1_000, 2_000, 5_000)),
    }
}

/// The number of rounds: each one starts an engine, which takes seconds.
pub fn rounds(plan: &Plan) -> u32 {
    plan.depth.pick(1, 3, 6)
}

/// How long a step may take.
pub fn longest(requested: Duration, count: u64) -> Duration {
    // One more window passes before the first one that counts.
    ENGINE_START_MAX + requested.saturating_mul(u32::try_from(count + 2).unwrap_or(u32::MAX)) + UNDER_WAY_MAX
}

/// The estimated time from the start of such a process to its first window.
pub const START: Nanos = Nanos::from_secs(5);
