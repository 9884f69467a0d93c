//! A system that this crate doesn't support: everything but clock and sleep is denied, with the reason.

use std::time::Duration;

use super::monotonic_ns;
use crate::clock::Verdict;
use crate::outcome::{Denied, Outcome, Why};
use crate::scheduling::{RealTimeRequest, Scheduling};

const NO_SLACK: Denied = Denied { why: Why::Unsupported { what: "per-thread timer slack" }, how: "run on Linux" };

/// No clock that runs while the machine is suspended is known here.
pub(crate) fn continuous_ns() -> u64 {
    monotonic_ns()
}

/// The only clock available, whether or not it is adjusted.
pub(crate) fn steady_ns() -> u64 {
    monotonic_ns()
}

pub(crate) fn current_cpu() -> Option<u32> {
    None
}

/// Same as the other wait, because the two clocks are the same.
pub(crate) fn wait_once_until_continuous(deadline_ns: u64) {
    super::wait_once_until(deadline_ns);
}

pub(crate) fn timer_slack_ns() -> Result<u64, Denied> {
    Err(NO_SLACK)
}

pub(crate) fn set_timer_slack_ns(_slack_ns: u64) -> Result<(), Denied> {
    Err(NO_SLACK)
}

/// What would set a slack.
pub(crate) const SET_SLACK: &str = "a timer slack";
/// What would set a slice.
pub(crate) const SET_SLICE: &str = "a time slice";
/// No slice can be set.
pub(crate) const FINEST_SLICE_NS: u64 = 100_000;

const NO_SLICE: Denied =
    Denied { why: Why::Unsupported { what: "time slice that a thread can set" }, how: "run on Linux 6.12" };

pub(crate) fn slice_ns() -> Result<u64, Denied> {
    Err(NO_SLICE)
}

/// A sleep finds no slice to replace.
pub(crate) fn shorten_slice_for_sleep(_ns: u64) -> Result<u64, Denied> {
    Err(NO_SLICE)
}

pub(crate) fn set_slice_ns(_ns: u64) -> Result<(), Denied> {
    Err(NO_SLICE)
}

/// No slice was held.
pub(crate) fn restore_slice_ns(_ns: u64) {}

/// A sleep finds no slack to replace.
pub(crate) use timer_slack_ns as sleep_slack_ns;

pub(crate) fn granted_slack_ns(requested_ns: u64) -> u64 {
    requested_ns
}

pub(crate) fn thread_cpu_ns() -> Option<u64> {
    None
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
pub(crate) fn on_fork(_before: extern "C" fn(), _handler: extern "C" fn()) {}

/// No child can be created.
#[cfg(test)]
#[track_caller]
pub(crate) fn forked(_body: impl FnOnce() -> bool) -> Option<bool> {
    oversleep_testing::skip("this system has no fork");
    None
}

const NO_SETTING: Denied =
    Denied { why: Why::Unsupported { what: "setting of this kind that oversleep knows" }, how: "run on Linux" };

#[derive(Debug)]
pub(crate) enum Timer {}

pub(crate) fn hold_timer(_period: Duration) -> (Option<Timer>, Outcome<Duration>) {
    (None, Outcome::Denied(NO_SETTING))
}

/// What would set a policy.
pub(crate) const SET_POLICY: &str = "a scheduling policy";

#[derive(Clone, Copy, Debug)]
pub(crate) enum Policy {}

pub(crate) fn policy() -> Result<Policy, Denied> {
    Err(NO_SETTING)
}

pub(crate) fn set_policy(policy: Policy) -> Result<(), Denied> {
    match policy {}
}

pub(crate) fn real_time_policy(was: Policy, _request: RealTimeRequest) -> Policy {
    was
}

pub(crate) fn scheduling(policy: Policy) -> Scheduling {
    match policy {}
}

#[derive(Debug)]
pub(crate) enum Multimedia {}

pub(crate) fn hold_multimedia() -> (Option<Multimedia>, Outcome<Scheduling>) {
    (None, Outcome::Denied(NO_SETTING))
}

#[derive(Debug)]
pub(crate) enum CpuLatency {}

pub(crate) fn hold_cpu_latency(_latency: Duration) -> (Option<CpuLatency>, Outcome<Duration>) {
    (None, Outcome::Denied(NO_SETTING))
}
