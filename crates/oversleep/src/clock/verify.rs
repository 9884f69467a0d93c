//! The thorough checks of the counter, which take a tenth of a second.

use super::machine::Real;
use super::reason::Reason;
use super::servo::{Pair, State};
use super::{CLOCK, calibrate, cores, judge};
use crate::sys;

/// The time between the two readings.
const WAIT_NS: u64 = 100_000_000;
/// Over 100 ms two readings are accurate to 1 ppm, and the kernel's usual adjustments are at most 500 ppm.
const DRIFT_MAX_PPM: f64 = 600.0;
/// If the kernel begins or stops slewing its clock faster during a wait, the check needs another wait.
const WAITS: u32 = 3;
const FOLLOWED_NS: u64 = 10_000_000;

/// The result of [`Clock::verify`](super::Clock::verify).
///
/// ```
/// match oversleep::Clock::verify() {
///     Ok(verified) => println!("{} ppm over 100 ms; cores compared: {:?}", verified.drift_ppm, verified.cores),
///     Err(reason) => println!("the counter is out of use: {reason}"),
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Verified {
    /// The rate in use relative to the counter's rate over 100 ms, in parts per million; positive if it ran ahead. The
    /// first calibration is accurate to a few ppm, and to a hundredth of that within a second.
    pub drift_ppm: f64,
    /// How many cores were compared and agree; `None` if cores can't be compared here, so that the kernel's choice is
    /// the only evidence.
    pub cores: Option<usize>,
}

/// See [`Clock::verify`](super::Clock::verify).
pub(super) fn verify() -> Result<Verified, Reason> {
    let _uncancelled = sys::uncancelled();
    let Some(state) = CLOCK.counter_state() else {
        // The operating system's clock can only be compared with itself.
        return Ok(Verified { drift_ppm: 0.0, cores: None });
    };
    if let Some(reason) = judge::kernel_objection() {
        return Err(rejected(reason));
    }
    let first = calibrate::pair(&Real, 64).0;
    let cores = match cores::skew_of_all() {
        Some((0, cores)) => Some(cores),
        Some((ticks, _)) => return Err(rejected(Reason::CrossCoreSkew { ticks })),
        None => None,
    };
    let mut drift_ppm = drift_ppm_over_wait(&state, first);
    for _ in 1..WAITS {
        if drift_ppm.abs() <= DRIFT_MAX_PPM {
            break;
        }
        // After a change of rate, two short windows are enough to measure it again.
        let end_ns = sys::monotonic_ns() + FOLLOWED_NS;
        while sys::monotonic_ns() < end_ns {
            CLOCK.ordered_now_ns();
        }
        let Some(state) = CLOCK.counter_state() else { break };
        drift_ppm = drift_ppm_over_wait(&state, calibrate::pair(&Real, 64).0);
    }
    if drift_ppm.abs() > DRIFT_MAX_PPM {
        return Err(rejected(Reason::DriftTooHigh { ppm: drift_ppm }));
    }
    Ok(Verified { drift_ppm, cores })
}

/// The state's rate relative to the counter's, from `first` over the wait.
fn drift_ppm_over_wait(state: &State, first: Pair) -> f64 {
    let end_ns = first.ns + WAIT_NS;
    while sys::monotonic_ns() < end_ns {
        sys::wait_once_until(end_ns);
    }
    let second = calibrate::pair(&Real, 64).0;
    let elapsed_ns = second.ns.saturating_sub(first.ns).max(1);
    let counted_ns = state.track.rate.saturating_ns(second.ticks.wrapping_sub(first.ticks));
    (counted_ns as f64 / elapsed_ns as f64 - 1.0) * 1e6
}

fn rejected(reason: Reason) -> Reason {
    CLOCK.demote(reason);
    reason
}
