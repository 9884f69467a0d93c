//! What every Unix has alike.

pub mod app;
// Of the Unix systems that have a folder of their own.
#[cfg(any(target_os = "linux", target_os = "macos"))]
pub mod handoffs;
pub mod interruption;
#[cfg(any(target_os = "linux", target_os = "macos"))]
pub mod waits;
