//! Linux as programs see it, WSL included.

use super::System;
use crate::sim::scheduler::{OnWake, Policy, PriorityIs};
use oversleep_system::{clocks, handoffs, loads, tunables, waits};

/// Linux.
pub static SYSTEM: System = System {
    os: "linux",
    clocks: clocks::LINUX,
    waits: waits::LINUX,
    policies,
    handoffs: handoffs::LINUX,
    loads: loads::LINUX,
    tunables: tunables::LINUX,
};

fn policies() -> Vec<Policy> {
    let fair = |name: &str, weight| Policy {
        name: name.to_owned(),
        priority: (-20, 19),
        rank: 0,
        priority_is: PriorityIs::Nice,
        weight,
        is_real_time: false,
        on_wake: OnWake::Displaces,
    };
    let real_time = |name: &str| Policy {
        name: name.to_owned(),
        priority: (1, 99),
        rank: 100,
        priority_is: PriorityIs::Rank,
        weight: 1_024,
        is_real_time: true,
        on_wake: OnWake::Displaces,
    };
    vec![
        fair("other", 1_024),
        // Neither displaces a thread of another policy by waking up: check_preempt_wakeup_fair in kernel/sched/fair.c.
        Policy { on_wake: OnWake::Waits, ..fair("batch", 1_024) },
        // WEIGHT_IDLEPRIO in kernel/sched/sched.h.
        Policy { priority: (0, 0), priority_is: PriorityIs::Nothing, on_wake: OnWake::GivesWay, ..fair("idle", 3) },
        real_time("fifo"),
        real_time("rr"),
    ]
}
