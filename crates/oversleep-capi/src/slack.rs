//! The calling thread's timer slack.

use std::ffi::c_char;
use std::thread::{self, ThreadId};
use std::time::Duration;

use oversleep::TimerSlackGuard;

use crate::boundary::handle::{self, Handle, Opaque};
use crate::boundary::{self, Place, text};
use crate::outcome::{self, Change};
use crate::status::Status;

/// Holds a thread's timer slack until it is released.
pub struct TimerSlack(Handle<Held>);

/// The guard never leaves the thread that made it, which is checked here because a C pointer can go anywhere.
pub(crate) struct Held {
    guard: TimerSlackGuard,
    owner: ThreadId,
}

impl Opaque for TimerSlack {
    type Value = Held;

    fn wrap(value: Handle<Self::Value>) -> Self {
        Self(value)
    }

    fn handle(&self) -> &Handle<Self::Value> {
        &self.0
    }
}

/// Writes the calling thread's timer slack in nanoseconds: how much later than asked the kernel may end its waits. Zero
/// means that the thread runs under a real-time policy, which has no slack. One system call (Linux).
///
/// `OVERSLEEP_STATUS_DENIED` where the system has no timer slack, or a sandbox forbids reading it;
/// `oversleep_timer_slack_why` says which.
// SAFETY: the prefix is this library's own.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oversleep_timer_slack_current_ns(slack_ns: *mut u64) -> Status {
    boundary::status(|| {
        // SAFETY: the caller's pointer is null or can be written to.
        let place = unsafe { Place::required(slack_ns)? };
        let slack = oversleep::TimerSlack::current().map_err(|_| Status::Denied)?;
        place.put(outcome::ns(slack));
        Ok(Status::Ok)
    })
}

/// Why the timer slack can't be read here, and how to allow it; `OVERSLEEP_STATUS_NONE` where it can.
// SAFETY: the prefix is this library's own.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oversleep_timer_slack_why(text: *mut c_char, capacity: usize, length: *mut usize) -> Status {
    boundary::status(|| {
        // SAFETY: the caller describes the buffer truthfully.
        let text = unsafe { text::Buffer::new(text, capacity, length)? };
        match oversleep::TimerSlack::current() {
            Ok(_) => Ok(Status::None),
            Err(denied) => Ok(text.put(&denied.to_string())),
        }
    })
}

/// Sets the calling thread's timer slack, exactly, until `oversleep_timer_slack_release`. The finest is 1 ns, and zero
/// is taken as that. Three system calls now, one on release (Linux). Threads and programs that this thread starts
/// meanwhile inherit it for good: it becomes their default, too.
///
/// A denial is an outcome, not an error: the handle is made whatever happened, and `oversleep_timer_slack_change` says
/// what did. Handles of one thread must be released by it, in the reverse order of their making.
// SAFETY: the prefix is this library's own.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oversleep_timer_slack_hold_ns(slack_ns: u64, held: *mut *mut TimerSlack) -> Status {
    let hold = || {
        let owner = thread::current().id();
        Ok(Held { guard: oversleep::TimerSlack::hold(Duration::from_nanos(slack_ns)), owner })
    };
    // SAFETY: the caller's pointer is null or can be written to.
    boundary::status(|| unsafe { handle::create(held, hold) })
}

/// Writes what became of the request.
// SAFETY: the prefix is this library's own.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oversleep_timer_slack_change(held: *const TimerSlack, change: *mut Change) -> Status {
    boundary::status(|| {
        // SAFETY: the caller's pointer is null or can be written to, and its handle null or alive.
        let (place, answer) = unsafe {
            (Place::required(change)?, handle::with(held, |held| Ok(Change::of_time(held.guard.outcome())))?)
        };
        place.put(answer);
        Ok(Status::Ok)
    })
}

/// What became of the request, as a sentence in English: the values, or why it was denied and how to allow it.
// SAFETY: the prefix is this library's own.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oversleep_timer_slack_text(
    held: *const TimerSlack,
    text: *mut c_char,
    capacity: usize,
    length: *mut usize,
) -> Status {
    boundary::status(|| {
        // SAFETY: the caller describes the buffer truthfully, and its handle is null or alive.
        let (text, answer) = unsafe {
            (
                text::Buffer::new(text, capacity, length)?,
                handle::with(held, |held| Ok(held.guard.outcome().to_string()))?,
            )
        };
        Ok(text.put(&answer))
    })
}

/// Puts the former slack back and frees the handle. NULL is fine. `OVERSLEEP_STATUS_WRONG_THREAD`, and nothing happens,
/// in another thread than the one that made it.
// SAFETY: the prefix is this library's own.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oversleep_timer_slack_release(held: *mut TimerSlack) -> Status {
    let may = |held: &mut Held| match held.owner == thread::current().id() {
        true => Ok(()),
        false => Err(Status::WrongThread),
    };
    // SAFETY: the caller's handle is null or alive.
    boundary::status(|| unsafe { handle::free(held, may) })
}
