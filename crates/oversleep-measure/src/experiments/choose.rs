//! Clocks and waits chosen by property instead of by name, so that an experiment fits every platform.

use oversleep_record::clock::{Counts, is_coarse};
use oversleep_record::{ClockResult, Nanos, Unavailable};
use oversleep_system::{Clock, Family, Platform, WaitInfo};

use crate::clock_scale::ClockScale;
use crate::probe::Measured;

/// The platform's simplest sleep.
pub(super) fn simplest_sleep(platform: &dyn Platform) -> Option<&WaitInfo> {
    platform.simplest(Family::Sleep).map(|wait| wait.info())
}

/// The first wait of each of these families.
pub(super) fn first_of_each(platform: &dyn Platform, families: &[Family]) -> Vec<String> {
    families.iter().filter_map(|&family| Some(platform.simplest(family)?.info().name.to_owned())).collect()
}

/// Names of the waits of the system that have a deadline.
pub(super) fn timed_waits(platform: &dyn Platform) -> Vec<String> {
    platform
        .waits()
        .iter()
        .map(|wait| wait.info())
        .filter(|info| info.is_timed())
        .map(|info| info.name.to_owned())
        .collect()
}

/// The usual coarse clock of elapsed time: the first whose stated step is coarse.
pub fn coarse_clock(platform: &dyn Platform) -> Option<&dyn Clock> {
    let is_wanted = |clock: &&dyn Clock| {
        clock.info().counts == Counts::ElapsedTime
            && clock.stated_step_ns().is_some_and(is_coarse)
            && clock.available().is_ok()
    };
    platform.clocks().iter().map(AsRef::as_ref).find(is_wanted)
}

/// Every clock whose stated step is coarse.
pub(super) fn coarse_clocks(platform: &dyn Platform) -> Vec<&dyn Clock> {
    let is_wanted = |clock: &&dyn Clock| {
        clock.stated_step_ns().is_some_and(|step| is_coarse(step) && step < Nanos::from_millis(500))
            && clock.available().is_ok()
    };
    platform.clocks().iter().map(AsRef::as_ref).filter(is_wanted).collect()
}

/// What is known about a clock before it is read.
pub(super) fn described(clock: &dyn Clock) -> ClockResult {
    let info = clock.info();
    ClockResult {
        name: info.name.to_owned(),
        runtime: None,
        call: info.call.to_owned(),
        counts: info.counts,
        epoch: info.epoch,
        unit: info.unit.name().to_owned(),
        across_suspend: info.across_suspend,
        wraps_after_ns: None,
        unavailable: clock.available().err(),
        cost_series: None,
        example_raw: None,
        frequency_hz: clock.stated_frequency_hz(),
        stated_step_ns: clock.stated_step_ns(),
        differences: Vec::new(),
        steps: None,
        drift: None,
    }
}

/// The result of that clock; if there is none yet, a new one with its description.
pub(super) fn clock_result<'a>(measured: &'a mut Measured, described: &ClockResult) -> &'a mut ClockResult {
    measured.clocks.entry(described.name.clone()).or_insert_with(|| described.clone())
}

/// The scale of a clock, by its index in the platform's list.
///
/// # Errors
/// Its counter could not be calibrated.
pub(super) fn scale_of(platform: &dyn Platform, index: usize) -> Result<ClockScale, Unavailable> {
    ClockScale::of(platform, platform.clocks()[index].as_ref())
}
