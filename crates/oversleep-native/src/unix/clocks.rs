//! Clocks of `clock_gettime`, by their ids.

use oversleep_record::Unavailable;

use super::os;

/// Whether the clock with that id exists.
pub(crate) fn readable(id: libc::clockid_t) -> Result<(), Unavailable> {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a valid timespec that the call fills in.
    if unsafe { libc::clock_gettime(id, &raw mut time) } == 0 { Ok(()) } else { Err(os::failed("clock_gettime")) }
}

/// The clock of that number. The number is part of the type of its read, so that the loop around it has a constant.
macro_rules! posix_clock {
    ($id:ident) => {
        $crate::unix::clocks::posix_clock!($id, $crate::unix::os::clock_step)
    };
    ($id:ident, $step:path) => {
        |info| {
            $crate::fn_clock::FnClock::new(info, || $crate::unix::os::clock_ns(libc::$id))
                .available(|| $crate::unix::clocks::readable(libc::$id))
                .step(|| $step(libc::$id).ok())
                .boxed()
        }
    };
}

pub(crate) use posix_clock;
