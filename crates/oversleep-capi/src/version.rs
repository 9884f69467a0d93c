//! The version of the interface, and the values that mean something else than a time.

use crate::boundary;

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
