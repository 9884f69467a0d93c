//! The status that functions return.

use std::ffi::c_char;

use crate::boundary::text;

/// The result of a call.
///
/// Zero is success. A positive status means that the call did what it could and has something to report. A negative one
/// means misuse, in which case nothing was done, or an internal failure. Then nothing was written, except that handles
/// to create become NULL and text buffers become empty. Later versions may add values: judge unknown ones by their
/// sign.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Done.
    Ok = 0,
    /// There is nothing to return: not due, not known, not requested, or nothing to undo. Nothing was written, except
    /// that text buffers become empty.
    None = 1,
    /// The text did not fit and was cut off. The length it needs was written.
    Truncated = 2,
    /// The operating system does not allow it, or lacks it.
    Denied = 3,
    /// The processor's counter failed a check and is out of use. `oversleep_clock_why` says which.
    Rejected = 4,
    /// A pointer that must not be NULL is NULL.
    NullPointer = -1,
    /// A number is out of range, or a pointer is not aligned.
    InvalidArgument = -2,
    /// Another call with this handle has not returned yet, in another thread or interrupted by this signal handler.
    InUse = -3,
    /// What the handle holds belongs to the thread that requested it, and only that thread can release it.
    WrongThread = -4,
    /// The request is already held; release it first.
    AlreadyHeld = -5,
    /// The library failed internally (a contained panic). Its message went to standard error.
    Panicked = -6,
}

/// What each status means.
const SENTENCES: [(Status, &str); 11] = [
    (Status::Ok, "done"),
    (Status::None, "there is nothing to return"),
    (Status::Truncated, "the text did not fit and was cut off"),
    (Status::Denied, "the operating system does not allow it"),
    (Status::Rejected, "the processor's counter failed a check and is out of use"),
    (Status::NullPointer, "a pointer that must not be NULL is NULL"),
    (Status::InvalidArgument, "a number is out of range, or a pointer is not aligned"),
    (Status::InUse, "another call with this handle has not returned yet"),
    (Status::WrongThread, "only the thread that holds it can release it"),
    (Status::AlreadyHeld, "the request is already held; release it first"),
    (Status::Panicked, "the library failed internally; its message went to standard error"),
];

/// Writes what a status means, as an English clause. Returns `OVERSLEEP_STATUS_INVALID_ARGUMENT` for a value that this
/// version does not know.
// SAFETY: no other library uses this prefix.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oversleep_status_text(
    status: i32,
    text: *mut c_char,
    capacity: usize,
    length: *mut usize,
) -> Status {
    let sentence = || {
        let known = SENTENCES.into_iter().find(|&(known, _)| known as i32 == status);
        known.map(|(_, sentence)| sentence).ok_or(Status::InvalidArgument)
    };
    // SAFETY: the caller describes the buffer correctly.
    unsafe { text::write(text, capacity, length, sentence) }
}
