//! Clocks of `clock_gettime`, by their numbers.

use oversleep_record::Unavailable;

use super::os;

/// Whether the clock of that number is there.
pub(crate) fn readable(id: libc::clockid_t) -> Result<(), Unavailable> {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a valid timespec that the call fills in.
    if unsafe { libc::clock_gettime(id, &raw mut time) } == 0 { Ok(()) } else { Err(os::failed("clock_gettime")) }
}

/// One entry: the clock id is part of the type of its read, so that the loop around it has a constant.
macro_rules! posix_clock {
    ($id:ident, $info:expr) => {
        Box::new($crate::fn_clock::FnClock {
            info: $info,
            available: || $crate::unix::clocks::readable(libc::$id),
            frequency_hz: || Some(1_000_000_000),
            step: || $crate::unix::os::clock_step(libc::$id).ok(),
            read: || $crate::unix::os::clock_ns(libc::$id),
        }) as Box<dyn oversleep_system::Clock>
    };
}

pub(crate) use posix_clock;
