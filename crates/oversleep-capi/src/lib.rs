//! The C interface of [`oversleep`]: opaque handles, status codes, and text copied into the caller's buffers.
//!
//! `cargo xtask header` generates `include/oversleep.h` from the items and comments here, so the comments address C and
//! C++ programmers. Every function runs inside `boundary`, which turns a panic into a status. This needs `panic =
//! "unwind"`, as in this workspace's profiles. The `oversleep` crate does the work; here are only the types that C can
//! hold, and the checks of what C can get wrong.
#![allow(clippy::missing_safety_doc, reason = "the head of the header states the callers' obligations once")]

mod boundary;

pub mod backoff;
pub mod clock;
pub mod outcome;
pub mod pacer;
pub mod park;
pub mod resolution;
pub mod slack;
pub mod sleep;
pub mod slice;
pub mod status;
pub mod thread;
pub mod version;

#[cfg(test)]
mod tests;

pub use version::{ABI_VERSION, UNKNOWN_NS, UNLIMITED_NS, VERSION, oversleep_abi_version, oversleep_version};
