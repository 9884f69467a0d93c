//! Bounds within which every run comes to an end, wherever a figure comes from: a profile, the user, or a result that a
//! machine was learned from.

use oversleep_record::Nanos;

use crate::sim::ClockModel;

/// With shorter slices a run under load would do nothing but switch between threads.
pub(super) const SLICE_MIN: Nanos = Nanos::from_micros(10);
/// A thread that never gets a slice waits forever, and so does whatever waits for it.
pub(super) const STARVING_MIN: Nanos = Nanos::from_millis(1);
/// Waiting for a clock would never end if a read took no time or the clock stood still for longer than this.
const STEP_MAX: Nanos = Nanos::from_secs(1);
const COST_MIN_PS: u64 = 100;
const COST_MAX_PS: u64 = 1_000_000_000;
/// The reference clock is what every loop that waits for a moment reads.
const REFERENCE_STEP_MAX: Nanos = Nanos::from_millis(100);

/// Whether experiments on such a clock come to an end.
///
/// # Errors
/// What is wrong with it.
pub(super) fn check_clock(clock: &ClockModel, reference: &str) -> Result<(), String> {
    if !(COST_MIN_PS..=COST_MAX_PS).contains(&clock.read_cost_ps) {
        return Err("reading it takes from 0.1 ns to 1 ms".to_owned());
    }
    let most = if clock.info.name == reference { REFERENCE_STEP_MAX } else { STEP_MAX };
    if !(Nanos(1)..=most).contains(&clock.step_ns) {
        return Err(format!("it steps by 1 ns to {most}"));
    }
    Ok(())
}
