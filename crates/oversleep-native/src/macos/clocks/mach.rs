//! Mach's own clocks, in units of its timebase.

use oversleep_record::Nanos;
use oversleep_record::clock::AcrossSuspend;

use super::{FnClock, HERE, always, none};
use crate::macos::os;
use oversleep_system::{Clock, ClockInfo};

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

/// One entry: the function is part of the type of its read.
macro_rules! mach_clock {
    ($function:ident, $step:expr, $info:expr) => {
        Box::new(FnClock {
            info: ClockInfo { call: concat!(stringify!($function), "()"), unit: "ticks", ..$info },
            available: always,
            frequency_hz: || Some(os::timebase().hz()),
            step: $step,
            // SAFETY: takes nothing and returns a number.
            read: || unsafe { $function() },
        }) as Box<dyn Clock>
    };
}

/// One unit of the timebase, in whole nanoseconds.
fn one_unit() -> Option<Nanos> {
    i64::try_from(os::timebase().nanos(1)).ok().map(|step| Nanos(step.max(1)))
}

pub(super) fn registry() -> Vec<Box<dyn Clock>> {
    let continues = || ClockInfo { across_suspend: AcrossSuspend::Continues, ..HERE };
    vec![
        mach_clock!(
            mach_absolute_time,
            one_unit,
            ClockInfo {
                name: "mach-absolute",
                doc: "The clock beneath all others, in units of the timebase: 24 MHz on Apple silicon, ns on Intel. Reads \
                      the processor's counter without a system call. Programs that take its units for ns are off by 41.67.",
                since: "Mac OS X 10.0",
                page: "https://developer.apple.com/documentation/kernel/1462446-mach_absolute_time",
                ..HERE
            }
        ),
        mach_clock!(
            mach_continuous_time,
            one_unit,
            ClockInfo {
                name: "mach-continuous",
                doc: "mach_absolute_time plus the time asleep.",
                page: "https://github.com/apple-oss-distributions/xnu/blob/main/osfmk/mach/mach_time.h",
                ..continues()
            }
        ),
        mach_clock!(
            mach_approximate_time,
            none,
            ClockInfo {
                name: "mach-approximate",
                doc: "mach_absolute_time as the kernel last noted it, read from memory: the cheapest clock here where the \
                      kernel keeps it, else as fine and as dear as the exact one.",
                since: "OS X 10.10",
                page: "https://github.com/apple-oss-distributions/xnu/blob/main/osfmk/mach/mach_time.h",
                ..HERE
            }
        ),
        mach_clock!(
            mach_continuous_approximate_time,
            none,
            ClockInfo {
                name: "mach-continuous-approximate",
                doc: "mach_continuous_time as the kernel last noted it.",
                page: "https://github.com/apple-oss-distributions/xnu/blob/main/osfmk/mach/mach_time.h",
                ..continues()
            }
        ),
    ]
}
