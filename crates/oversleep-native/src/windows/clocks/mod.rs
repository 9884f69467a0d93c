//! Every clock that can be read on Windows, each an entry with its documentation.

mod counters;
mod cpu_time;
mod interrupt;
mod runtime;
mod system_time;
mod tick;

use oversleep_record::clock::{AcrossSuspend, Epoch};
use oversleep_record::{Nanos, Unavailable};

pub(super) use tick::clock_interrupt_period;

use crate::fn_clock;
use crate::windows::os;
use crate::{library, processor, std_clocks};
use oversleep_system::{Clock, ClockInfo};

/// What most of these clocks have in common: 100 ns since boot.
const COMMON: ClockInfo =
    ClockInfo { unit: "100ns", epoch: Epoch::Boot, across_suspend: AcrossSuspend::Continues, ..fn_clock::COMMON };

const HUNDRED_NS_HZ: u64 = 10_000_000;

/// All clocks, available or not.
pub(super) fn registry() -> Vec<Box<dyn Clock>> {
    let mut clocks = counters::registry();
    // The tick count comes first of the coarse clocks: it is the one that programs are timed with.
    clocks.extend(tick::registry());
    clocks.extend(interrupt::registry());
    clocks.extend(system_time::registry());
    clocks.extend(cpu_time::registry());
    clocks.extend(runtime::registry());
    clocks.extend(processor::clocks::registry::<counters::WindowsRules>());
    clocks.extend(std_clocks::registry());
    clocks.extend(library::clocks());
    clocks
}

fn hundred_ns_hz() -> Option<u64> {
    Some(HUNDRED_NS_HZ)
}

fn milliseconds_hz() -> Option<u64> {
    Some(1_000)
}

/// The timer period in effect now, by which clocks step that are as of the last timer interrupt.
fn timer_period() -> Option<Nanos> {
    os::timer_periods().ok().map(|periods| periods.now)
}

/// Not older than every Windows that Rust's standard library runs on.
fn always() -> Result<(), Unavailable> {
    fn_clock::always()
}

fn none() -> Option<Nanos> {
    fn_clock::none()
}

#[cfg(test)]
mod tests {
    use oversleep_record::clock::Counts;

    use super::*;
    use crate::windows::expected;

    const NAMES: [&str; 26] = [
        "qpc",
        "get-tick-count-64",
        "get-tick-count",
        "time-get-time",
        "interrupt-time",
        "interrupt-time-precise",
        "unbiased-interrupt-time",
        "unbiased-interrupt-time-precise",
        "shared-interrupt-time",
        "system-time",
        "system-time-precise",
        "process-times",
        "thread-times",
        "process-cycle-time",
        "thread-cycle-time",
        "clock",
        "time",
        "tsc",
        "tscp",
        "tsc-fenced",
        "cntvct",
        "std-instant",
        "std-systemtime",
        "oversleep",
        "oversleep-ordered",
        "oversleep-coarse",
    ];

    #[test]
    fn the_registry_holds_every_clock() {
        let names: Vec<&str> = registry().iter().map(|clock| clock.info().name).collect();
        assert_eq!(names, NAMES);
    }

    #[test]
    fn every_clock_is_there_where_the_system_is_new_enough() {
        for clock in registry() {
            if let Err(why) = clock.available() {
                expected::may_lack(clock.info().name, &why);
            }
        }
    }

    #[test]
    fn a_readable_clock_of_this_thread_does_not_step_back() {
        for clock in registry().iter().filter(|clock| clock.available().is_ok()) {
            let info = clock.info();
            let mut reads = [0; 64];
            clock.read_into(&mut reads);
            clock.read_batch(3);
            let per_second = match info.unit {
                "ns" => Some(1_000_000_000),
                "100ns" => Some(10_000_000),
                "ms" => Some(1_000),
                "s" => Some(1),
                unit => {
                    assert_eq!(unit, "ticks", "{}", info.name);
                    None
                }
            };
            if per_second.is_some() {
                assert_eq!(clock.stated_frequency_hz(), per_second, "{}", info.name);
            }
            // Time of day may be set while this runs, and the counters of CPUs may differ.
            if info.counts != Counts::TimeOfDay && info.epoch != Epoch::Processor {
                assert!(reads.is_sorted(), "{} {reads:?}", info.name);
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
        // Each is taken twice around the others, so that a pause between two reads proves nothing wrong.
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
            // Origins differ by what passed while the system started its parts.
            const SECOND: i128 = 1_000_000_000;
            assert!(
                before - SECOND <= between && between <= after + SECOND,
                "{coarse} {before} {fine} {between} {after}"
            );
        }
    }

    /// Experiments find coarse clocks by their stated step.
    #[test]
    fn coarse_clocks_state_their_step_and_others_none() {
        let coarse = [
            "get-tick-count-64",
            "get-tick-count",
            "time-get-time",
            "interrupt-time",
            "unbiased-interrupt-time",
            "shared-interrupt-time",
            "system-time",
            "process-times",
            "thread-times",
            "clock",
        ];
        for clock in registry().iter().filter(|clock| !clock.info().name.starts_with("oversleep")) {
            let step = clock.stated_step_ns();
            assert_eq!(step.is_some(), coarse.contains(&clock.info().name), "{} {step:?}", clock.info().name);
            assert!(step.is_none_or(|step| step > Nanos::ZERO), "{}", clock.info().name);
        }
        assert!(
            registry()
                .iter()
                .find(|clock| clock.stated_step_ns().is_some())
                .is_some_and(|first| { first.info().name == "get-tick-count-64" })
        );
    }

    #[test]
    fn the_width_of_a_clock_is_that_of_its_type() {
        for clock in registry().iter() {
            let info = clock.info();
            let narrow = ["get-tick-count", "time-get-time"].contains(&info.name);
            assert_eq!(
                info.bits,
                if narrow {
                    32
                } else if info.name == "clock" {
                    31
                } else {
                    64
                },
                "{}",
                info.name
            );
        }
    }
}
