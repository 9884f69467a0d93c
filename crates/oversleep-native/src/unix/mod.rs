//! What every Unix has alike.

pub mod app;
pub mod interruption;

// Of the Unix systems that have a folder of their own.
#[cfg(any(target_os = "linux", target_os = "macos"))]
pub mod clocks;
#[cfg(any(target_os = "linux", target_os = "macos"))]
pub mod handoffs;
#[cfg(any(target_os = "linux", target_os = "macos"))]
pub mod os;
#[cfg(any(target_os = "linux", target_os = "macos"))]
pub mod waits;
