//! What needs one system's own calls: signals, and refusals.
#![cfg(unix)]

#[path = "../child/mod.rs"]
mod child;
mod forked;
#[path = "../../src/sys/forks/tests.rs"]
mod forks;
#[cfg(target_os = "linux")]
mod refused;
mod stopped;
