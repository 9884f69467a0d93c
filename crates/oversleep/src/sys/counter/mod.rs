//! The processor's own counter, one file per architecture, all with the same signatures.
//!
//! Reading it is all that happens here; whether it may be trusted is judged in `clock`. The only room where
//! `cfg(target_arch)` may appear.

#[cfg(target_arch = "x86_64")]
mod x86_64;
#[cfg(target_arch = "x86_64")]
pub(crate) use x86_64::*;

#[cfg(target_arch = "aarch64")]
mod aarch64;
#[cfg(target_arch = "aarch64")]
pub(crate) use aarch64::*;

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
mod none;
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
pub(crate) use none::*;
