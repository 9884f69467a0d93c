//! What needs one system's own calls: signals, and refusals.
#![cfg(unix)]

#[path = "../child/mod.rs"]
mod child;
#[cfg(target_os = "linux")]
mod refused;
mod stopped;
