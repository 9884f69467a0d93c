//! Time limits for programs.

use std::time::Duration;

use oversleep_record::probe::OpKind;
use oversleep_record::{ExperimentId, Nanos};

use crate::engine;
use crate::steps::Step;

/// How long a program may take to say hello: a cold JVM on a busy machine takes a second.
pub const START_MAX: Duration = Duration::from_secs(15);
/// How long a step may take in addition to a multiple of the request.
const STEP_MAX: Duration = Duration::from_secs(3);
/// The multiple of the request that a step may take: a tick of Windows is 15.6 ms for 1 ms.
const STEP_FACTOR: u32 = 40;
/// Replaces `STEP_MAX` for a request below a millisecond, which may be rounded down to zero: some calls then wait forever.
const SHORT_MAX: Duration = Duration::from_millis(400);
/// How long one call may take: Free Pascal's main thread waits 100 ms for another thread.
const EACH_MAX: Duration = Duration::from_millis(120);

/// How long the next step may take; `None` after the last one.
pub fn longest(kind: OpKind, step: Option<&Step>) -> Duration {
    let Some(step) = step else { return STEP_MAX };
    let requested = Duration::from_nanos(step.requested.0.unsigned_abs());
    if engine::passes_items(kind) {
        return engine::longest(requested, step.count);
    }
    let count = u32::try_from(step.count).unwrap_or(u32::MAX);
    let all = requested * count * STEP_FACTOR;
    if is_short(kind, step) { SHORT_MAX + all } else { STEP_MAX + all.max(EACH_MAX * count) }
}

/// Whether a step's request may be rounded down to zero.
pub fn is_short(kind: OpKind, step: &Step) -> bool {
    kind == OpKind::Wait && step.requested < Nanos::from_millis(1) && step.experiment != ExperimentId::B10
}
