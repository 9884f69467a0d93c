//! Windows as programs see it.

use super::System;
use crate::sim::scheduler::{OnWake, Policy, PriorityIs};
use oversleep_system::{clocks, handoffs, loads, tunables, waits};

/// Windows.
pub static SYSTEM: System = System {
    os: "windows",
    clocks: clocks::WINDOWS,
    waits: waits::WINDOWS,
    policies,
    handoffs: handoffs::WINDOWS,
    loads: loads::WINDOWS,
    tunables: tunables::WINDOWS,
};

/// Thread priorities of a process of normal class, and its class raised.
/// <https://learn.microsoft.com/en-us/windows/win32/procthread/scheduling-priorities>
fn policies() -> Vec<Policy> {
    let levels = [
        ("normal", 8),
        ("idle", 1),
        ("lowest", 6),
        ("below-normal", 7),
        ("above-normal", 9),
        ("highest", 10),
        ("time-critical", 15),
        ("high", 13),
        ("realtime", 24),
    ];
    let policy = |(name, rank): (&str, i32)| Policy {
        name: name.to_owned(),
        priority: (0, 0),
        rank,
        priority_is: PriorityIs::Nothing,
        weight: 1_024,
        is_real_time: false,
        on_wake: OnWake::Displaces,
    };
    levels.map(policy).to_vec()
}
