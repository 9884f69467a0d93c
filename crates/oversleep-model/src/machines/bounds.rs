//! What figures must keep to for runs to come to an end, whoever states them: a profile, the user, a result learned from.

use oversleep_record::Nanos;

use crate::sim::ClockModel;

/// Shorter slices than this are spent on switching, and a run under load would take for ever.
pub(super) const SLICE_MIN: Nanos = Nanos::from_micros(10);
/// A thread that is never helped waits for ever, and so does who waits for it.
pub(super) const STARVING_MIN: Nanos = Nanos::from_millis(1);
/// Clocks whose reads take no time, or that stand still for longer than this, would be waited for without end.
const STEP_MAX: Nanos = Nanos::from_secs(1);
const COST_MIN_PS: u64 = 100;
const COST_MAX_PS: u64 = 1_000_000_000;
/// Everything that waits for a moment looks at the reference clock.
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
