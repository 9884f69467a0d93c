//! Every clock that can be read on Linux, each an entry with its documentation.

mod counters;
mod legacy;
mod posix;

pub(in crate::linux) use posix::clock_ns_by_call;

use crate::fn_clock::{COMMON, FnClock, always, none};
use crate::{library, processor, std_clocks};
use oversleep_system::Clock;

/// All clocks, available or not.
pub fn registry() -> Vec<Box<dyn Clock>> {
    let mut clocks = posix::registry();
    clocks.extend(legacy::registry());
    clocks.extend(processor::clocks::registry::<counters::LinuxRules>());
    clocks.extend(std_clocks::registry());
    clocks.extend(library::clocks());
    clocks
}

#[cfg(test)]
mod tests {
    use oversleep_record::clock::Counts;

    use super::*;

    const NAMES: [&str; 22] = [
        "monotonic",
        "monotonic-raw",
        "monotonic-coarse",
        "boottime",
        "realtime",
        "realtime-coarse",
        "tai",
        "process-cputime",
        "thread-cputime",
        "monotonic-syscall",
        "gettimeofday",
        "time",
        "clock",
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
    fn a_readable_clock_of_this_thread_does_not_step_back() {
        for clock in registry().iter().filter(|clock| clock.available().is_ok()) {
            let info = clock.info();
            let mut reads = [0; 64];
            clock.read_into(&mut reads);
            clock.read_batch(3);
            assert!(matches!(info.unit, "ns" | "us" | "s" | "ticks"), "{}", info.name);
            assert_eq!(
                info.unit == "ticks",
                clock.stated_frequency_hz().is_none_or(|hz| !is_decimal(hz)),
                "{}",
                info.name
            );
            // Time of day may be set while this runs; a test must not depend on that.
            if info.counts != Counts::TimeOfDay && info.unit != "ticks" {
                assert!(reads.is_sorted(), "{} {reads:?}", info.name);
            }
        }
    }

    fn is_decimal(hz: u64) -> bool {
        matches!(hz, 1 | 1_000_000 | 1_000_000_000)
    }

    #[test]
    fn clocks_of_the_same_thing_agree() {
        let clocks = registry();
        let read = |name: &str| clocks.iter().find(|clock| clock.info().name == name).map(|clock| clock.read());
        let (before, by_call, after) = (read("monotonic"), read("monotonic-syscall"), read("monotonic"));
        assert!(before <= by_call && by_call <= after, "{before:?} {by_call:?} {after:?}");
        assert!(read("monotonic-coarse") <= after);
        assert!(read("monotonic") <= read("boottime"));
    }
}
