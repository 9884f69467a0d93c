//! Rounds that don't end: a wait never returns where something moves the clocks of this process.

use oversleep_record::{Nanos, Unavailable};
use oversleep_system::{Platform, ThreadHandle};

use crate::stop::StopFlag;

/// Why a round did not end as it should.
pub(super) enum Unfinished {
    /// It has a reason, and its thread has ended.
    Ended(Unavailable),
    /// Its thread goes on.
    Left(Unavailable),
}

impl From<Unavailable> for Unfinished {
    fn from(reason: Unavailable) -> Unfinished {
        Unfinished::Ended(reason)
    }
}

/// A round may take so many times as long as it is estimated to, and this much more: waits take a tick instead of what was
/// requested, and a busy machine takes longer for everything.
const OVERDUE_FACTOR: i64 = 20;
const OVERDUE_MIN: Nanos = Nanos::from_secs(10);
/// For how long a round may go on that is estimated to take so long.
pub(super) fn limit(estimate: Nanos) -> Nanos {
    estimate * OVERDUE_FACTOR + OVERDUE_MIN
}

/// A pause of the whole process (a stop, a suspend) counts as no more than this.
const WATCH_SLICE: Nanos = Nanos::from_secs(1);

/// For how long the waits of a round that is overdue are ended again and again.
const ENDING_TRIES: u32 = 100;
const ENDING_PAUSE: Nanos = Nanos::from_millis(20);

/// Waits for a round to end. One that takes far too long is ended; where it can't be, its thread is left behind.
pub(super) fn end_if_overdue(
    platform: &dyn Platform,
    thread: &dyn ThreadHandle,
    limit: Nanos,
    round_over: &StopFlag,
) -> Option<Unfinished> {
    let mut left = limit;
    while left > Nanos::ZERO {
        if thread.ended_within(left.min(WATCH_SLICE)) {
            return None;
        }
        left -= WATCH_SLICE;
    }
    let reason = Unavailable::failed(
        "measuring a round",
        format!(
            "it had not ended after {}. A wait did not return, as happens where something moves the clocks of this process \
             (faketime)",
            limit
        ),
    );
    round_over.raise();
    for _ in 0..ENDING_TRIES {
        platform.end_waits();
        if thread.ended_within(ENDING_PAUSE) {
            return Some(Unfinished::Ended(reason));
        }
    }
    Some(Unfinished::Left(reason))
}
