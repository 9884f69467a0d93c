//! The calling thread's time slice.

use std::ffi::c_char;
use std::time::Duration;

use oversleep::TimeSliceGuard;

use crate::boundary::handle::{self, Handle};
use crate::boundary::local::ThreadLocal;
use crate::boundary::{self, text};
use crate::outcome::{self, Change};
use crate::status::Status;

/// Holds a thread's time slice until it is released.
pub struct TimeSlice(Handle<ThreadLocal<TimeSliceGuard>>);

handle::opaque!(TimeSlice: ThreadLocal<TimeSliceGuard>);

/// Writes the calling thread's time slice in nanoseconds: for how long the scheduler lets it run at a time. Zero means
/// that the thread runs under a real-time policy, which has none. Cost: one system call (Linux 6.12 and later).
///
/// Returns `OVERSLEEP_STATUS_DENIED` if threads can't choose their slice on this system or a sandbox forbids reading it;
/// `oversleep_time_slice_why` says which.
// SAFETY: no other library uses this prefix.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oversleep_time_slice_current_ns(slice_ns: *mut u64) -> Status {
    // SAFETY: the caller's pointer is null or writable.
    unsafe { boundary::write(slice_ns, || outcome::current_ns(oversleep::TimeSlice::current())) }
}

/// Writes why the time slice is not available here, and the next step. Returns `OVERSLEEP_STATUS_NONE` if it is
/// available.
// SAFETY: no other library uses this prefix.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oversleep_time_slice_why(text: *mut c_char, capacity: usize, length: *mut usize) -> Status {
    // SAFETY: the caller describes the buffer correctly.
    unsafe { text::write(text, capacity, length, || outcome::why(oversleep::TimeSlice::current())) }
}

/// Sets the calling thread's time slice until `oversleep_time_slice_release`, unless it is as short already. It is taken
/// as 100 microseconds to 100 ms. With a short slice, a thread that wakes up usually runs at once beside busy threads,
/// instead of milliseconds later. It needs no privilege: the thread's share of the processor stays the same. While the
/// thread computes it is interrupted more often, so hold a short slice in threads that mostly wait. Threads and programs
/// that this thread starts meanwhile inherit it permanently. Cost: four system calls now, and as many on release (Linux
/// 6.12 and later).
///
/// A denial is an outcome, not an error: you get a handle either way, and `oversleep_time_slice_change` says what
/// happened. If a thread holds several, the shortest counts. The thread must release its handles itself, in any order.
// SAFETY: no other library uses this prefix.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oversleep_time_slice_hold_ns(slice_ns: u64, held: *mut *mut TimeSlice) -> Status {
    let hold = || Ok(ThreadLocal::new(oversleep::TimeSlice::hold(Duration::from_nanos(slice_ns))));
    // SAFETY: the caller's pointer is null or writable.
    unsafe { handle::create(held, hold) }
}

/// Writes the outcome of the request.
// SAFETY: no other library uses this prefix.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oversleep_time_slice_change(held: *const TimeSlice, change: *mut Change) -> Status {
    // SAFETY: the caller's pointer is null or writable, and its handle is null or alive.
    unsafe { boundary::fill(change, || handle::with(held, |held| Ok(Change::of_time(held.value.outcome())))) }
}

/// Writes the outcome of the request as an English sentence: the values, or why it was denied and the next step.
// SAFETY: no other library uses this prefix.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oversleep_time_slice_text(
    held: *const TimeSlice,
    text: *mut c_char,
    capacity: usize,
    length: *mut usize,
) -> Status {
    // SAFETY: the caller describes the buffer correctly, and its handle is null or alive.
    unsafe { text::write(text, capacity, length, || handle::with(held, |held| Ok(held.value.outcome().to_string()))) }
}

/// Restores the former slice, once the thread holds no other, and frees the handle. NULL is allowed. In another thread
/// than the one that created the handle, does nothing and returns `OVERSLEEP_STATUS_WRONG_THREAD`.
// SAFETY: no other library uses this prefix.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oversleep_time_slice_release(held: *mut TimeSlice) -> Status {
    // SAFETY: the caller's handle is null or alive.
    unsafe { handle::free(held, |held| held.is_mine()) }
}
