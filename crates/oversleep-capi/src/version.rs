//! The version of the interface, and the special values of times.

use crate::boundary;

/// The version of this interface. Programs that load the library at run time compare it with `oversleep_abi_version`.
/// It grows when a function or a structure changes incompatibly, never when something is added.
pub const ABI_VERSION: u32 = 1;

/// The version of the library that this header belongs to: major * 1000000 + minor * 1000 + patch.
pub const VERSION: u32 = 1_000;

/// A time that is unknown or does not apply, which is never zero.
pub const UNKNOWN_NS: u64 = u64::MAX;

/// A limit that is not set.
pub const UNLIMITED_NS: u64 = u64::MAX - 1;

/// Returns the `OVERSLEEP_VERSION` that the library was built with, or 0 after an internal failure. Functions are only
/// ever added, so a program may use those of its header if this is not below the header's version.
// SAFETY: no other library uses this prefix.
#[unsafe(no_mangle)]
pub extern "C" fn oversleep_version() -> u32 {
    boundary::or(0, || VERSION)
}

/// Returns the `OVERSLEEP_ABI_VERSION` that the library was built with, or 0 after an internal failure.
// SAFETY: no other library uses this prefix.
#[unsafe(no_mangle)]
pub extern "C" fn oversleep_abi_version() -> u32 {
    boundary::or(0, || ABI_VERSION)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_the_packages() {
        let parts = env!("CARGO_PKG_VERSION").split('.').map(|part| part.parse::<u32>().unwrap());
        assert_eq!(parts.fold(0, |version, part| version * 1_000 + part), VERSION);
    }
}
