//! Linux: clocks, the kernel's verdict on the counter, and waits.

use std::ffi::CStr;
use std::ptr;

use super::super::uncancelled;
use super::line::{clock_ns, of_kernel_ns};
use super::{errno, set_errno};
use crate::clock::{Clocksource, Verdict};

/// The processor that this thread runs on.
pub(crate) fn current_cpu() -> Option<u32> {
    // SAFETY: the call takes nothing. https://man7.org/linux/man-pages/man3/sched_getcpu.3.html
    u32::try_from(unsafe { libc::sched_getcpu() }).ok()
}

/// Nanoseconds on `CLOCK_BOOTTIME`, which also runs while the machine is suspended. The kernel adjusts both clocks
/// alike.
pub(crate) fn continuous_ns() -> u64 {
    clock_ns(libc::CLOCK_BOOTTIME)
}

/// Waits once until `deadline_ns` on the line of `CLOCK_MONOTONIC`. A signal, or a sandbox that forbids the call, may end
/// it early.
pub(crate) fn wait_once_until(deadline_ns: u64) {
    wait_once_on(libc::CLOCK_MONOTONIC, of_kernel_ns(deadline_ns));
}

/// Waits once until `deadline_ns` on `CLOCK_BOOTTIME`, in the same way.
pub(crate) fn wait_once_until_continuous(deadline_ns: u64) {
    wait_once_on(libc::CLOCK_BOOTTIME, deadline_ns);
}

fn wait_once_on(clock: libc::clockid_t, deadline_ns: u64) {
    let deadline = timespec(deadline_ns);
    let _uncancelled = uncancelled();
    // SAFETY: `deadline` is a valid timespec with nanoseconds below 10⁹, and the remainder pointer may be null.
    // https://man7.org/linux/man-pages/man2/clock_nanosleep.2.html
    let result = unsafe { libc::clock_nanosleep(clock, libc::TIMER_ABSTIME, &raw const deadline, ptr::null_mut()) };
    if result != 0 && result != libc::EINTR {
        wait_otherwise(deadline_ns.saturating_sub(clock_ns(clock)));
    }
}

/// Waits once if a sandbox forbids the usual call. The standard library's sleep would panic.
pub(super) fn wait_otherwise(ns: u64) {
    let timeout = timespec(ns);
    // SAFETY: no descriptors, no signal mask, and a valid timeout. https://man7.org/linux/man-pages/man2/ppoll.2.html
    let result = unsafe { libc::ppoll(ptr::null_mut(), 0, &raw const timeout, ptr::null()) };
    if result < 0 {
        std::thread::yield_now();
    }
}

/// A time too long for a 32-bit `tv_sec` becomes 68 years, and the caller waits again.
pub(super) fn timespec(ns: u64) -> libc::timespec {
    let tv_sec = (ns / 1_000_000_000).try_into().unwrap_or(i32::MAX as _);
    libc::timespec { tv_sec, tv_nsec: (ns % 1_000_000_000) as _ }
}

/// Nanoseconds on `CLOCK_MONOTONIC_COARSE`: the time of the last tick.
pub(crate) fn coarse_ns() -> Option<u64> {
    Some(clock_ns(libc::CLOCK_MONOTONIC_COARSE))
}

/// The period of the tick.
pub(crate) fn coarse_step_ns() -> Option<u64> {
    let mut step = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `step` is a valid timespec for the kernel to fill.
    // https://man7.org/linux/man-pages/man2/clock_getres.2.html
    let result = unsafe { libc::clock_getres(libc::CLOCK_MONOTONIC_COARSE, &raw mut step) };
    (result == 0).then_some(step.tv_sec as u64 * 1_000_000_000 + step.tv_nsec as u64)
}

/// Whether this process may read the processor's counter. Linux can forbid it on x86 since 2.6.26 and on AArch64 since
/// 6.12; otherwise it refuses the call.
pub(crate) fn counter_is_readable() -> bool {
    let mut mode: libc::c_int = libc::PR_TSC_ENABLE;
    // SAFETY: PR_GET_TSC writes one int. If the call doesn't exist or is forbidden, `mode` is unchanged.
    // https://man7.org/linux/man-pages/man2/PR_GET_TSC.2const.html
    unsafe { libc::prctl(libc::PR_GET_TSC, &raw mut mode) };
    mode != libc::PR_TSC_SIGSEGV
}

/// What the kernel keeps time by. Its watchdog replaces an unstable counter.
pub(crate) fn kernel_verdict() -> Verdict {
    match clocksource() {
        Some(clocksource) if matches!(clocksource.name(), "tsc" | "arch_sys_counter") => Verdict::Counter,
        Some(clocksource) => Verdict::Other(clocksource),
        None => Verdict::Unknown,
    }
}

/// The kernel's name for what it keeps time by.
pub(crate) fn clocksource() -> Option<Clocksource> {
    const CURRENT: &CStr = c"/sys/devices/system/clocksource/clocksource0/current_clocksource";
    let mut buffer = [0; 64];
    // A read of the clock must not change what the caller finds in `errno`.
    let errno = errno();
    let written = read_small(CURRENT, &mut buffer).map(Clocksource::new);
    set_errno(errno);
    written.filter(|clocksource| !clocksource.name().is_empty())
}

/// Whether a seccomp filter governs the calling thread. `None` if that can't be learned.
pub(crate) fn is_filtered() -> Option<bool> {
    let errno = errno();
    // SAFETY: the call takes numbers, and only reads. https://man7.org/linux/man-pages/man2/PR_GET_SECCOMP.2const.html
    let mode = unsafe { libc::prctl(libc::PR_GET_SECCOMP, 0, 0, 0, 0) };
    set_errno(errno);
    (mode >= 0).then_some(mode > 0)
}

/// Reads a small file without allocating, because the clock may be started anywhere.
fn read_small<'a>(path: &CStr, buffer: &'a mut [u8]) -> Option<&'a [u8]> {
    // SAFETY: the path ends with a zero byte. https://man7.org/linux/man-pages/man2/open.2.html
    let file = unsafe { libc::open(path.as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC) };
    if file < 0 {
        return None;
    }
    // SAFETY: the buffer is valid for its length, and the descriptor is ours.
    // https://man7.org/linux/man-pages/man2/read.2.html
    let read = unsafe { libc::read(file, buffer.as_mut_ptr().cast(), buffer.len()) };
    // SAFETY: the descriptor is ours and isn't used afterwards. https://man7.org/linux/man-pages/man2/close.2.html
    unsafe { libc::close(file) };
    buffer.get(..usize::try_from(read).ok()?)
}
