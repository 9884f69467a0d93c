//! The processor's own counters, read without asking the system. An entry of another architecture stays in the
//! registry and says so.

use oversleep_record::Unavailable;
use oversleep_record::clock::{AcrossSuspend, Epoch};

use crate::fn_clock::{COMMON, FnClock, none};
use oversleep_system::{Clock, ClockInfo};

const TICKS: ClockInfo =
    ClockInfo { unit: "ticks", epoch: Epoch::Processor, across_suspend: AcrossSuspend::Unspecified, ..COMMON };
const INTEL_MANUAL: &str = "https://www.intel.com/content/www/us/en/developer/articles/technical/intel-sdm.html";

/// What a system has to say about the counters.
pub trait Rules {
    /// Why this process may not read them by that instruction, where the system forbids it.
    fn permitted(instruction: &str) -> Result<(), Unavailable>;

    /// Ticks of the time-stamp counter per second as the processor or the system states it.
    fn tsc_hz() -> Option<u64>;
}

/// The counters under a system's rules.
pub fn registry<R: Rules + 'static>() -> Vec<Box<dyn Clock>> {
    vec![
        Box::new(FnClock {
            info: ClockInfo {
                name: "tsc",
                call: "rdtsc",
                doc: "The time-stamp counter, unordered: the processor may read it early. Valid as a clock only where \
                      it is invariant and the CPUs agree.",
                since: "Pentium",
                page: INTEL_MANUAL,
                ..TICKS
            },
            available: tsc_available::<R>,
            frequency_hz: R::tsc_hz,
            step: none,
            read: tsc::plain,
        }),
        Box::new(FnClock {
            info: ClockInfo {
                name: "tscp",
                call: "rdtscp",
                doc: "The time-stamp counter, read after all earlier instructions are done; later ones may start \
                      before.",
                since: "2006 (AMD), 2008 (Intel)",
                page: INTEL_MANUAL,
                ..TICKS
            },
            available: || tsc_available::<R>().and_then(|()| tsc::rdtscp_available()),
            frequency_hz: R::tsc_hz,
            step: none,
            read: tsc::ordered,
        }),
        Box::new(FnClock {
            info: ClockInfo {
                name: "tsc-fenced",
                call: "lfence; rdtsc",
                doc: "The time-stamp counter behind a load fence: what the kernel's own clock reads use to keep order.",
                since: "Pentium 4",
                page: INTEL_MANUAL,
                ..TICKS
            },
            available: tsc_available::<R>,
            frequency_hz: R::tsc_hz,
            step: none,
            read: tsc::fenced,
        }),
        Box::new(FnClock {
            info: ClockInfo {
                name: "cntvct",
                call: "mrs CNTVCT_EL0",
                doc: "The ARM generic timer's virtual count, unordered. The same on all CPUs; its frequency stands in \
                      CNTFRQ_EL0 (19.2 MHz to 1 GHz).",
                since: "ARMv8",
                page: "https://developer.arm.com/documentation/ddi0601/latest/AArch64-Registers/CNTVCT-EL0--Counter-timer-Virtual-Count-Register",
                ..TICKS
            },
            available: || generic_timer::available().and_then(|()| R::permitted("mrs CNTVCT_EL0")),
            frequency_hz: generic_timer::stated_hz,
            step: none,
            read: generic_timer::count,
        }),
    ]
}

fn tsc_available<R: Rules>() -> Result<(), Unavailable> {
    tsc::present()?;
    R::permitted("rdtsc")
}

#[cfg(target_arch = "x86_64")]
mod tsc {
    use core::arch::x86_64::{__rdtscp, _mm_lfence, _rdtsc};

    use oversleep_record::Unavailable;

    use crate::processor::cpuid;

    pub fn present() -> Result<(), Unavailable> {
        if cpuid::tsc_present() { Ok(()) } else { Err(Unavailable::no_hardware("time-stamp counter")) }
    }

    pub fn rdtscp_available() -> Result<(), Unavailable> {
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

#[cfg(not(target_arch = "x86_64"))]
mod tsc {
    use oversleep_record::Unavailable;

    pub fn present() -> Result<(), Unavailable> {
        Err(Unavailable::NotOnThisPlatform)
    }

    pub fn rdtscp_available() -> Result<(), Unavailable> {
        Err(Unavailable::NotOnThisPlatform)
    }

    pub fn plain() -> u64 {
        0
    }

    pub fn ordered() -> u64 {
        0
    }

    pub fn fenced() -> u64 {
        0
    }
}

#[cfg(target_arch = "aarch64")]
mod generic_timer {
    use core::arch::asm;

    use oversleep_record::Unavailable;

    pub fn available() -> Result<(), Unavailable> {
        Ok(())
    }

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

#[cfg(not(target_arch = "aarch64"))]
mod generic_timer {
    use oversleep_record::Unavailable;

    pub fn available() -> Result<(), Unavailable> {
        Err(Unavailable::NotOnThisPlatform)
    }

    pub fn stated_hz() -> Option<u64> {
        None
    }

    pub fn count() -> u64 {
        0
    }
}
