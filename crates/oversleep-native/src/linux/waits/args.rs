//! Spans and deadlines in the forms the calls take. Nothing here allocates, formats or fails: it runs inside what is
//! measured.

use oversleep_record::Nanos;

use crate::linux::os;

pub(super) use crate::linux::os::monotonic_now;
pub(super) use crate::unix::waits::{exact_timespec, micros, millis, timespec, timeval};

/// The same moment on `CLOCK_REALTIME`, for calls that take no other clock.
///
/// It reads the wall clock between two reads of the monotonic one, up to three times, and uses the tightest bracket.
/// The offset counts from the bracket's beginning: it is never too small, so the wait is never early, and it is too
/// large by no more than the bracket, some tens of nanoseconds. Setting the wall clock during the wait moves its end.
pub(super) fn realtime_deadline(deadline: Nanos) -> Nanos {
    const TIGHT_ENOUGH: Nanos = Nanos(1_000);
    let mut tightest = Nanos::MAX;
    let mut offset = Nanos::ZERO;
    for _ in 0..3 {
        let before = monotonic_now();
        let wall = Nanos(os::clock_ns(libc::CLOCK_REALTIME) as i64);
        let bracket = monotonic_now() - before;
        if bracket < tightest {
            tightest = bracket;
            offset = wall - before;
        }
        if bracket <= TIGHT_ENOUGH {
            break;
        }
    }
    deadline + offset
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wall_clock_deadline_saturates() {
        assert_eq!(realtime_deadline(Nanos::MAX), Nanos::MAX);
    }
}
