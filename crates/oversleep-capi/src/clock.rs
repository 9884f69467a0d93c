//! The clock.

use std::ffi::c_char;

use oversleep::clock::Source as Chosen;
use oversleep::{Clock, Instant};

use crate::UNKNOWN_NS;
use crate::boundary::{self, text};
use crate::status::Status;

/// A clock that `oversleep_clock_now_ns` can read.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// A clock that this version of the interface has no name for.
    Other = 0,
    /// The time-stamp counter of x86-64.
    Tsc = 1,
    /// The virtual counter of AArch64's generic timer.
    Cntvct = 2,
    /// The operating system's monotonic clock.
    Os = 3,
}

impl From<Chosen> for Source {
    fn from(chosen: Chosen) -> Self {
        match chosen {
            Chosen::Tsc => Self::Tsc,
            Chosen::Cntvct => Self::Cntvct,
            Chosen::Os => Self::Os,
            _ => Self::Other,
        }
    }
}

/// Returns the time now, in nanoseconds on the operating system's monotonic time line, by the cheapest exact read. It
/// never goes back within one thread; to compare times across threads use `oversleep_clock_now_ordered_ns`. On Linux
/// the time line is CLOCK_MONOTONIC, which counts from boot and stops during suspend.
///
/// Cost: a call, a read of the processor's counter and about a nanosecond; or a read of the operating system's clock if
/// that is in use. The process's first call chooses the clock, which takes about 0.3 ms: make it before you enter a
/// sandbox, and not in a signal handler. Later calls may be made in signal handlers.
///
/// To force the operating system's clock, set `OVERSLEEP_CLOCK=os` in the environment before the first use.
///
/// Returns `OVERSLEEP_UNKNOWN_NS` after an internal failure.
// SAFETY: no other library uses this prefix.
#[unsafe(no_mangle)]
pub extern "C" fn oversleep_clock_now_ns() -> u64 {
    now(Clock::now)
}

/// Returns the time now, in nanoseconds, read after every load that precedes the call: never below a time that any
/// thread read with this function earlier. Cost: a fence and an exchange more than `oversleep_clock_now_ns`, 16 ns.
///
/// Returns `OVERSLEEP_UNKNOWN_NS` after an internal failure.
// SAFETY: no other library uses this prefix.
#[unsafe(no_mangle)]
pub extern "C" fn oversleep_clock_now_ordered_ns() -> u64 {
    now(Clock::now_ordered)
}

/// Returns a past moment on the same time line, in nanoseconds, up to `oversleep_clock_coarse_step_ns` ago: the
/// cheapest read. On Linux it reads CLOCK_MONOTONIC_COARSE, at about a quarter of the cost of `oversleep_clock_now_ns`;
/// elsewhere it is the same as that.
///
/// Returns `OVERSLEEP_UNKNOWN_NS` after an internal failure.
// SAFETY: no other library uses this prefix.
#[unsafe(no_mangle)]
pub extern "C" fn oversleep_clock_coarse_ns() -> u64 {
    now(Clock::coarse)
}

/// Returns the step of `oversleep_clock_coarse_ns`, in nanoseconds: one tick on Linux, 1 to 10 ms; 1 ns elsewhere.
///
/// Returns `OVERSLEEP_UNKNOWN_NS` after an internal failure.
// SAFETY: no other library uses this prefix.
#[unsafe(no_mangle)]
pub extern "C" fn oversleep_clock_coarse_step_ns() -> u64 {
    boundary::or(UNKNOWN_NS, || crate::outcome::ns(Clock::coarse_step()))
}

#[inline]
fn now(read: impl FnOnce() -> Instant) -> u64 {
    boundary::or(UNKNOWN_NS, || read().as_nanos())
}

/// Writes which clock is in use. Starts it if this is the first use.
// SAFETY: no other library uses this prefix.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oversleep_clock_source(source: *mut Source) -> Status {
    // SAFETY: the caller's pointer is null or writable.
    unsafe { boundary::write(source, || Ok(Clock::source().into())) }
}

/// Writes the short name of the clock in use: `tsc`, `cntvct` or `os`. Starts it if this is the first use.
// SAFETY: no other library uses this prefix.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oversleep_clock_source_name(text: *mut c_char, capacity: usize, length: *mut usize) -> Status {
    // SAFETY: the caller describes the buffer correctly.
    unsafe { text::write(text, capacity, length, || Ok(Clock::source().name())) }
}

/// Writes which clock is in use, and which check each faster one failed, as an English sentence, rarely longer than 300
/// bytes.
// SAFETY: no other library uses this prefix.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oversleep_clock_why(text: *mut c_char, capacity: usize, length: *mut usize) -> Status {
    // SAFETY: the caller describes the buffer correctly.
    unsafe { text::write(text, capacity, length, || Ok(Clock::why().to_string())) }
}

/// Writes the measured frequency of the counter in use, in ticks per second. Returns `OVERSLEEP_STATUS_NONE` if the
/// operating system's clock is in use.
// SAFETY: no other library uses this prefix.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oversleep_clock_frequency_hz(hz: *mut u64) -> Status {
    // SAFETY: the caller's pointer is null or writable.
    unsafe { boundary::write(hz, || Clock::why().hz.ok_or(Status::None)) }
}

/// Checks the counter thoroughly, and takes it out of use if a check fails: whether the kernel still trusts it, its
/// rate over 100 ms, and every core against the first. Cost: a little over 100 ms; nothing else in this library calls
/// it.
///
/// Writes the drift, unless `drift_ppm` is NULL: by how many parts per million the counter ran ahead of the rate in
/// use. Returns `OVERSLEEP_STATUS_REJECTED` if a check failed. `oversleep_clock_why` then says which, and the operating
/// system's clock is used from then on.
// SAFETY: no other library uses this prefix.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oversleep_clock_verify(drift_ppm: *mut f64) -> Status {
    let drift = || Clock::verify().map(|verified| verified.drift_ppm).map_err(|_| Status::Rejected);
    // SAFETY: the caller's pointer is null or writable.
    unsafe { boundary::write_if_wanted(drift_ppm, drift) }
}
