//! The time that the kernel keeps from real-time threads for ordinary tasks.

use oversleep_record::observed::{Blame, ObservedWaits};

/// The first priority that isn't a real-time one.
pub(super) const FAIR: i32 = 100;

/// An ordinary task that runs for longer than this while a real-time thread waits has the time that the kernel keeps from
/// real-time threads: no kernel takes so long to switch.
const RESERVED_MIN_NS: u64 = 20_000_000;
/// How that time is called in sentences.
pub(super) const RESERVED: &str = "in the time that the kernel keeps for ordinary tasks";

/// Whether a real-time thread waited for an ordinary task that its policy goes before.
pub(super) fn is_in_reserved_time(waits: &ObservedWaits, blame: &Blame) -> bool {
    const REAL_TIME: [u32; 2] = [1, 2];
    let is_real_time = waits.policy.is_some_and(|(policy, _)| REAL_TIME.contains(&policy));
    is_real_time && blame.prio >= FAIR && blame.max_ns >= RESERVED_MIN_NS
}

/// What helps there, for the task that ran.
pub(super) fn leave_time(name: &str) -> String {
    format!(
        "Let the real-time thread wait before it has used 95 % of a second, or keep {name} off its CPU: the kernel gives \
         ordinary tasks 50 ms of each second (the fair server, up to Linux 6.11 sched_rt_runtime_us)"
    )
}
