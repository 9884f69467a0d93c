//! How Linux's clocks are read.

mod counters;

use oversleep_record::clock::is_coarse;
use oversleep_record::{Nanos, Unavailable};
use oversleep_system::{Clock, clocks, registry};

use crate::fn_clock::{FnClock, Read};
use crate::linux::files::{Disk, Files};
use crate::linux::os;
use crate::processor::clocks::Rules;
use crate::unix::clocks::posix_clock;
use crate::unix::os::{clock_us, gettimeofday_us, time_s};
use crate::{library, std_clocks};

const OWN: &[Read] = &[
    ("monotonic", posix_clock!(CLOCK_MONOTONIC, fine_step)),
    ("monotonic-raw", posix_clock!(CLOCK_MONOTONIC_RAW, fine_step)),
    ("monotonic-coarse", posix_clock!(CLOCK_MONOTONIC_COARSE)),
    ("boottime", posix_clock!(CLOCK_BOOTTIME, fine_step)),
    ("realtime", posix_clock!(CLOCK_REALTIME, fine_step)),
    ("realtime-coarse", posix_clock!(CLOCK_REALTIME_COARSE)),
    ("tai", posix_clock!(CLOCK_TAI, fine_step)),
    ("process-cputime", posix_clock!(CLOCK_PROCESS_CPUTIME_ID)),
    ("thread-cputime", posix_clock!(CLOCK_THREAD_CPUTIME_ID)),
    ("monotonic-syscall", |info| {
        FnClock::new(info, os::monotonic_ns_by_syscall)
            .available(os::monotonic_syscall_works)
            .step(|| fine_step(libc::CLOCK_MONOTONIC).ok())
            .boxed()
    }),
    ("gettimeofday", |info| FnClock::new(info, gettimeofday_us).boxed()),
    ("time", |info| FnClock::new(info, time_s).boxed()),
    ("clock", |info| FnClock::new(info, clock_us).boxed()),
];

const READS: &[&[Read]] = &[OWN, counters::LinuxRules::READS, std_clocks::READS, library::READS];

/// The step of a clock that follows the clocksource. `clock_getres` states the resolution of its timers: a tick without
/// high-resolution timers. That is the clock's own step only if it follows the tick too.
fn fine_step(clock: libc::clockid_t) -> Result<Nanos, Unavailable> {
    let current = || Disk.text("/sys/devices/system/clocksource/clocksource0/current_clocksource");
    own_step(os::clock_step(clock)?, || current().ok())
}

fn own_step(of_timers: Nanos, clocksource: impl FnOnce() -> Option<String>) -> Result<Nanos, Unavailable> {
    match is_coarse(of_timers) && !clocksource().is_some_and(|name| name.contains("jiffies")) {
        true => Err(Unavailable::missing("the clock's own step: clock_getres states that of its timers")),
        false => Ok(of_timers),
    }
}

/// All clocks, available or not.
pub fn registry() -> Vec<Box<dyn Clock>> {
    registry!(clocks::LINUX, READS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_high_resolution_timers_a_clock_is_no_coarser_than_its_clocksource() {
        let (fine, tick) = (Nanos(1), Nanos::from_millis(4));
        let step = |of_timers, clocksource: &str| own_step(of_timers, || Some(clocksource.to_owned())).ok();
        assert_eq!(step(fine, "tsc"), Some(fine));
        assert_eq!(step(tick, "tsc"), None, "highres=off");
        assert_eq!(step(tick, "jiffies"), Some(tick));
        assert_eq!(step(tick, "refined-jiffies"), Some(tick));
        assert_eq!(own_step(tick, || None).ok(), None);
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
