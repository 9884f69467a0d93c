//! What the processor says of its time-stamp counter; on other architectures, that there is none.

#[cfg(target_arch = "x86_64")]
pub use here::*;
#[cfg(not(target_arch = "x86_64"))]
pub use nowhere::*;

#[cfg(target_arch = "x86_64")]
mod here {
    use oversleep_record::Unavailable;

    use crate::processor::cpuid;

    /// Whether there is one.
    pub fn present() -> Result<bool, Unavailable> {
        Ok(cpuid::tsc_present())
    }

    /// Whether it runs at one rate in all power states.
    pub fn invariant() -> Result<bool, Unavailable> {
        cpuid::tsc_invariant().ok_or_else(|| Unavailable::no_hardware("CPUID leaf 80000007h"))
    }

    /// Whether the local timer can be armed with a value of the counter.
    pub fn deadline() -> Result<bool, Unavailable> {
        cpuid::tsc_deadline().ok_or_else(|| Unavailable::no_hardware("CPUID leaf 1"))
    }

    /// Ticks per second as the processor or the hypervisor states it.
    pub fn hz() -> Result<u64, Unavailable> {
        cpuid::tsc_hz()
    }
}

#[cfg(not(target_arch = "x86_64"))]
mod nowhere {
    use oversleep_record::Unavailable;

    /// There is none.
    pub fn present() -> Result<bool, Unavailable> {
        Err(Unavailable::NotOnThisPlatform)
    }

    /// There is none.
    pub fn invariant() -> Result<bool, Unavailable> {
        Err(Unavailable::NotOnThisPlatform)
    }

    /// There is none.
    pub fn deadline() -> Result<bool, Unavailable> {
        Err(Unavailable::NotOnThisPlatform)
    }

    /// There is none.
    pub fn hz() -> Result<u64, Unavailable> {
        Err(Unavailable::NotOnThisPlatform)
    }
}
