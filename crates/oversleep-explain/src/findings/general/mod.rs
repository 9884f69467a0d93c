//! Findings for all systems.

use crate::finding::FindingEntry;

mod backward_clock;
pub(super) mod coarse_clock;
mod cpu_time;
mod early;
mod fastest_clock;
mod fork_join;
mod heat;
mod idle;
mod spin;
mod stopped;
mod sweep;

pub(super) static FAMILIES: &[&[FindingEntry]] = &[
    backward_clock::FINDINGS,
    coarse_clock::FINDINGS,
    cpu_time::FINDINGS,
    early::FINDINGS,
    fastest_clock::FINDINGS,
    fork_join::FINDINGS,
    heat::FINDINGS,
    idle::FINDINGS,
    spin::FINDINGS,
    stopped::FINDINGS,
    sweep::FINDINGS,
];
