//! The parts of a wait that a supervisor saw: its call from both ends, and when the thread had a CPU. Its timer is unseen.

use super::open::Open;
use crate::part::{Part, Splitter};
use crate::wait::{Wait, signed};

/// Splits the lateness from `start` on, which a stop may have interrupted until `rearmed`.
pub(super) fn split(open: &Open, (start, rearmed): (u64, Option<u64>), wait: &mut Wait) {
    let mut split = Splitter::new(signed(start), signed(wait.end));
    // A thread that never slept was runnable before its deadline.
    let at = |t: Option<u64>| t.map(|t| signed(t.max(start)));
    match rearmed {
        Some(rearmed) => {
            split.first(Part::Stop, Some(signed(rearmed)));
            split.until(Part::Timer, at(wait.marks.wakeup));
        }
        None => split.first(Part::Timer, at(wait.marks.wakeup)),
    }
    split.shift(Part::Stop, Part::Signal, signed(open.by_signals));
    split.until(Part::Runq, at(wait.marks.running));
    split.until(Part::Ret, at(wait.marks.returned));
    for of in &open.preempted {
        split.carve(Part::Ret, Part::Runq, signed(of.from), signed(of.to));
    }
    // Its length is known, its place is not.
    split.shift(Part::Unattributed, Part::Runq, signed(open.queued.unwrap_or(0)));
    (wait.parts, wait.segments) = split.finish(Part::Quota);
}
