//! Findings about Windows: its tick, who may change it, and the clocks and timers that follow it or don't.

use crate::finding::FindingEntry;

mod coarse_time;
mod early_return;
mod half_millisecond;
mod hidden;
mod high_resolution;
mod neighbour;
mod power;
mod tick;
mod tick_count;
mod tolerance;
mod wine;

pub(super) static FAMILIES: &[&[FindingEntry]] = &[
    coarse_time::FINDINGS,
    early_return::FINDINGS,
    half_millisecond::FINDINGS,
    hidden::FINDINGS,
    high_resolution::FINDINGS,
    neighbour::FINDINGS,
    power::FINDINGS,
    tick::FINDINGS,
    tick_count::FINDINGS,
    tolerance::FINDINGS,
    wine::FINDINGS,
];
