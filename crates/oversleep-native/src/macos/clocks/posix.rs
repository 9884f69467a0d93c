//! `clock_gettime` by clock id, and the same clocks as one number of nanoseconds.

use oversleep_record::Nanos;

use crate::fn_clock::{FnClock, Read};
use crate::unix::clocks::{posix_clock, readable};
use crate::unix::os;

// SAFETY: as <time.h> declares it, in libSystem since macOS 10.12.
unsafe extern "C" {
    // https://keith.github.io/xcode-man-pages/clock_gettime.3.html
    fn clock_gettime_nsec_np(clock: libc::clockid_t) -> u64;
}

/// The same clock through the call that returns a number instead of a structure.
macro_rules! nsec_clock {
    ($id:ident) => {
        |info| {
            // SAFETY: takes a number and returns one.
            let clock = FnClock::new(info, || unsafe { clock_gettime_nsec_np(libc::$id) });
            clock.available(|| readable(libc::$id)).step(|| Some(Nanos(1))).boxed()
        }
    };
}

pub(super) const READS: &[Read] = &[
    ("uptime-raw", posix_clock!(CLOCK_UPTIME_RAW)),
    ("uptime-raw-approx", posix_clock!(CLOCK_UPTIME_RAW_APPROX)),
    ("monotonic", posix_clock!(CLOCK_MONOTONIC)),
    ("monotonic-raw", posix_clock!(CLOCK_MONOTONIC_RAW)),
    ("monotonic-raw-approx", posix_clock!(CLOCK_MONOTONIC_RAW_APPROX)),
    ("realtime", posix_clock!(CLOCK_REALTIME)),
    ("process-cputime", posix_clock!(CLOCK_PROCESS_CPUTIME_ID)),
    ("thread-cputime", posix_clock!(CLOCK_THREAD_CPUTIME_ID)),
    ("uptime-raw-nsec", nsec_clock!(CLOCK_UPTIME_RAW)),
    ("uptime-raw-approx-nsec", nsec_clock!(CLOCK_UPTIME_RAW_APPROX)),
    ("monotonic-raw-nsec", nsec_clock!(CLOCK_MONOTONIC_RAW)),
    ("monotonic-raw-approx-nsec", nsec_clock!(CLOCK_MONOTONIC_RAW_APPROX)),
    ("gettimeofday", |info| FnClock::new(info, os::gettimeofday_us).boxed()),
    ("time", |info| FnClock::new(info, os::time_s).boxed()),
    ("clock", |info| FnClock::new(info, os::clock_us).boxed()),
];
