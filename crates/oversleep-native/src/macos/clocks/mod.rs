//! How macOS's clocks are read.

mod mach;
mod posix;

use oversleep_record::Unavailable;
use oversleep_system::{Clock, clocks, registry};

use crate::fn_clock::Read;
use crate::processor::clocks::Rules;
use crate::{library, std_clocks};

/// macOS doesn't forbid the processor's counters. Rosetta translates `rdtsc` into scaled reads of the generic timer.
struct MacRules;

impl Rules for MacRules {
    fn permitted(_instruction: &str) -> Result<(), Unavailable> {
        Ok(())
    }

    fn tsc_hz() -> Option<u64> {
        super::environment::tsc_hz().ok()
    }
}

const READS: &[&[Read]] = &[posix::READS, mach::READS, MacRules::READS, std_clocks::READS, library::READS];

/// All clocks, available or not.
pub fn registry() -> Vec<Box<dyn Clock>> {
    registry!(clocks::MACOS, READS)
}

#[cfg(test)]
mod tests {
    use super::*;

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
