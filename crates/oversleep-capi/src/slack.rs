//! The calling thread's timer slack.

use std::ffi::c_char;
use std::time::Duration;

use oversleep::TimerSlackGuard;

use crate::boundary::handle::{self, Handle};
use crate::boundary::local::ThreadLocal;
use crate::boundary::{self, text};
use crate::outcome::{self, Change};
use crate::status::Status;

/// Holds a thread's timer slack until it is released.
pub struct TimerSlack(Handle<ThreadLocal<TimerSlackGuard>>);

handle::opaque!(TimerSlack: ThreadLocal<TimerSlackGuard>);

/// Writes the calling thread's timer slack in nanoseconds: how much later than requested the kernel may end its waits.
/// Zero means that the thread runs under a real-time policy, which has no slack. Cost: one system call (Linux).
///
/// Returns `OVERSLEEP_STATUS_DENIED` if the system has no timer slack or a sandbox forbids reading it;
/// `oversleep_timer_slack_why` says which.
// SAFETY: no other library uses this prefix.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oversleep_timer_slack_current_ns(slack_ns: *mut u64) -> Status {
    // SAFETY: the caller's pointer is null or writable.
    unsafe { boundary::write(slack_ns, || outcome::current_ns(oversleep::TimerSlack::current())) }
}

/// Writes why the timer slack is not available here, and the next step. Returns `OVERSLEEP_STATUS_NONE` if it is
/// available.
// SAFETY: no other library uses this prefix.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oversleep_timer_slack_why(text: *mut c_char, capacity: usize, length: *mut usize) -> Status {
    // SAFETY: the caller describes the buffer correctly.
    unsafe { text::write(text, capacity, length, || outcome::why(oversleep::TimerSlack::current())) }
}

/// Sets the calling thread's timer slack exactly, until `oversleep_timer_slack_release`. The finest is 1 ns; zero means
/// 1 ns too. Threads and programs that this thread starts meanwhile inherit the slack permanently: it becomes their
/// default as well. Cost: three system calls now, one on release (Linux).
///
/// A denial is an outcome, not an error: you get a handle either way, and `oversleep_timer_slack_change` says what
/// happened. The thread must release its handles itself, in any order.
// SAFETY: no other library uses this prefix.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oversleep_timer_slack_hold_ns(slack_ns: u64, held: *mut *mut TimerSlack) -> Status {
    let hold = || Ok(ThreadLocal::new(oversleep::TimerSlack::hold(Duration::from_nanos(slack_ns))));
    // SAFETY: the caller's pointer is null or writable.
    unsafe { handle::create(held, hold) }
}

/// Writes the outcome of the request.
// SAFETY: no other library uses this prefix.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oversleep_timer_slack_change(held: *const TimerSlack, change: *mut Change) -> Status {
    // SAFETY: the caller's pointer is null or writable, and its handle is null or alive.
    unsafe { boundary::fill(change, || handle::with(held, |held| Ok(Change::of_time(held.value.outcome())))) }
}

/// Writes the outcome of the request as an English sentence: the values, or why it was denied and the next step.
// SAFETY: no other library uses this prefix.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oversleep_timer_slack_text(
    held: *const TimerSlack,
    text: *mut c_char,
    capacity: usize,
    length: *mut usize,
) -> Status {
    // SAFETY: the caller describes the buffer correctly, and its handle is null or alive.
    unsafe { text::write(text, capacity, length, || handle::with(held, |held| Ok(held.value.outcome().to_string()))) }
}

/// Restores the former slack and frees the handle. NULL is allowed. In another thread than the one that created the
/// handle, does nothing and returns `OVERSLEEP_STATUS_WRONG_THREAD`.
// SAFETY: no other library uses this prefix.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oversleep_timer_slack_release(held: *mut TimerSlack) -> Status {
    // SAFETY: the caller's handle is null or alive.
    unsafe { handle::free(held, |held| held.is_mine()) }
}
