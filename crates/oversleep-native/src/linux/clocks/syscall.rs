//! CLOCK_MONOTONIC by a real system call, past the vDSO.

use oversleep_record::Nanos;
use oversleep_system::{Clock, ClockInfo};

use crate::fn_clock::FnClock;
use crate::linux::os;

pub(super) fn monotonic(info: &'static ClockInfo) -> Box<dyn Clock> {
    FnClock::new(info, monotonic_ns_by_syscall)
        .available(|| match monotonic_ns_by_syscall() {
            0 => Err(os::failed("syscall(SYS_clock_gettime)")),
            _ => Ok(()),
        })
        .step(|| os::clock_step(libc::CLOCK_MONOTONIC).ok())
        .boxed()
}

/// CLOCK_MONOTONIC by system call; 0 where it failed, which no running machine shows.
#[inline(always)]
pub(in crate::linux) fn monotonic_ns_by_syscall() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a valid timespec; on both supported architectures it has the kernel's 64-bit layout.
    unsafe { libc::syscall(libc::SYS_clock_gettime, libc::c_long::from(libc::CLOCK_MONOTONIC), &raw mut time) };
    Nanos::from_secs(time.tv_sec).0 as u64 + time.tv_nsec as u64
}
