//! What functions answer.

use std::ffi::c_char;

use crate::boundary::{self, text};

/// What became of a call.
///
/// Zero is success. Positive: the call did what it could, and there is something to know. Negative: misuse, and nothing
/// was done; or an internal failure. Nothing was written then, except that handles to be created become NULL and text
/// buffers become empty. Later versions may add values: take unknown ones by their sign.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Done.
    Ok = 0,
    /// There is nothing to give: not due, not known, not asked for, or nothing to undo. Nothing was written, but for
    /// text buffers, which become empty.
    None = 1,
    /// The text did not fit, and was cut off. The length it needs was written.
    Truncated = 2,
    /// The operating system does not allow it, or has no such thing.
    Denied = 3,
    /// The processor's counter failed a check and is out of use. `oversleep_clock_why` says which.
    Rejected = 4,
    /// A pointer is NULL that must not be.
    NullPointer = -1,
    /// A number is out of its range, or a pointer is not aligned.
    InvalidArgument = -2,
    /// Another thread is in a call with this handle, or a signal handler interrupted one.
    InUse = -3,
    /// What the handle holds belongs to the thread that took hold of it, and only that can undo it.
    WrongThread = -4,
    /// The request is held already; release it first.
    AlreadyHeld = -5,
    /// The library failed internally (a panic, contained). Its message went to standard error.
    Panicked = -6,
}

const ALL: [Status; 11] = [
    Status::Ok,
    Status::None,
    Status::Truncated,
    Status::Denied,
    Status::Rejected,
    Status::NullPointer,
    Status::InvalidArgument,
    Status::InUse,
    Status::WrongThread,
    Status::AlreadyHeld,
    Status::Panicked,
];

impl Status {
    fn sentence(self) -> &'static str {
        match self {
            Self::Ok => "done",
            Self::None => "there is nothing to give",
            Self::Truncated => "the text did not fit and was cut off",
            Self::Denied => "the operating system does not allow it",
            Self::Rejected => "the processor's counter failed a check and is out of use",
            Self::NullPointer => "a pointer is NULL that must not be",
            Self::InvalidArgument => "a number is out of its range, or a pointer is not aligned",
            Self::InUse => "another call with this handle has not ended",
            Self::WrongThread => "only the thread that holds it can undo it",
            Self::AlreadyHeld => "the request is held already",
            Self::Panicked => "the library failed internally",
        }
    }
}

/// What a status means, as a clause in English. Returns `OVERSLEEP_STATUS_INVALID_ARGUMENT` for a value this version
/// does not know.
// SAFETY: the prefix is this library's own.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oversleep_status_text(
    status: i32,
    text: *mut c_char,
    capacity: usize,
    length: *mut usize,
) -> Status {
    boundary::status(|| {
        // SAFETY: the caller describes the buffer truthfully.
        let text = unsafe { text::Buffer::new(text, capacity, length)? };
        let known = ALL.into_iter().find(|&known| known as i32 == status).ok_or(Status::InvalidArgument)?;
        Ok(text.put(known.sentence()))
    })
}
