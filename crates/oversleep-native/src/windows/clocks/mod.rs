//! How Windows's clocks are read.

mod counters;
mod cpu_time;
mod interrupt;
mod runtime;
mod step;
mod system_time;

use oversleep_system::{Clock, clocks, registry};
use windows_sys::Win32::Media::timeGetTime;
use windows_sys::Win32::System::SystemInformation::{GetTickCount, GetTickCount64};

use crate::fn_clock::{FnClock, Read};
use crate::processor::clocks::Rules;
use crate::windows::os;
use crate::{library, std_clocks};

pub(super) use step::clock_interrupt_period;

const OWN: &[Read] = &[
    ("qpc", |info| FnClock::new(info, os::performance_count).ticks_hz(|| Some(os::performance_frequency())).boxed()),
    ("get-tick-count-64", |info| {
        // SAFETY: takes nothing and returns a number.
        FnClock::new(info, || unsafe { GetTickCount64() }).step(clock_interrupt_period).boxed()
    }),
    ("get-tick-count", |info| {
        // SAFETY: takes nothing and returns a number.
        FnClock::new(info, || u64::from(unsafe { GetTickCount() })).step(clock_interrupt_period).boxed()
    }),
    ("time-get-time", |info| {
        // SAFETY: takes nothing and returns a number.
        FnClock::new(info, || u64::from(unsafe { timeGetTime() })).step(step::timer_resolution_in_milliseconds).boxed()
    }),
];

const READS: &[&[Read]] = &[
    OWN,
    interrupt::READS,
    system_time::READS,
    cpu_time::READS,
    runtime::READS,
    counters::WindowsRules::READS,
    std_clocks::READS,
    library::READS,
];

/// All clocks, available or not.
pub(super) fn registry() -> Vec<Box<dyn Clock>> {
    registry!(clocks::WINDOWS, READS)
}

#[cfg(test)]
mod tests {
    use oversleep_record::Nanos;
    use oversleep_record::clock::Counts;
    use oversleep_system::{ClockUnit, Follows};

    use super::*;
    use crate::windows::expected;

    #[test]
    fn every_clock_is_there_where_the_system_is_new_enough() {
        for clock in registry() {
            if let Err(why) = clock.available() {
                expected::may_lack(clock.info().name, &why);
            }
        }
    }

    #[test]
    fn clocks_of_the_same_thing_agree() {
        let clocks = registry();
        let ns = |name: &str| {
            let clock = clocks.iter().find(|clock| clock.info().name == name).expect("registered");
            clock.available().ok()?;
            let ns = u128::from(clock.read()) * 1_000_000_000 / u128::from(clock.stated_frequency_hz()?);
            i128::try_from(ns).ok()
        };
        // Each coarse clock is read before and after the fine one, so that a pause between reads doesn't fail the test.
        let pairs = [
            ("get-tick-count-64", "interrupt-time"),
            ("interrupt-time", "shared-interrupt-time"),
            ("interrupt-time-precise", "qpc"),
            ("system-time", "system-time-precise"),
        ];
        for (coarse, fine) in pairs {
            let before = ns(coarse);
            let between = ns(fine);
            let after = ns(coarse);
            let (Some(before), Some(between), Some(after)) = (before, between, after) else { continue };
            // Their origins differ by the time in which the system started its parts.
            const SECOND: i128 = 1_000_000_000;
            assert!(
                before - SECOND <= between && between <= after + SECOND,
                "{coarse} {before} {fine} {between} {after}"
            );
        }
    }

    /// Experiments find coarse clocks by their stated step. CPU time in 100 ns is charged by whole ticks.
    #[test]
    fn coarse_clocks_state_their_step_and_others_none() {
        for clock in registry().iter().filter(|clock| !clock.info().name.starts_with("oversleep")) {
            let (info, step) = (clock.info(), clock.stated_step_ns());
            let is_cpu_time = matches!(info.counts, Counts::ProcessCpuTime | Counts::ThreadCpuTime);
            let is_coarse = info.follows != Follows::Time || (is_cpu_time && info.unit != ClockUnit::Ticks);
            assert_eq!(step.is_some(), is_coarse, "{} {step:?}", info.name);
            assert!(step.is_none_or(|step| step > Nanos::ZERO), "{}", info.name);
        }
        let first = registry().into_iter().find(|clock| clock.stated_step_ns().is_some());
        assert!(first.is_some_and(|first| first.info().name == "get-tick-count-64"));
    }
}
