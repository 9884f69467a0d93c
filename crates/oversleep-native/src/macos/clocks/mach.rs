//! Mach's own clocks, in units of its timebase.

use oversleep_record::Nanos;

use crate::fn_clock::{FnClock, Read};
use crate::macos::os;

// SAFETY: as <mach/mach_time.h> declares them, in libSystem; they take nothing and can't
// fail. The libc crate marks its own declaration of the first as deprecated in favour of another crate.
unsafe extern "C" {
    // https://developer.apple.com/documentation/kernel/1462446-mach_absolute_time
    fn mach_absolute_time() -> u64;
    // https://github.com/apple-oss-distributions/xnu/blob/main/osfmk/mach/mach_time.h
    fn mach_continuous_time() -> u64;
    // https://github.com/apple-oss-distributions/xnu/blob/main/osfmk/mach/mach_time.h
    fn mach_approximate_time() -> u64;
    // https://github.com/apple-oss-distributions/xnu/blob/main/osfmk/mach/mach_time.h
    fn mach_continuous_approximate_time() -> u64;
}

/// The clock of that function, which is part of the type of its read.
macro_rules! mach_clock {
    ($function:ident $(, $step:ident)?) => {
        |info| {
            // SAFETY: takes nothing and returns a number.
            let clock = FnClock::new(info, || unsafe { $function() });
            clock.ticks_hz(|| Some(os::timebase().hz()))$(.step($step))?.boxed()
        }
    };
}

/// One unit of the timebase, in whole nanoseconds.
fn one_unit() -> Option<Nanos> {
    i64::try_from(os::timebase().nanos(1)).ok().map(|step| Nanos(step.max(1)))
}

pub(super) const READS: &[Read] = &[
    ("mach-absolute", mach_clock!(mach_absolute_time, one_unit)),
    ("mach-continuous", mach_clock!(mach_continuous_time, one_unit)),
    ("mach-approximate", mach_clock!(mach_approximate_time)),
    ("mach-continuous-approximate", mach_clock!(mach_continuous_approximate_time)),
];
