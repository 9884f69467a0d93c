//! The processor's own counters, read without asking the system. An entry of another architecture stays in the
//! registry and says so.

use oversleep_record::Unavailable;
use oversleep_record::clock::{AcrossSuspend, Epoch};

use super::{COMMON, FnClock, none};
use crate::platform::interface::{Clock, ClockInfo};
use crate::platform::linux::os;

const TICKS: ClockInfo =
    ClockInfo { unit: "ticks", epoch: Epoch::Processor, across_suspend: AcrossSuspend::Unspecified, ..COMMON };
const INTEL_MANUAL: &str = "https://www.intel.com/content/www/us/en/developer/articles/technical/intel-sdm.html";

pub(super) fn registry() -> Vec<Box<dyn Clock>> {
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
            available: tsc_available,
            frequency_hz: tsc::stated_hz,
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
            available: || tsc_available().and_then(|()| tsc::rdtscp_available()),
            frequency_hz: tsc::stated_hz,
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
            available: tsc_available,
            frequency_hz: tsc::stated_hz,
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
            available: || generic_timer::available().and_then(|()| not_disabled("mrs CNTVCT_EL0")),
            frequency_hz: generic_timer::stated_hz,
            step: none,
            read: generic_timer::count,
        }),
    ]
}

fn tsc_available() -> Result<(), Unavailable> {
    tsc::present()?;
    not_disabled("rdtsc")
}

/// A process can have its counter reads turned into a SIGSEGV. Where the kernel can't be asked (a sandbox that refuses
/// the call, an architecture that has it since 6.12 only), reads are allowed.
fn not_disabled(instruction: &str) -> Result<(), Unavailable> {
    let mut mode: libc::c_int = libc::PR_TSC_ENABLE;
    // SAFETY: this option writes one int to the address it is given.
    // https://man7.org/linux/man-pages/man2/PR_GET_TSC.2const.html
    let asked = os::prctl(libc::PR_GET_TSC, &raw mut mode as u64);
    if asked.is_ok() && mode == libc::PR_TSC_SIGSEGV {
        return Err(Unavailable::not_permitted(instruction, "prctl(PR_SET_TSC, PR_TSC_ENABLE) by this process"));
    }
    Ok(())
}

#[cfg(target_arch = "x86_64")]
mod tsc {
    use core::arch::x86_64::{__rdtscp, _mm_lfence, _rdtsc};

    use oversleep_record::Unavailable;

    use crate::platform::linux::environment::cpuid;

    pub fn present() -> Result<(), Unavailable> {
        if cpuid::tsc_present() { Ok(()) } else { Err(Unavailable::no_hardware("time-stamp counter")) }
    }

    pub fn rdtscp_available() -> Result<(), Unavailable> {
        if cpuid::rdtscp_present() { Ok(()) } else { Err(Unavailable::no_hardware("rdtscp instruction")) }
    }

    pub fn stated_hz() -> Option<u64> {
        cpuid::tsc_hz().ok().map(|(hz, _)| hz)
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

    pub fn stated_hz() -> Option<u64> {
        None
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
        // SAFETY: Linux lets every process read this register.
        unsafe { asm!("mrs {}, cntfrq_el0", out(reg) hz, options(nomem, nostack, preserves_flags)) };
        (hz > 0).then_some(hz)
    }

    #[inline(always)]
    pub fn count() -> u64 {
        let ticks: u64;
        // SAFETY: Linux lets every process read this register unless disabled, which was asked before.
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
