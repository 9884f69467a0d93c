//! Spans and deadlines in the forms the calls take. Nothing here allocates, formats or fails: it runs inside what is
//! measured.

use oversleep_record::Nanos;
use oversleep_system::WaitInfo;

use crate::macos::os;
use crate::native::given;

pub(super) use crate::unix::waits::{exact_timespec, micros, millis, timespec, timeval};

/// What the call of `info` is given for that span or deadline, in nanoseconds.
#[inline]
pub(super) fn nanos(info: &WaitInfo, requested: Nanos) -> Nanos {
    let argument = given::rounded(info, requested);
    given::note(info, argument);
    argument
}

/// The deadline in units of `mach_absolute_time`, rounded up so that it is never early.
#[inline]
pub(super) fn mach_deadline(info: &WaitInfo, deadline: Nanos) -> u64 {
    os::timebase().ticks_up(nanos(info, deadline).0 as u64)
}

/// The deadline on `CLOCK_REALTIME`, for calls that take no other clock. That clock advances in microseconds, so the
/// deadline is at most one microsecond late and never early. Setting the wall clock during the wait moves its end.
pub(super) fn realtime_deadline(deadline: Nanos) -> Nanos {
    let now = os::now();
    let wall = Nanos(os::clock_ns(libc::CLOCK_REALTIME) as i64);
    wall + (deadline - now) + Nanos(1_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deadline_before_the_clocks_origin_is_over() {
        assert_eq!(mach_deadline(&WaitInfo::BLANK, Nanos(-1)), 0);
    }
}
