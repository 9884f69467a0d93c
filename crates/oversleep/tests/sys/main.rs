//! Tests that need a particular system's calls: signals, forks and refusals.
#![cfg(unix)]

#[path = "../child/mod.rs"]
mod child;
#[cfg(target_os = "linux")]
mod filter;
mod forked;
#[path = "../../src/sys/forks/tests.rs"]
mod forks;
#[cfg(target_os = "linux")]
mod refused;
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod slack_calls;
mod stopped;
#[cfg(target_os = "linux")]
mod thread_storage;
#[cfg(target_os = "linux")]
mod timens;
