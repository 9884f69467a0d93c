//! This system's clocks, read for the supervisor's own use.

use oversleep_record::Nanos;

/// The time now on one of the system's clocks.
pub fn now_on(clock: libc::clockid_t) -> Nanos {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the struct is writable. https://man7.org/linux/man-pages/man2/clock_gettime.2.html
    unsafe { libc::clock_gettime(clock, &raw mut time) };
    Nanos(time.tv_sec * 1_000_000_000 + time.tv_nsec)
}

/// The resolution of one of the system's clocks.
pub fn resolution_of(clock: libc::clockid_t) -> Nanos {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the struct is writable. https://man7.org/linux/man-pages/man2/clock_getres.2.html
    unsafe { libc::clock_getres(clock, &raw mut time) };
    Nanos(time.tv_sec * 1_000_000_000 + time.tv_nsec)
}

/// The time on the monotonic clock, which all ends refer to.
pub fn now() -> Nanos {
    now_on(libc::CLOCK_MONOTONIC)
}

/// How far a clock is ahead of the monotonic one.
pub fn ahead(clock: libc::clockid_t) -> Nanos {
    match clock {
        libc::CLOCK_MONOTONIC => Nanos::ZERO,
        _ => now_on(clock) - now(),
    }
}
