//! For systems that don't overcommit memory: nothing is reserved, and the standard library aborts a process when an
//! allocation fails.

pub use std::alloc::System as Allocator;

/// Does nothing.
pub fn hold_reserve(_notify: fn()) {}

/// There is no reserve.
pub fn release_reserve() -> bool {
    false
}
