//! AArch64: the generic timer's virtual count.

use std::arch::asm;

use crate::clock::Source;

/// The counter of this architecture.
pub(crate) const COUNTER: Option<Source> = Some(Source::Cntvct);

/// The counter now; the processor may read it a little before earlier loads have finished. Reads of one core are in the
/// order of the program among themselves ("All reads to the CNTVCT_EL0 occur in program order", Arm's page of the register).
#[inline]
pub(crate) fn ticks() -> u64 {
    let count: u64;
    // SAFETY: reading CNTVCT_EL0 changes nothing; Linux, macOS and Windows allow it in user mode.
    // https://developer.arm.com/documentation/ddi0601/latest/AArch64-Registers/CNTVCT-EL0--Counter-timer-Virtual-Count-Register
    // Without `nomem`, so that the compiler keeps its place among loads.
    unsafe { asm!("mrs {}, cntvct_el0", out(reg) count, options(nostack, preserves_flags)) };
    count
}

/// The counter after every earlier load of this thread, once a branch that depends on the last of them has been taken:
/// an `isb` waits for branches, not for loads. The line's sequence number is such a load.
#[inline]
pub(crate) fn ticks_ordered() -> u64 {
    let count: u64;
    // SAFETY: as above; the barrier has no effect but order.
    unsafe { asm!("isb", "mrs {}, cntvct_el0", out(reg) count, options(nostack, preserves_flags)) };
    count
}

/// The architecture requires one rate in every power state.
pub(crate) fn is_invariant() -> bool {
    true
}

/// Unknown to user mode here, and without consequence: guests read a count that the hypervisor keeps steady.
pub(crate) fn is_virtual() -> bool {
    false
}
