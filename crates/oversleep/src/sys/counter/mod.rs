//! The processor's own counter, one file per architecture, all with the same signatures.
//!
//! The counter is only read here; `clock` judges whether it can be trusted. Only this folder may use
//! `cfg(target_arch)`.

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
