//! The thorough checks of the counter, for those who have a tenth of a second.

use crate::sys;

use super::reason::Reason;
use super::servo::{Pair, State};
use super::{calibrate, cores, judge, state};

/// The wait of the difference test.
const WAIT_NS: u64 = 100_000_000;
/// Over 100 ms, two readings are good for 1 ppm, and the kernel's usual adjustments are of 500 ppm at most.
const DRIFT_MAX_PPM: f64 = 600.0;
/// Where the kernel slews its clock by more, the rate in use follows; it may do so, or cease to, amid the wait.
const WAITS: u32 = 3;
const FOLLOWED_NS: u64 = 10_000_000;

/// What the thorough checks of [`Clock::verify`](super::Clock::verify) found.
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
    /// The rate in use against the counter's rate over 100 ms, in parts per million; positive when it ran ahead. The
    /// first rate is good for a few; within a second a hundredth remains.
    pub drift_ppm: f64,
    /// How many cores were compared and agree; `None` when cores can't be compared here, which leaves the kernel's
    /// word for it.
    pub cores: Option<usize>,
}

/// See [`Clock::verify`](super::Clock::verify).
pub(super) fn verify() -> Result<Verified, Reason> {
    let _uncancelled = sys::uncancelled();
    let Some(state) = state::counter_state() else {
        // The operating system's clock is its own measure.
        return Ok(Verified { drift_ppm: 0.0, cores: None });
    };
    if let Some(reason) = judge::kernel_objection() {
        return Err(rejected(reason));
    }
    let first = calibrate::pair(64);
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
        // A rate that has changed is known again after two short windows.
        let end_ns = sys::monotonic_ns() + FOLLOWED_NS;
        while sys::monotonic_ns() < end_ns {
            state::ordered_now_ns();
        }
        let Some(state) = state::counter_state() else { break };
        drift_ppm = drift_ppm_over_wait(&state, calibrate::pair(64));
    }
    if drift_ppm.abs() > DRIFT_MAX_PPM {
        return Err(rejected(Reason::DriftTooHigh { ppm: drift_ppm }));
    }
    Ok(Verified { drift_ppm, cores })
}

/// The state's rate against the counter's from `first` on, over the wait.
fn drift_ppm_over_wait(state: &State, first: Pair) -> f64 {
    let end_ns = first.ns + WAIT_NS;
    while sys::monotonic_ns() < end_ns {
        sys::wait_once_until(end_ns);
    }
    let second = calibrate::pair(64);
    let elapsed_ns = second.ns.saturating_sub(first.ns).max(1);
    let counted_ns = state.rate.saturating_ns(second.ticks.wrapping_sub(first.ticks));
    (counted_ns as f64 / elapsed_ns as f64 - 1.0) * 1e6
}

fn rejected(reason: Reason) -> Reason {
    state::reject(reason);
    reason
}
