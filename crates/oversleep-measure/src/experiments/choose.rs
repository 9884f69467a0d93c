//! Choices by property instead of by name, so that the same experiment fits every platform.

use oversleep_record::clock::{Counts, is_coarse};
use oversleep_record::{ClockResult, Nanos};

use crate::clock_scale::ClockScale;
use crate::probe::Measured;
use oversleep_system::{Clock, Family, Platform, WaitInfo};

/// The platform's plainest sleep: the first of its family in the registry.
pub(super) fn plain_sleep(platform: &dyn Platform) -> Option<&WaitInfo> {
    first_of(platform, Family::Sleep)
}

/// The first wait of a family.
pub(super) fn first_of(platform: &dyn Platform, family: Family) -> Option<&WaitInfo> {
    platform.waits().iter().map(|wait| wait.info()).find(|info| info.family == family)
}

/// One wait per family that has a deadline: a cross-section.
pub(super) fn one_per_family(platform: &dyn Platform) -> Vec<String> {
    [Family::Sleep, Family::Poll, Family::Lock, Family::Timer, Family::Message]
        .into_iter()
        .filter_map(|family| first_of(platform, family))
        .map(|info| info.name.to_owned())
        .collect()
}

/// Names of the timed waits the system offers.
pub(super) fn timed_waits(platform: &dyn Platform) -> Vec<String> {
    platform
        .waits()
        .iter()
        .map(|wait| wait.info())
        .filter(|info| info.is_timed())
        .map(|info| info.name.to_owned())
        .collect()
}

/// The coarse clock of elapsed time: the first whose stated step is coarse.
pub(super) fn coarse_clock(platform: &dyn Platform) -> Option<&dyn Clock> {
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

/// What is known of a clock before it is read.
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

/// The result of that clock, begun with its description where it is the first to be told.
pub(super) fn clock_result<'a>(measured: &'a mut Measured, described: &ClockResult) -> &'a mut ClockResult {
    measured.clocks.entry(described.name.clone()).or_insert_with(|| described.clone())
}

/// Scale of a clock, by index in the registry.
pub(super) fn scale_of(platform: &dyn Platform, index: usize) -> ClockScale {
    ClockScale::of(platform, platform.clocks()[index].as_ref())
}
