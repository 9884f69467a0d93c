//! CPUID's facts about the time-stamp counter; other architectures have none.

use oversleep_record::Unavailable;

#[cfg(target_arch = "x86_64")]
use crate::processor::cpuid;

/// A question to CPUID.
macro_rules! ask {
    ($(#[$doc:meta] $name:ident: $answer:ty = $cpuid:expr;)*) => {
        $(
            #[$doc]
            #[cfg(target_arch = "x86_64")]
            pub fn $name() -> Result<$answer, Unavailable> {
                $cpuid
            }

            #[$doc]
            #[cfg(not(target_arch = "x86_64"))]
            pub fn $name() -> Result<$answer, Unavailable> {
                Err(Unavailable::NotOnThisPlatform)
            }
        )*
    };
}

ask! {
    /// Whether the processor has a time-stamp counter.
    present: bool = Ok(cpuid::tsc_present());
    /// Whether it runs at a constant rate in all power states.
    invariant: bool = cpuid::tsc_invariant().ok_or_else(|| Unavailable::no_hardware("CPUID leaf 80000007h"));
    /// Whether the local timer can be armed with a value of the counter.
    deadline: bool = cpuid::tsc_deadline().ok_or_else(|| Unavailable::no_hardware("CPUID leaf 1"));
    /// Ticks per second as the processor or the hypervisor states it.
    hz: u64 = cpuid::tsc_hz();
}
