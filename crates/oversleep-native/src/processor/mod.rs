//! What the processor tells without asking the system: its counters, and on x86-64 what it says of itself.

pub(super) mod clocks;
#[cfg(target_arch = "x86_64")]
pub(super) mod cpuid;
#[cfg(any(target_os = "linux", target_os = "windows", target_os = "macos"))]
pub(super) mod tsc;
