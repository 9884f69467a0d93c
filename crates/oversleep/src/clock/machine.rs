//! The interface to the counter and the clocks that the library's clock is built on: the real ones, and in tests ones
//! that fail.

use std::sync::atomic::{AtomicU8, Ordering};

use super::CLOCK;
use super::judge;
use super::reason::Reason;
use super::seen::Seen;
use crate::sys::{self, counter};

/// The parts that a clock is built on.
pub(crate) trait Machine: Sync {
    /// The counter now. The processor may read it slightly early.
    fn ticks(&self) -> u64;
    /// The counter after every earlier load.
    fn ticks_ordered(&self) -> u64;
    /// The operating system's clock.
    fn monotonic_ns(&self) -> u64;
    /// A clock that nobody adjusts.
    fn steady_ns(&self) -> u64;
    /// The operating system's clock plus the time that the machine was suspended.
    fn continuous_ns(&self) -> u64;
    /// The processor that this thread runs on; `u32::MAX` if that isn't known.
    fn cpu(&self) -> u32;
    /// Why the counter must not be tried, if there is a reason. Called once, before everything else.
    fn refusal(&self) -> Option<Reason>;
    /// The kernel's present objection to the counter.
    fn objection(&self) -> Option<Reason>;
    /// What the calling thread has seen of this clock.
    fn with_seen<T>(&self, use_it: impl FnOnce(&Seen) -> T) -> T;
}

/// A forked child has only one thread, and may be in another time namespace.
extern "C" fn after_fork() {
    CLOCK.after_fork();
    sys::after_fork();
}

/// The processor's counter and the operating system's clocks.
#[derive(Debug)]
pub(crate) struct Real;

/// Whether the kernel may be asked.
static ASK: AtomicU8 = AtomicU8::new(UNKNOWN);
const UNKNOWN: u8 = 0;
/// No seccomp filter governed the thread that used the clock first.
const UNLESS_FILTERED: u8 = 1;
/// One did, and it allowed the question.
const ALWAYS: u8 = 2;
const NEVER: u8 = 3;

/// Disables every later question to the kernel.
pub(super) fn ask_no_more() {
    ASK.store(NEVER, Ordering::Relaxed);
}

/// Whether the kernel may be asked here. A filter that came into force after the first use may end the process for it.
fn may_ask() -> bool {
    match ASK.load(Ordering::Relaxed) {
        ALWAYS => true,
        UNLESS_FILTERED => sys::is_filtered() == Some(false),
        _ => false,
    }
}

thread_local! {
    static SEEN: Seen = const { Seen::new() };
}

/// The ticks that the clock uses for the counter's: the same, unless a test injects a fault.
#[inline(always)]
fn with_faults(ticks: u64) -> u64 {
    #[cfg(feature = "fault-injection")]
    return super::fault::process::instead_of(ticks);
    #[cfg(not(feature = "fault-injection"))]
    ticks
}

impl Machine for Real {
    #[inline]
    fn ticks(&self) -> u64 {
        with_faults(counter::ticks())
    }

    #[inline]
    fn ticks_ordered(&self) -> u64 {
        with_faults(counter::ticks_ordered())
    }

    fn monotonic_ns(&self) -> u64 {
        sys::monotonic_ns()
    }

    fn steady_ns(&self) -> u64 {
        sys::steady_ns()
    }

    fn continuous_ns(&self) -> u64 {
        sys::continuous_ns()
    }

    fn cpu(&self) -> u32 {
        sys::current_cpu().unwrap_or(u32::MAX)
    }

    fn refusal(&self) -> Option<Reason> {
        sys::on_fork(sys::before_fork, after_fork);
        let ask = if sys::is_filtered() == Some(false) { UNLESS_FILTERED } else { ALWAYS };
        let _ = ASK.compare_exchange(UNKNOWN, ask, Ordering::Relaxed, Ordering::Relaxed);
        judge::before_reading().err()
    }

    fn objection(&self) -> Option<Reason> {
        #[cfg(feature = "fault-injection")]
        if let Some(injected) = super::fault::process::objection() {
            return Some(injected);
        }
        if may_ask() { judge::kernel_objection() } else { None }
    }

    #[inline]
    fn with_seen<T>(&self, use_it: impl FnOnce(&Seen) -> T) -> T {
        SEEN.with(use_it)
    }
}
