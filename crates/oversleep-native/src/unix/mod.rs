//! What all Unix systems share.

pub mod allocator;
pub mod app;
mod at_start;
pub mod group;
pub mod interruption;
pub mod keys;
pub mod outputs;
pub mod passing;

// Only for the Unix systems that have their own folder.
#[cfg(any(target_os = "linux", target_os = "macos"))]
pub mod clocks;
#[cfg(any(target_os = "linux", target_os = "macos"))]
pub mod handoffs;
#[cfg(any(target_os = "linux", target_os = "macos"))]
pub mod lock_memory;
#[cfg(any(target_os = "linux", target_os = "macos"))]
pub mod os;
#[cfg(any(target_os = "linux", target_os = "macos"))]
pub mod waits;
