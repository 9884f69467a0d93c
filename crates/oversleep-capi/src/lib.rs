//! The C interface of [`oversleep`]: opaque handles, status codes, and text copied into the caller's buffers.
//!
//! C and C++ programs see `include/oversleep.h`, which is made from the items and comments here by `cargo xtask header`;
//! comments are therefore written for them. Every function runs inside `boundary`, which turns a panic into a status;
//! that takes a library built with `panic = "unwind"`, as this workspace's profiles are. What the functions do is in the
//! `oversleep` crate: here are only the types that C can hold, and the checks of what C can get wrong.
#![allow(clippy::missing_safety_doc, reason = "what callers promise is said once, at the head of the header")]

mod boundary;

pub mod backoff;
pub mod clock;
pub mod outcome;
pub mod pacer;
pub mod resolution;
pub mod slack;
pub mod sleep;
pub mod status;
pub mod thread;
pub mod version;

#[cfg(test)]
mod tests;

pub use version::{ABI_VERSION, UNKNOWN_NS, UNLIMITED_NS, oversleep_abi_version};
