//! Findings about Linux.

use crate::finding::FindingEntry;

mod clock_source;
mod contention;
mod idle;
mod quota;
mod real_time;
mod rounding;
mod slack;
mod tick_timers;
mod timeout_slack;
mod virtual_machine;
mod wake_up;

pub(super) static FAMILIES: &[&[FindingEntry]] = &[
    clock_source::FINDINGS,
    contention::FINDINGS,
    idle::FINDINGS,
    quota::FINDINGS,
    real_time::FINDINGS,
    rounding::FINDINGS,
    slack::FINDINGS,
    tick_timers::FINDINGS,
    timeout_slack::FINDINGS,
    virtual_machine::FINDINGS,
    wake_up::FINDINGS,
];
