//! The clock.

use std::ffi::c_char;

use oversleep::clock::Source as Chosen;
use oversleep::{BootInstant, Clock, Instant};

use crate::UNKNOWN_NS;
use crate::boundary::{self, growing, text};
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
/// Cost: a call and a read of the processor's counter, or a read of the operating system's clock if that is in use. The
/// process's first call chooses the clock, which takes about 0.3 ms: make it before you enter a sandbox, and not in a
/// signal handler. Later calls may be made in signal handlers.
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

/// What the clock has suspected and counted so far.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Faults {
    /// `sizeof(oversleep_faults)`; set it before the call.
    pub size: usize,
    /// 1 if the processor's counter was in use and failed, so that the operating system's clock is used; otherwise 0.
    /// `oversleep_clock_why` says how it failed.
    pub is_demoted: u32,
    /// Zero.
    pub reserved: u32,
    /// How often the counter was suspected.
    pub suspected: u64,
    /// How many readings were behind an earlier one.
    pub backward: u64,
    /// By how much at most, in nanoseconds.
    pub backward_max_ns: u64,
}

growing!(Faults);

/// Writes what the clock has suspected and counted so far. A program that wants to know of a demotion asks now and then.
// SAFETY: no other library uses this prefix.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oversleep_clock_faults(faults: *mut Faults) -> Status {
    let answer = || {
        let why = Clock::why();
        let oversleep::clock::Faults { suspected, backward, backward_max_ns, .. } = why.faults;
        let (size, is_demoted) = (size_of::<Faults>(), u32::from(why.is_demoted));
        Ok(Faults { size, is_demoted, reserved: 0, suspected, backward, backward_max_ns })
    };
    // SAFETY: the caller's pointer is null or writable.
    unsafe { boundary::fill(faults, answer) }
}

/// Starts the clock, and lets it make no other system call from now on than those that read a clock. Call this before you
/// enter a sandbox that ends the process for a forbidden call.
// SAFETY: no other library uses this prefix.
#[unsafe(no_mangle)]
pub extern "C" fn oversleep_clock_before_sandbox() -> Status {
    boundary::status(|| {
        Clock::before_sandbox();
        Ok(Status::Ok)
    })
}

/// Returns the time now on a time line that also counts the time that the machine was suspended, in nanoseconds:
/// CLOCK_BOOTTIME on Linux. For leases and tokens that expire while the machine sleeps. Cost: a read of the operating
/// system's clock.
///
/// Returns `OVERSLEEP_UNKNOWN_NS` after an internal failure.
// SAFETY: no other library uses this prefix.
#[unsafe(no_mangle)]
pub extern "C" fn oversleep_boot_now_ns() -> u64 {
    boundary::or(UNKNOWN_NS, || BootInstant::now().as_nanos())
}

/// Waits until `deadline_ns`, a time of `oversleep_boot_now_ns`, and never ends early. Time that the machine is suspended
/// counts. Writes how late it ended, in nanoseconds, unless `lateness_ns` is NULL. Cost: the operating system's wait, so
/// it ends tens of microseconds late.
// SAFETY: no other library uses this prefix.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oversleep_boot_wait_until_ns(deadline_ns: u64, lateness_ns: *mut u64) -> Status {
    let wait = || Ok(crate::outcome::ns(BootInstant::from_nanos(deadline_ns).wait()));
    // SAFETY: the caller's pointer is null or writable.
    unsafe { boundary::write_if_wanted(lateness_ns, wait) }
}
