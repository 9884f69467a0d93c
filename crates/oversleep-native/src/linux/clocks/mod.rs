//! How Linux's clocks are read.

mod counters;

use oversleep_system::{Clock, clocks, registry};

use crate::fn_clock::{FnClock, Read};
use crate::linux::os;
use crate::processor::clocks::Rules;
use crate::unix::clocks::posix_clock;
use crate::unix::os::{clock_us, gettimeofday_us, time_s};
use crate::{library, std_clocks};

const OWN: &[Read] = &[
    ("monotonic", posix_clock!(CLOCK_MONOTONIC)),
    ("monotonic-raw", posix_clock!(CLOCK_MONOTONIC_RAW)),
    ("monotonic-coarse", posix_clock!(CLOCK_MONOTONIC_COARSE)),
    ("boottime", posix_clock!(CLOCK_BOOTTIME)),
    ("realtime", posix_clock!(CLOCK_REALTIME)),
    ("realtime-coarse", posix_clock!(CLOCK_REALTIME_COARSE)),
    ("tai", posix_clock!(CLOCK_TAI)),
    ("process-cputime", posix_clock!(CLOCK_PROCESS_CPUTIME_ID)),
    ("thread-cputime", posix_clock!(CLOCK_THREAD_CPUTIME_ID)),
    ("monotonic-syscall", |info| {
        FnClock::new(info, os::monotonic_ns_by_syscall)
            .available(os::monotonic_syscall_works)
            .step(|| os::clock_step(libc::CLOCK_MONOTONIC).ok())
            .boxed()
    }),
    ("gettimeofday", |info| FnClock::new(info, gettimeofday_us).boxed()),
    ("time", |info| FnClock::new(info, time_s).boxed()),
    ("clock", |info| FnClock::new(info, clock_us).boxed()),
];

const READS: &[&[Read]] = &[OWN, counters::LinuxRules::READS, std_clocks::READS, library::READS];

/// All clocks, available or not.
pub fn registry() -> Vec<Box<dyn Clock>> {
    registry!(clocks::LINUX, READS)
}

#[cfg(test)]
mod tests {
    use super::*;

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
