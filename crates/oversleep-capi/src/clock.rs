//! The clock.

use std::ffi::c_char;

use oversleep::clock::Source as Chosen;
use oversleep::{Clock, Instant};

use crate::UNKNOWN_NS;
use crate::boundary::{self, Place, text};
use crate::status::Status;

/// A clock that `oversleep_clock_now_ns` can read.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// One that this version of the interface has no name for.
    Other = 0,
    /// The time-stamp counter of x86-64.
    Tsc = 1,
    /// The virtual count of AArch64's generic timer.
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

/// Now, in nanoseconds on the operating system's monotonic time line, by the cheapest exact reading. On Linux that line
/// is CLOCK_MONOTONIC: it counts from boot and stands still during suspend.
///
/// Cost: a call, what reading the processor's counter costs, and about a nanosecond; with the operating system's clock,
/// what that costs. The first call of the process chooses the clock: about 0.3 ms, not in a signal handler, and before
/// a sandbox closes. Later calls may be made in signal handlers. Never goes back within one thread; to compare times
/// across threads take `oversleep_clock_now_ordered_ns`.
///
/// `OVERSLEEP_CLOCK=os` in the environment, at first use, forces the operating system's clock.
///
/// Returns `OVERSLEEP_UNKNOWN_NS` after an internal failure.
// SAFETY: the prefix is this library's own.
#[unsafe(no_mangle)]
pub extern "C" fn oversleep_clock_now_ns() -> u64 {
    now(Clock::now)
}

/// Now, in nanoseconds, read after every load that precedes the call: never below a time that another thread read with
/// this function before. Dearer than `oversleep_clock_now_ns` by a fence, about 10 ns.
///
/// Returns `OVERSLEEP_UNKNOWN_NS` after an internal failure.
// SAFETY: the prefix is this library's own.
#[unsafe(no_mangle)]
pub extern "C" fn oversleep_clock_now_ordered_ns() -> u64 {
    now(Clock::now_ordered)
}

/// A past moment on the same time line, in nanoseconds, up to `oversleep_clock_coarse_step_ns` ago: the cheapest
/// reading. On Linux it reads CLOCK_MONOTONIC_COARSE, about a quarter of the cost of `oversleep_clock_now_ns`; elsewhere
/// it is the same as that.
///
/// Returns `OVERSLEEP_UNKNOWN_NS` after an internal failure.
// SAFETY: the prefix is this library's own.
#[unsafe(no_mangle)]
pub extern "C" fn oversleep_clock_coarse_ns() -> u64 {
    now(Clock::coarse)
}

/// How far `oversleep_clock_coarse_ns` moves at a time, in nanoseconds: one timer tick, 1 to 10 ms, on Linux; elsewhere
/// 1 ns.
///
/// Returns `OVERSLEEP_UNKNOWN_NS` after an internal failure.
// SAFETY: the prefix is this library's own.
#[unsafe(no_mangle)]
pub extern "C" fn oversleep_clock_coarse_step_ns() -> u64 {
    boundary::or(UNKNOWN_NS, || crate::outcome::ns(Clock::coarse_step()))
}

#[inline]
fn now(read: impl FnOnce() -> Instant) -> u64 {
    boundary::or(UNKNOWN_NS, || read().as_nanos())
}

/// Writes which clock is in use. Starts it, if this is the first use.
// SAFETY: the prefix is this library's own.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oversleep_clock_source(source: *mut Source) -> Status {
    boundary::status(|| {
        // SAFETY: the caller's pointer is null or can be written to.
        let place = unsafe { Place::required(source)? };
        place.put(Clock::source().into());
        Ok(Status::Ok)
    })
}

/// The short name of the clock in use: `tsc`, `cntvct` or `os`. Starts it, if this is the first use.
// SAFETY: the prefix is this library's own.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oversleep_clock_source_name(text: *mut c_char, capacity: usize, length: *mut usize) -> Status {
    boundary::status(|| {
        // SAFETY: the caller describes the buffer truthfully.
        let text = unsafe { text::Buffer::new(text, capacity, length)? };
        Ok(text.put(Clock::source().name()))
    })
}

/// Which clock is in use, and which check each faster one failed, as a sentence in English. It is seldom longer than
/// 300 bytes.
// SAFETY: the prefix is this library's own.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oversleep_clock_why(text: *mut c_char, capacity: usize, length: *mut usize) -> Status {
    boundary::status(|| {
        // SAFETY: the caller describes the buffer truthfully.
        let text = unsafe { text::Buffer::new(text, capacity, length)? };
        Ok(text.put(&Clock::why().to_string()))
    })
}

/// Writes the measured frequency of the counter in use, in ticks per second; `OVERSLEEP_STATUS_NONE` when the operating
/// system's clock is in use.
// SAFETY: the prefix is this library's own.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oversleep_clock_frequency_hz(hz: *mut u64) -> Status {
    boundary::status(|| {
        // SAFETY: the caller's pointer is null or can be written to.
        let place = unsafe { Place::required(hz)? };
        place.put(Clock::why().hz.ok_or(Status::None)?);
        Ok(Status::Ok)
    })
}

/// Checks the counter thoroughly, and takes it out of use when it fails: what the kernel thinks of it, its rate over
/// 100 ms, and every core against the first. Takes a little over 100 ms; nothing else in this library calls it.
///
/// Writes, unless `drift_ppm` is NULL, by how many parts per million the counter ran ahead of the rate in use.
/// `OVERSLEEP_STATUS_REJECTED` when a check failed: `oversleep_clock_why` says which, and the operating system's clock
/// is used from then on.
// SAFETY: the prefix is this library's own.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oversleep_clock_verify(drift_ppm: *mut f64) -> Status {
    boundary::status(|| {
        // SAFETY: the caller's pointer is null or can be written to.
        let place = unsafe { Place::optional(drift_ppm)? };
        let verified = Clock::verify().map_err(|_| Status::Rejected)?;
        if let Some(place) = place {
            place.put(verified.drift_ppm);
        }
        Ok(Status::Ok)
    })
}
