//! Tests that need a particular system's calls: signals, forks and refusals.
#![cfg(unix)]

#[path = "../child/mod.rs"]
mod child;
mod forked;
#[path = "../../src/sys/forks/tests.rs"]
mod forks;
#[cfg(target_os = "linux")]
mod refused;
mod stopped;
#[cfg(target_os = "linux")]
mod thread_storage;
