//! x86-64: the time-stamp counter.

use std::arch::x86_64::{__cpuid, _mm_lfence, _rdtsc};

use crate::clock::Source;

/// The counter of this architecture.
pub(crate) const COUNTER: Option<Source> = Some(Source::Tsc);

/// How often a reading may repeat the last one of its thread before the counter is suspected to have stopped. Reads
/// are at least ten ticks apart, so that none should.
pub(crate) const REPEATS_MAX: u32 = 8;

/// The counter now. The processor may read it slightly before earlier loads have finished.
#[inline]
pub(crate) fn ticks() -> u64 {
    // SAFETY: every x86-64 processor has RDTSC, and the clock first checks that this process may use it.
    // https://www.felixcloutier.com/x86/rdtsc
    unsafe { _rdtsc() }
}

/// The counter after every earlier load of this thread.
#[inline]
pub(crate) fn ticks_ordered() -> u64 {
    // SAFETY: SSE2 is part of x86-64, and a fence only orders. https://www.felixcloutier.com/x86/lfence
    unsafe { _mm_lfence() };
    ticks()
}

/// Whether the processor reports that the counter runs at a constant rate in every power state.
pub(crate) fn is_invariant() -> bool {
    // Leaf 8000_0007h, EDX bit 8. https://www.felixcloutier.com/x86/cpuid
    cpuid(0x8000_0000).eax >= 0x8000_0007 && cpuid(0x8000_0007).edx & (1 << 8) != 0
}

/// Whether the processor reports a hypervisor.
pub(crate) fn is_virtual() -> bool {
    cpuid(1).ecx & (1 << 31) != 0
}

fn cpuid(leaf: u32) -> std::arch::x86_64::CpuidResult {
    // SAFETY: every x86-64 processor has CPUID.
    #[allow(unused_unsafe, reason = "newer compilers than the oldest supported one make the intrinsic safe")]
    unsafe {
        __cpuid(leaf)
    }
}
