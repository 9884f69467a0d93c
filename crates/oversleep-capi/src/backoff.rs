//! An idle strategy for workers.

use std::time::Duration;

use crate::boundary::handle::{self, Handle};
use crate::boundary::{self, Place, growing};
use crate::outcome;
use crate::park::Parker;
use crate::status::Status;

/// An idle strategy (spin, then yield, then park) that learns what parking costs on this machine.
pub struct Backoff(Handle<oversleep::Backoff>);

handle::opaque!(Backoff: oversleep::Backoff);

/// How a back-off behaves. Start from `oversleep_backoff_default_limits`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// `sizeof(oversleep_limits)`; set it before the call.
    pub size: usize,
    /// How many idle turns spin before the first one yields.
    pub spins: u32,
    /// How many idle turns yield to other threads before the first one parks.
    pub yields: u32,
    /// The requested duration of the first park, in nanoseconds. Each further request is twice as long.
    pub park_ns: u64,
    /// How long a park may take in total, including its lateness, in nanoseconds. If even the shortest park takes
    /// longer on this machine, the worker keeps yielding instead.
    pub absence_ns: u64,
}

growing!(Limits);

impl From<Limits> for oversleep::backoff::Limits {
    fn from(limits: Limits) -> Self {
        Self {
            spins: limits.spins,
            yields: limits.yields,
            park: Duration::from_nanos(limits.park_ns),
            absence: Duration::from_nanos(limits.absence_ns),
        }
    }
}

/// What an idle turn did.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Idled {
    /// Something that this version of the interface has no name for.
    Other = 0,
    /// It executed the processor's pause hint, a few tens of nanoseconds.
    Spun = 1,
    /// It yielded to another thread, if one was ready to run.
    Yielded = 2,
    /// It parked the thread.
    Parked = 3,
}

/// An idle turn.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IdleTurn {
    /// `sizeof(oversleep_idle_turn)`; set it before the call.
    pub size: usize,
    /// What it did.
    pub idled: Idled,
    /// Zero.
    pub reserved: u32,
    /// The requested duration of the park, in nanoseconds; `OVERSLEEP_UNKNOWN_NS` if it did not park.
    pub requested_ns: u64,
    /// The duration of the park, in nanoseconds, shorter than requested if another thread unparked this one;
    /// `OVERSLEEP_UNKNOWN_NS` if it did not park.
    pub duration_ns: u64,
}

growing!(IdleTurn);

impl From<oversleep::backoff::Idled> for IdleTurn {
    fn from(idled: oversleep::backoff::Idled) -> Self {
        use oversleep::backoff::Idled as Did;
        let unknown_ns = crate::UNKNOWN_NS;
        let (idled, requested_ns, duration_ns) = match idled {
            Did::Spun => (Idled::Spun, unknown_ns, unknown_ns),
            Did::Yielded => (Idled::Yielded, unknown_ns, unknown_ns),
            Did::Parked { requested_ns, duration_ns } => (Idled::Parked, requested_ns, duration_ns),
            _ => (Idled::Other, unknown_ns, unknown_ns),
        };
        Self { size: size_of::<Self>(), idled, reserved: 0, requested_ns, duration_ns }
    }
}

/// Writes the default limits: 100 spins, 10 yields, then parks that start at a requested 1 microsecond and take up to
/// 1 ms in total.
// SAFETY: no other library uses this prefix.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oversleep_backoff_default_limits(limits: *mut Limits) -> Status {
    let limits_of_library = || {
        let oversleep::backoff::Limits { spins, yields, park, absence } = oversleep::backoff::Limits::default();
        let size = size_of::<Limits>();
        Ok(Limits { size, spins, yields, park_ns: outcome::ns(park), absence_ns: outcome::ns(absence) })
    };
    // SAFETY: the caller's pointer is null or writable.
    unsafe { boundary::fill(limits, limits_of_library) }
}

/// Creates a back-off with these limits, or the default ones if `limits` is NULL. Free it with
/// `oversleep_backoff_free`.
// SAFETY: no other library uses this prefix.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oversleep_backoff_new(limits: *const Limits, backoff: *mut *mut Backoff) -> Status {
    let make = || {
        if limits.is_null() {
            return Ok(oversleep::Backoff::new());
        }
        // SAFETY: the pointer is only read, although a place is made of it to check it.
        unsafe { Place::growing(limits.cast_mut())? };
        // SAFETY: not null, aligned, at least of this version's size, and initialized by the caller; every value of its
        // fields is valid.
        Ok(oversleep::Backoff::with_limits(unsafe { *limits }.into()))
    };
    // SAFETY: the caller's pointer is null or writable.
    unsafe { handle::create(backoff, make) }
}

/// Call this when there was no work: it waits briefly, and longer with each idle turn in a row. Writes what it did,
/// unless `turn` is NULL. Another thread can end a park at once by `oversleep_thread_unpark`.
// SAFETY: no other library uses this prefix.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oversleep_backoff_idle(backoff: *mut Backoff, turn: *mut IdleTurn) -> Status {
    // SAFETY: the caller's pointer is null or writable, and its handle is null or alive.
    unsafe { boundary::fill_if_wanted(turn, || handle::with(backoff, |backoff| Ok(backoff.idle().into()))) }
}

/// As `oversleep_backoff_idle`, but parks on this parker, so `oversleep_parker_unpark` ends the park.
// SAFETY: no other library uses this prefix.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oversleep_backoff_idle_on(
    backoff: *mut Backoff,
    parker: *mut Parker,
    turn: *mut IdleTurn,
) -> Status {
    // SAFETY: the caller's pointer is null or writable, and its handles are null or alive.
    unsafe {
        boundary::fill_if_wanted(turn, || {
            handle::with(backoff, |backoff| handle::with(parker, |parker| Ok(backoff.idle_on(parker).into())))
        })
    }
}

/// Call this when there was work: the next idle turn spins again. What was learned about parking is kept.
// SAFETY: no other library uses this prefix.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oversleep_backoff_reset(backoff: *mut Backoff) -> Status {
    // SAFETY: the caller's handle is null or alive.
    unsafe {
        handle::change(backoff, |backoff| {
            backoff.reset();
            Ok(())
        })
    }
}

/// Writes how much longer than requested a park takes on this machine, in nanoseconds: the longest recent lateness.
/// Returns `OVERSLEEP_STATUS_NONE` before the first park.
// SAFETY: no other library uses this prefix.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oversleep_backoff_park_lateness_ns(backoff: *const Backoff, lateness_ns: *mut u64) -> Status {
    let lateness = |backoff: &mut oversleep::Backoff| backoff.park_lateness().map(outcome::ns).ok_or(Status::None);
    // SAFETY: the caller's pointer is null or writable, and its handle is null or alive.
    unsafe { boundary::write(lateness_ns, || handle::with(backoff, lateness)) }
}

/// Frees a back-off. NULL is allowed.
// SAFETY: no other library uses this prefix.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oversleep_backoff_free(backoff: *mut Backoff) -> Status {
    // SAFETY: the caller's handle is null or alive.
    unsafe { handle::free(backoff, |_| Ok(())) }
}
