//! Every contact with the operating system, one module per system, all with the same signatures.
//!
//! Only this folder may use `cfg(target_os)` and FFI, and this file is the whole map. A system that isn't listed uses
//! `unsupported`, which denies everything with a reason, beside clock and sleep of the standard library; in a browser
//! these are the host's. The processor's counter is mapped in `counter`.

#[cfg(any(target_os = "linux", target_os = "macos"))]
mod cancellation;
#[cfg(any(target_os = "linux", target_os = "macos"))]
pub(crate) use cancellation::*;
#[cfg(not(any(target_os = "linux", target_os = "macos")))]
mod no_cancellation;
#[cfg(not(any(target_os = "linux", target_os = "macos")))]
pub(crate) use no_cancellation::*;

pub(crate) mod counter;

/// No daemon exists on this system.
#[cfg(not(all(target_os = "linux", feature = "rtkit")))]
pub(crate) fn ask_for_real_time(_priority: u8) -> Result<(), crate::outcome::Denied> {
    let why = crate::outcome::Why::Unsupported { what: "RealtimeKit that this build can ask" };
    Err(crate::outcome::Denied { why, how: "on Linux, build with the feature rtkit" })
}

#[cfg(any(target_os = "linux", target_os = "android", target_os = "macos"))]
mod forks;
#[cfg(any(target_os = "linux", target_os = "android", target_os = "macos"))]
pub(crate) use forks::*;

// Linux has a call that waits for a word of memory, but its tests also cover the list that the other systems use.
#[cfg(any(test, not(any(target_os = "linux", target_os = "android"))))]
mod waiters;
#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub(crate) use waiters::Word;
#[cfg(all(not(windows), any(test, not(any(target_os = "linux", target_os = "android")))))]
mod event;
#[cfg(all(not(windows), any(test, not(any(target_os = "linux", target_os = "android")))))]
use event::Event;

#[cfg(any(target_os = "linux", target_os = "android"))]
mod linux;
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(crate) use linux::*;

#[cfg(not(any(target_os = "linux", target_os = "android")))]
mod not_linux;
#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub(crate) use not_linux::*;

#[cfg(windows)]
mod windows;
#[cfg(windows)]
pub(crate) use windows::*;

#[cfg(target_os = "macos")]
mod macos;
#[cfg(target_os = "macos")]
pub(crate) use macos::*;

#[cfg(not(any(target_os = "linux", target_os = "android", windows, target_os = "macos")))]
mod unsupported;
#[cfg(not(any(target_os = "linux", target_os = "android", windows, target_os = "macos")))]
pub(crate) use unsupported::*;

#[cfg(not(any(
    target_os = "linux",
    target_os = "android",
    windows,
    target_os = "macos",
    all(target_family = "wasm", target_os = "unknown")
)))]
mod std_time;
#[cfg(not(any(
    target_os = "linux",
    target_os = "android",
    windows,
    target_os = "macos",
    all(target_family = "wasm", target_os = "unknown")
)))]
pub(crate) use std_time::*;

#[cfg(all(target_family = "wasm", target_os = "unknown"))]
mod web_time;
#[cfg(all(target_family = "wasm", target_os = "unknown"))]
pub(crate) use web_time::*;
