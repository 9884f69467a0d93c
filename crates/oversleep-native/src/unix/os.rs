//! Small safe wrappers of calls that every Unix has.

use std::io;

use oversleep_record::{Nanos, Unavailable};

/// A clock's seconds and nanoseconds as one number of ns; 0 if the clock isn't readable, which callers check
/// beforehand.
#[inline(always)]
pub fn clock_ns(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a valid timespec that the call fills in.
    unsafe { libc::clock_gettime(clock, &raw mut time) };
    (time.tv_sec as u64).wrapping_mul(1_000_000_000).wrapping_add(time.tv_nsec as u64)
}

/// The step that the system states for a clock.
pub fn clock_step(clock: libc::clockid_t) -> Result<Nanos, Unavailable> {
    let mut step = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `step` is a valid timespec that the call fills in.
    if unsafe { libc::clock_getres(clock, &raw mut step) } != 0 {
        return Err(failed("clock_getres"));
    }
    Ok(Nanos::from_secs(step.tv_sec) + Nanos(step.tv_nsec))
}

/// A failed call with the error it just left.
pub fn failed(call: &str) -> Unavailable {
    Unavailable::failed(call, io::Error::last_os_error())
}

/// Time of day in microseconds.
#[inline(always)]
pub fn gettimeofday_us() -> u64 {
    let mut time = libc::timeval { tv_sec: 0, tv_usec: 0 };
    // SAFETY: `time` is a valid timeval; a null time zone is allowed.
    unsafe { libc::gettimeofday(&raw mut time, std::ptr::null_mut()) };
    (time.tv_sec as u64).wrapping_mul(1_000_000).wrapping_add(time.tv_usec as u64)
}

/// Time of day in seconds.
#[inline(always)]
pub fn time_s() -> u64 {
    // SAFETY: a null pointer is allowed: the time is only returned.
    unsafe { libc::time(std::ptr::null_mut()) as u64 }
}

/// CPU time of this process in microseconds.
#[inline(always)]
pub fn clock_us() -> u64 {
    // SAFETY: takes no argument and returns a number.
    unsafe { clock() as u64 }
}

// SAFETY: as <time.h> declares it: no argument, one clock_t.
unsafe extern "C" {
    // The libc crate declares it only for other systems. https://man7.org/linux/man-pages/man3/clock.3.html
    fn clock() -> libc::clock_t;
}
