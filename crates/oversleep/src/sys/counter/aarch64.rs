//! AArch64: the generic timer's virtual counter.

use std::arch::asm;

use crate::clock::Source;

/// The counter of this architecture.
pub(crate) const COUNTER: Option<Source> = Some(Source::Cntvct);

/// How often a reading may repeat the last one of its thread before the counter is suspected to have stopped.
/// Between two ticks of 24 MHz there may be dozens of reads.
pub(crate) const REPEATS_MAX: u32 = 256;

/// The counter now. The processor may read it slightly before earlier loads have finished. Reads on one core are in
/// program order among themselves ("All reads to the CNTVCT_EL0 occur in program order", Arm's page on the register).
#[inline]
pub(crate) fn ticks() -> u64 {
    let count: u64;
    // SAFETY: reading CNTVCT_EL0 changes nothing; Linux, macOS and Windows allow it in user mode.
    // https://developer.arm.com/documentation/ddi0601/latest/AArch64-Registers/CNTVCT-EL0--Counter-timer-Virtual-Count-Register
    // Without `nomem`, so that the compiler keeps its place among loads.
    unsafe { asm!("mrs {}, cntvct_el0", out(reg) count, options(nostack, preserves_flags)) };
    count
}

/// The counter after every earlier load of this thread, provided that a branch depends on the last of them: an `isb`
/// waits for branches, not for loads. The line's sequence number is such a load.
#[inline]
pub(crate) fn ticks_ordered() -> u64 {
    let count: u64;
    // SAFETY: as above; the barrier only orders.
    unsafe { asm!("isb", "mrs {}, cntvct_el0", out(reg) count, options(nostack, preserves_flags)) };
    count
}

/// The architecture requires one rate in every power state.
pub(crate) fn is_invariant() -> bool {
    true
}

/// User mode can't know, and it doesn't matter: guests read a counter that the hypervisor keeps steady.
pub(crate) fn is_virtual() -> bool {
    false
}
