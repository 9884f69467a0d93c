//! A system this crate doesn't know: reasons for everything but clock and sleep.

use std::time::Duration;

use crate::clock::Verdict;
use crate::outcome::{Denied, Outcome, Why};
use crate::scheduling::Scheduling;

use super::monotonic_ns;

const NO_SLACK: Denied = Denied { why: Why::Unsupported { what: "per-thread timer slack" }, how: "run on Linux" };

/// No clock that runs while the machine is suspended is known here.
pub(crate) fn continuous_ns() -> u64 {
    monotonic_ns()
}

/// Not known here.
pub(crate) fn thread_cpu_ns() -> Option<u64> {
    None
}

pub(crate) fn timer_slack_ns() -> Result<u64, Denied> {
    Err(NO_SLACK)
}

pub(crate) fn set_timer_slack_ns(_slack_ns: u64) -> Result<(), Denied> {
    Err(NO_SLACK)
}

/// There is no cheaper clock than the usual one.
pub(crate) fn coarse_ns() -> Option<u64> {
    None
}

pub(crate) fn coarse_step_ns() -> Option<u64> {
    None
}

pub(crate) fn counter_is_readable() -> bool {
    true
}

pub(crate) fn kernel_verdict() -> Verdict {
    Verdict::Unknown
}

pub(crate) fn allowed_cpus() -> Option<Vec<usize>> {
    None
}

pub(crate) fn pin_this_thread(_cpu: usize) -> Result<(), Denied> {
    Err(Denied { why: Why::Unsupported { what: "way to pin a thread to a core" }, how: "run on Linux" })
}

/// It isn't known whether this system has `fork`.
pub(crate) fn on_fork_in_child(_handler: extern "C" fn()) {}

/// No child can be created.
#[cfg(test)]
pub(crate) fn forked(_body: impl FnOnce() -> bool) -> Option<bool> {
    None
}

const NO_SETTING: Denied =
    Denied { why: Why::Unsupported { what: "setting of this kind that oversleep knows" }, how: "run on Linux" };

#[derive(Debug)]
pub(crate) enum Timer {}

pub(crate) fn hold_timer(_period: Duration) -> (Option<Timer>, Outcome<Duration>) {
    (None, Outcome::Denied(NO_SETTING))
}

#[derive(Debug)]
pub(crate) enum RealTime {}

pub(crate) fn hold_real_time(_priority: u8) -> (Option<RealTime>, Outcome<Scheduling>) {
    (None, Outcome::Denied(NO_SETTING))
}

#[derive(Debug)]
pub(crate) enum CpuLatency {}

pub(crate) fn hold_cpu_latency(_latency: Duration) -> (Option<CpuLatency>, Outcome<Duration>) {
    (None, Outcome::Denied(NO_SETTING))
}
