//! Linux: a thread's timer slack and processors.

use super::denied;
use crate::outcome::Denied;

const ALLOW_PRCTL: &str =
    "allow prctl(PR_GET_TIMERSLACK) and prctl(PR_SET_TIMERSLACK) in this process's seccomp filter";

/// The call that sets a slack.
pub(crate) const SET_SLACK: &str = "prctl(PR_SET_TIMERSLACK)";
/// The slack that a sleep replaces. Setting it costs only 0.1 µs here.
pub(crate) use timer_slack_ns as sleep_slack_ns;

/// The slack in effect once this one is set.
pub(crate) fn granted_slack_ns(requested_ns: u64) -> u64 {
    requested_ns
}

/// The calling thread's timer slack in nanoseconds; 0 under a real-time policy on kernels that report it.
pub(crate) fn timer_slack_ns() -> Result<u64, Denied> {
    // A raw call, because libc's wrapper narrows the result to 32 bits, where 2.1 s and more become negative.
    // SAFETY: PR_GET_TIMERSLACK reads one number of the calling thread and takes no pointer.
    // https://man7.org/linux/man-pages/man2/PR_GET_TIMERSLACK.2const.html
    let slack = unsafe { libc::syscall(libc::SYS_prctl, libc::PR_GET_TIMERSLACK, 0, 0, 0, 0) };
    if slack == -1 {
        return Err(denied("prctl(PR_GET_TIMERSLACK)", ALLOW_PRCTL));
    }
    Ok(slack as libc::c_ulong as _)
}

/// Sets the calling thread's timer slack. The caller never passes zero, which means "the default" to the kernel.
pub(crate) fn set_timer_slack_ns(slack_ns: u64) -> Result<(), Denied> {
    debug_assert_ne!(slack_ns, 0);
    // The kernel's full range, so that any value found before can be restored.
    let slack = libc::c_ulong::try_from(slack_ns).unwrap_or(libc::c_ulong::MAX);
    // SAFETY: PR_SET_TIMERSLACK changes one number of the calling thread and takes no pointer.
    // https://man7.org/linux/man-pages/man2/PR_SET_TIMERSLACK.2const.html
    let result = unsafe { libc::syscall(libc::SYS_prctl, libc::PR_SET_TIMERSLACK, slack, 0, 0, 0) };
    if result == -1 { Err(denied("prctl(PR_SET_TIMERSLACK)", ALLOW_PRCTL)) } else { Ok(()) }
}

/// Room for 8,192 processors, the maximum that Linux supports on x86-64.
const CPU_WORDS: usize = 8192 / libc::c_ulong::BITS as usize;
type CpuMask = [libc::c_ulong; CPU_WORDS];

/// The processors that this thread may run on, in ascending order.
pub(crate) fn allowed_cpus() -> Option<Vec<usize>> {
    let mut mask: CpuMask = [0; CPU_WORDS];
    // SAFETY: the mask is valid for its size, and the kernel writes at most that much.
    // https://man7.org/linux/man-pages/man2/sched_getaffinity.2.html
    let result = unsafe { libc::sched_getaffinity(0, size_of::<CpuMask>(), mask.as_mut_ptr().cast()) };
    if result < 0 {
        return None;
    }
    let bits = libc::c_ulong::BITS as usize;
    Some((0..mask.len() * bits).filter(|cpu| mask[cpu / bits] >> (cpu % bits) & 1 == 1).collect())
}

/// Pins the calling thread to one processor. Only for threads created for this: nothing restores the old mask.
pub(crate) fn pin_this_thread(cpu: usize) -> Result<(), Denied> {
    const ALLOW: &str = "allow sched_setaffinity in this process's seccomp filter and the processor in its cpuset";
    let bits = libc::c_ulong::BITS as usize;
    let mut mask: CpuMask = [0; CPU_WORDS];
    if let Some(word) = mask.get_mut(cpu / bits) {
        *word |= 1 << (cpu % bits);
    }
    // SAFETY: the mask is valid for its size. The kernel refuses an empty one, from a number out of range.
    // https://man7.org/linux/man-pages/man2/sched_setaffinity.2.html
    let result = unsafe { libc::sched_setaffinity(0, size_of::<CpuMask>(), mask.as_ptr().cast()) };
    if result == 0 { Ok(()) } else { Err(denied("sched_setaffinity", ALLOW)) }
}

/// The CPU time that the calling thread has used, in nanoseconds. A system call of about 0.2 µs.
pub(crate) fn thread_cpu_ns() -> Option<u64> {
    let mut used = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `used` is a valid timespec for the kernel to fill.
    // https://man7.org/linux/man-pages/man2/clock_gettime.2.html
    let result = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut used) };
    (result == 0).then_some(used.tv_sec as u64 * 1_000_000_000 + used.tv_nsec as u64)
}
