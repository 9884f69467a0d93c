//! Experiments by what they measure. A file has entries, each with its question, its method and its columns, or what
//! several entries share: `choose`, `clocks_together`, `interrupts`, `join_style`, `portions`. `tick_count` computes R4 on a
//! modelled machine.

mod choose;
mod clock_cost;
mod clock_difference;
mod clock_steps;
mod clock_verdict;
mod clocks_together;
mod coalescing;
mod coarse_step;
mod fork_join;
mod generations;
mod handoffs;
mod idle;
mod idle_cost;
mod interrupts;
mod join_style;
mod load;
mod neighbours;
mod phase;
mod policies;
mod portions;
mod resolution;
mod runtimes;
mod spinning;
mod sweep;
pub(crate) mod tick_count;
mod two_clocks;
mod usleep;
mod waits;
mod yields;

use crate::experiment::Experiment;

pub use choose::coarse_clock;
pub use clock_cost::READS_MIN;
pub use idle::{
    CUSTOM as CUSTOM_STRATEGY, ITEM as ITEM_WORK, QUEUE as QUEUE_ITEMS, STRATEGIES as IDLE_STRATEGIES,
    Strategy as IdleStrategy,
};
pub use join_style::POLL_PAUSE;
pub use portions::FORK_JOIN_THREADS;

/// By id. A new experiment is a file above and a line here.
pub(super) const ALL: &[&Experiment] = &[
    &clock_cost::A1,
    &clock_difference::A2,
    &clock_difference::A3,
    &clock_steps::A4,
    &clock_difference::A5,
    &clock_verdict::A6,
    &two_clocks::B1,
    &sweep::B2,
    &coarse_step::B3,
    &usleep::B4,
    &waits::B5,
    &phase::B6,
    &yields::B7,
    &policies::B8,
    &load::B9,
    &runtimes::B10,
    &runtimes::B11,
    &spinning::B12,
    &resolution::C1,
    &resolution::C2,
    &neighbours::C3,
    &neighbours::C4,
    &idle_cost::C5,
    &coalescing::C6,
    &resolution::C7,
    &fork_join::D1,
    &fork_join::D2,
    &generations::D3,
    &handoffs::D4,
    &idle::E1,
    &idle::E2,
    &runtimes::R1,
    &runtimes::R2,
    &runtimes::R3,
    &runtimes::R4,
    &runtimes::R5,
];
