//! Every clock that can be read on macOS, each an entry with its documentation.

mod legacy;
mod mach;
mod posix;

use oversleep_record::{Nanos, Unavailable};

use crate::fn_clock::{COMMON, FnClock, always, none};
use crate::processor::clocks::Rules;
use crate::{library, processor, std_clocks};
use oversleep_system::{Clock, ClockInfo};

/// What most clocks here have in common, for the entries to change what differs.
const HERE: ClockInfo =
    ClockInfo { since: "macOS 10.12", page: "https://keith.github.io/xcode-man-pages/clock_gettime.3.html", ..COMMON };

fn nanosecond() -> Option<Nanos> {
    Some(Nanos(1))
}

/// Nobody forbids the processor's counters here. Rosetta translates `rdtsc` into reads of the generic timer, scaled.
struct MacRules;

impl Rules for MacRules {
    fn permitted(_instruction: &str) -> Result<(), Unavailable> {
        Ok(())
    }

    fn tsc_hz() -> Option<u64> {
        super::environment::tsc_hz().ok()
    }
}

/// All clocks, available or not.
pub fn registry() -> Vec<Box<dyn Clock>> {
    let mut clocks = posix::registry();
    clocks.extend(mach::registry());
    clocks.extend(legacy::registry());
    clocks.extend(processor::clocks::registry::<MacRules>());
    clocks.extend(std_clocks::registry());
    clocks.extend(library::clocks());
    clocks
}

#[cfg(test)]
mod tests {
    use oversleep_record::clock::Counts;

    use super::*;

    #[test]
    fn a_readable_clock_of_this_thread_does_not_step_back() {
        for clock in registry().iter().filter(|clock| clock.available().is_ok()) {
            let info = clock.info();
            let mut reads = [0; 64];
            clock.read_into(&mut reads);
            clock.read_batch(3);
            assert!(matches!(info.unit, "ns" | "us" | "s" | "ticks"), "{}", info.name);
            // Time of day may be set while this runs; a test must not depend on that.
            if info.counts != Counts::TimeOfDay && info.unit != "ticks" {
                assert!(reads.is_sorted(), "{} {reads:?}", info.name);
            }
        }
    }

    #[test]
    fn clocks_of_the_same_thing_agree() {
        let clocks = registry();
        let read = |name: &str| clocks.iter().find(|clock| clock.info().name == name).map(|clock| clock.read());
        let (before, in_nanos, after) = (read("uptime-raw"), read("uptime-raw-nsec"), read("uptime-raw"));
        assert!(before <= in_nanos && in_nanos <= after, "{before:?} {in_nanos:?} {after:?}");
        assert!(read("uptime-raw-approx") <= read("uptime-raw"));
        assert!(read("mach-absolute") <= read("mach-continuous"), "the second counts the time asleep as well");
    }
}
