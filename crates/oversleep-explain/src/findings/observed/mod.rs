//! Findings about observed programs (`oversleep why`): each is a cause of late waits, with one instance for each culprit and
//! the kinds of waits that it delayed beneath it.

use crate::finding::FindingEntry;

pub(crate) mod commands;
pub(crate) mod drift;
mod interrupt;
pub(crate) mod interruption;
mod own_share;
pub(crate) mod period;
mod program;
mod real_time;
mod run_queue;
mod runtime;
mod scheduling;
mod sessions;
mod timer;
mod visibility;

pub(super) static FAMILIES: &[&[FindingEntry]] = &[
    drift::FINDINGS,
    interrupt::FINDINGS,
    interruption::FINDINGS,
    period::FINDINGS,
    program::FINDINGS,
    run_queue::FINDINGS,
    runtime::FINDINGS,
    scheduling::FINDINGS,
    timer::FINDINGS,
    visibility::FINDINGS,
];

/// Where these hold.
const APPLIES_TO: &str = "programs followed by oversleep why, on any system whose kernel shows it";
const HOW: &str = "A collector follows each timed wait of the program through the kernel: the call, the timer, its interrupt, \
                   the waking, the run queue, the return. The parts of a wait are differences of adjacent times of one \
                   clock, so they add up to its lateness exactly.";
