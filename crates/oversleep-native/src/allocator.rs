//! Memory where the system promises no more than there is: nothing is reserved, and the standard library ends a process
//! that gets none.

pub use std::alloc::System as Allocator;

/// Does nothing.
pub fn hold_reserve(_notify: fn()) {}

/// There is none.
pub fn release_reserve() -> bool {
    false
}
