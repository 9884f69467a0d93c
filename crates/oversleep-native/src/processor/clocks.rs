//! The processor's own counters, read without the system. Those of another architecture stay in the list, with the reason
//! why they are not available.

use oversleep_record::Unavailable;
use oversleep_system::{Clock, ClockInfo};

use crate::fn_clock::{FnClock, Read};

/// The system's rules for the counters.
pub trait Rules: Sized + 'static {
    /// Why this process may not read them by that instruction, where the system forbids it.
    fn permitted(instruction: &str) -> Result<(), Unavailable>;

    /// Ticks of the time-stamp counter per second, as the processor or the system states it.
    #[cfg_attr(not(target_arch = "x86_64"), expect(dead_code, reason = "only x86 has the counter"))]
    fn tsc_hz() -> Option<u64>;

    /// The counters under these rules.
    #[cfg(target_arch = "x86_64")]
    const READS: &'static [Read] = &[
        ("tsc", |info| FnClock::new(info, tsc::plain).available(tsc::available::<Self>).ticks_hz(Self::tsc_hz).boxed()),
        ("tscp", |info| {
            FnClock::new(info, tsc::ordered).available(tsc::rdtscp_available::<Self>).ticks_hz(Self::tsc_hz).boxed()
        }),
        ("tsc-fenced", |info| {
            FnClock::new(info, tsc::fenced).available(tsc::available::<Self>).ticks_hz(Self::tsc_hz).boxed()
        }),
        ("cntvct", absent),
    ];

    /// The counters under these rules.
    #[cfg(target_arch = "aarch64")]
    const READS: &'static [Read] = &[
        ("tsc", absent),
        ("tscp", absent),
        ("tsc-fenced", absent),
        ("cntvct", |info| {
            let clock = FnClock::new(info, generic_timer::count).ticks_hz(generic_timer::stated_hz);
            clock.available(|| Self::permitted("mrs CNTVCT_EL0")).boxed()
        }),
    ];

    /// No counters: this processor has none.
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    const READS: &'static [Read] = &[("tsc", absent), ("tscp", absent), ("tsc-fenced", absent), ("cntvct", absent)];
}

/// A counter of another architecture.
fn absent(info: &'static ClockInfo) -> Box<dyn Clock> {
    FnClock::new(info, || 0).available(|| Err(Unavailable::NotOnThisPlatform)).boxed()
}

#[cfg(target_arch = "x86_64")]
mod tsc {
    use core::arch::x86_64::{__rdtscp, _mm_lfence, _rdtsc};

    use oversleep_record::Unavailable;

    use crate::processor::cpuid;

    pub fn available<R: super::Rules>() -> Result<(), Unavailable> {
        if !cpuid::tsc_present() {
            return Err(Unavailable::no_hardware("time-stamp counter"));
        }
        R::permitted("rdtsc")
    }

    pub fn rdtscp_available<R: super::Rules>() -> Result<(), Unavailable> {
        available::<R>()?;
        if cpuid::rdtscp_present() { Ok(()) } else { Err(Unavailable::no_hardware("rdtscp instruction")) }
    }

    #[inline(always)]
    pub fn plain() -> u64 {
        // SAFETY: only called where the counter is present and not disabled.
        unsafe { _rdtsc() }
    }

    #[inline(always)]
    pub fn ordered() -> u64 {
        let mut cpu = 0;
        // SAFETY: only called where the instruction is present and not disabled; `cpu` receives the processor's tag.
        unsafe { __rdtscp(&mut cpu) }
    }

    #[inline(always)]
    pub fn fenced() -> u64 {
        // SAFETY: as `plain`; the fence is part of SSE2, which every x86-64 has.
        unsafe {
            _mm_lfence();
            _rdtsc()
        }
    }
}

#[cfg(target_arch = "aarch64")]
mod generic_timer {
    use core::arch::asm;

    pub fn stated_hz() -> Option<u64> {
        let hz: u64;
        // SAFETY: Linux, Windows and macOS let every process read this register.
        unsafe { asm!("mrs {}, cntfrq_el0", out(reg) hz, options(nomem, nostack, preserves_flags)) };
        (hz > 0).then_some(hz)
    }

    #[inline(always)]
    pub fn count() -> u64 {
        let ticks: u64;
        // SAFETY: Linux, Windows and macOS let every process read this register unless disabled, which was asked before.
        unsafe { asm!("mrs {}, cntvct_el0", out(reg) ticks, options(nomem, nostack, preserves_flags)) };
        ticks
    }
}
