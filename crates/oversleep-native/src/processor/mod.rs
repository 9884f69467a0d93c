//! What the processor states without the operating system: its counters, and CPUID on x86-64.

pub(super) mod clocks;
#[cfg(target_arch = "x86_64")]
pub(super) mod cpuid;
#[cfg(any(target_os = "linux", target_os = "windows", target_os = "macos"))]
pub(super) mod tsc;
