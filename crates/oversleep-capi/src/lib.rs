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

#[cfg(test)]
mod tests;

/// Version of this interface, for programs that load the library by hand: compare with `oversleep_abi_version`. It
/// grows when a function or a structure changes in a way that compiled programs would notice, never when something is
/// added.
pub const ABI_VERSION: u32 = 1;

/// An unknown or inapplicable time, which is never shown as zero.
pub const UNKNOWN_NS: u64 = u64::MAX;

/// A limit that is not set.
pub const UNLIMITED_NS: u64 = u64::MAX - 1;

/// The `OVERSLEEP_ABI_VERSION` that the library was built with; 0 after an internal failure.
// SAFETY: the prefix is this library's own.
#[unsafe(no_mangle)]
pub extern "C" fn oversleep_abi_version() -> u32 {
    boundary::or(0, || ABI_VERSION)
}
