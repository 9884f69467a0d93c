//! Time limits for programs.

use std::time::Duration;

use oversleep_record::probe::OpKind;
use oversleep_record::{ExperimentId, Nanos};

use crate::engine;
use crate::steps::Step;

/// The multiple of the request that a step may take: a tick of Windows is 15.6 ms for 1 ms.
const STEP_FACTOR: u32 = 40;
/// How long one call may take: Free Pascal's main thread waits 100 ms for another thread.
const EACH_MAX: Duration = Duration::from_millis(120);

/// How long a program may take.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// To list what it measures.
    pub list: Duration,
    /// To say hello: a cold JVM on a busy machine takes a second.
    pub hello: Duration,
    /// For a step, in addition to a multiple of the request.
    pub step: Duration,
    /// Replaces `step` for a request below a millisecond, which may be rounded down to zero: some calls then wait forever.
    pub short_step: Duration,
    /// To end after it closed its output.
    pub end: Duration,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            list: Duration::from_secs(10),
            hello: Duration::from_secs(15),
            step: Duration::from_secs(3),
            short_step: Duration::from_millis(400),
            end: Duration::from_secs(1),
        }
    }
}

impl Limits {
    /// How long the next step may take; `None` after the last one.
    pub(crate) fn longest(&self, kind: OpKind, step: Option<&Step>) -> Duration {
        let Some(step) = step else { return self.step };
        let requested = Duration::from_nanos(step.requested.0.unsigned_abs());
        if engine::passes_items(kind) {
            return self.step + engine::longest(requested, step.count);
        }
        let count = u32::try_from(step.count).unwrap_or(u32::MAX);
        let all = requested * count * STEP_FACTOR;
        if is_short(kind, step) { self.short_step + all } else { self.step + all.max(EACH_MAX * count) }
    }
}

/// Whether a step's request may be rounded down to zero.
pub(crate) fn is_short(kind: OpKind, step: &Step) -> bool {
    kind == OpKind::Wait && step.requested < Nanos::from_millis(1) && step.experiment != ExperimentId::B10
}
