//! Every contact with the operating system, one module per system, all with the same signatures.
//!
//! Only this folder may use `cfg(target_os)` and FFI, and this file is the whole map. A system that isn't listed uses
//! `unsupported`, which takes clock and sleep from the standard library and denies everything else with a reason. The
//! processor's counter is mapped in `counter`.

#[cfg(any(target_os = "linux", target_os = "macos"))]
mod cancellation;
#[cfg(any(target_os = "linux", target_os = "macos"))]
pub(crate) use cancellation::*;
#[cfg(not(any(target_os = "linux", target_os = "macos")))]
mod no_cancellation;
#[cfg(not(any(target_os = "linux", target_os = "macos")))]
pub(crate) use no_cancellation::*;

pub(crate) mod counter;

/// No daemon is asked.
#[cfg(not(all(target_os = "linux", feature = "rtkit")))]
pub(crate) fn ask_for_real_time(_priority: u8) -> Result<(), crate::outcome::Denied> {
    let why = crate::outcome::Why::Unsupported { what: "RealtimeKit that this build can ask" };
    Err(crate::outcome::Denied { why, how: "on Linux, build with the feature rtkit" })
}

#[cfg(any(target_os = "linux", target_os = "android", target_os = "macos"))]
mod forks;
#[cfg(any(target_os = "linux", target_os = "android", target_os = "macos"))]
pub(crate) use forks::*;

#[cfg(any(target_os = "linux", target_os = "android"))]
mod linux;
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(crate) use linux::*;

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
