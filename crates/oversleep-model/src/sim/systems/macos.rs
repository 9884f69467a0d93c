//! macOS as programs see it.

use super::System;
use crate::sim::scheduler::{OnWake, Policy, PriorityIs};
use oversleep_system::{clocks, handoffs, loads, tunables, waits};

/// macOS.
pub static SYSTEM: System = System {
    os: "macos",
    clocks: clocks::MACOS,
    waits: waits::MACOS,
    policies,
    handoffs: handoffs::MACOS,
    loads: loads::MACOS,
    tunables: tunables::MACOS,
};

fn policies() -> Vec<Policy> {
    let policy = |name: &str, rank, is_real_time| Policy {
        name: name.to_owned(),
        priority: (15, 47),
        rank,
        priority_is: PriorityIs::Rank,
        weight: 1_024,
        is_real_time,
        on_wake: OnWake::Displaces,
    };
    vec![
        policy("other", 0, false),
        // TH_MODE_FIXED in XNU's osfmk/kern/timer_call.c: a shift of 3, at most 1 ms.
        Policy { priority_is: PriorityIs::FixedRank, ..policy("rr", 0, false) },
        Policy { priority_is: PriorityIs::FixedRank, ..policy("fifo", 0, false) },
        Policy { priority: (0, 0), priority_is: PriorityIs::Nothing, ..policy("time-constraint", 100, true) },
    ]
}
