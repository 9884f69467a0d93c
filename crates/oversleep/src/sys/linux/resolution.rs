//! Linux: the scheduling policy of a thread, and the machine's limit on wake-up latency.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::FileExt;
use std::time::Duration;

use super::super::uncancelled;
use super::denied;
use super::slice::SCHED_DEADLINE;
use crate::outcome::{Denied, Outcome, Why};
use crate::scheduling::{RealTimeRequest, Scheduling};

/// The call that sets a policy.
pub(crate) const SET_POLICY: &str = "sched_setscheduler";

/// Linux has no timer resolution to request: its timers are as fine as the hardware's.
#[derive(Debug)]
pub(crate) enum Timer {}

/// Always denied.
pub(crate) fn hold_timer(_period: Duration) -> (Option<Timer>, Outcome<Duration>) {
    let why = Why::Unsupported { what: "timer resolution to change: its timers are as fine as the hardware's" };
    (None, Outcome::Denied(Denied { why, how: "request timer slack instead" }))
}

/// A thread's policy with its parameters.
#[derive(Clone, Copy)]
pub(crate) struct Policy {
    policy: libc::c_int,
    param: libc::sched_param,
}

impl std::fmt::Debug for Policy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        scheduling(*self).fmt(f)
    }
}

/// The policy that this request gives to a thread with another one. Threads and programs that it starts inherit it.
pub(crate) fn real_time_policy(was: Policy, request: RealTimeRequest) -> Policy {
    let mut param = was.param;
    param.sched_priority = i32::from(request.priority.clamp(1, 99));
    // Not with SCHED_RESET_ON_FORK, which a thread without CAP_SYS_NICE can't clear again.
    Policy { policy: libc::SCHED_FIFO, param }
}

/// The calling thread's policy.
pub(crate) fn policy() -> Result<Policy, Denied> {
    const ALLOW: &str = "allow sched_getscheduler and sched_getparam in this process's seccomp filter";
    // SAFETY: the call takes a number; 0 is the calling thread.
    // https://man7.org/linux/man-pages/man2/sched_setscheduler.2.html
    let policy = unsafe { libc::syscall(libc::SYS_sched_getscheduler, 0) };
    // SAFETY: all-zero is a valid sched_param.
    let mut param: libc::sched_param = unsafe { std::mem::zeroed() };
    // SAFETY: `param` is valid for the kernel to fill. https://man7.org/linux/man-pages/man2/sched_setparam.2.html
    // Raw system calls, because musl's wrappers always fail.
    let result = unsafe { libc::syscall(libc::SYS_sched_getparam, 0, &raw mut param) };
    if policy < 0 || result < 0 {
        return Err(denied("sched_getscheduler", ALLOW));
    }
    Ok(Policy { policy: policy as libc::c_int, param })
}

/// Sets the calling thread's policy. A thread that RealtimeKit made a real-time one keeps its reset on fork if it may not
/// clear it.
pub(crate) fn set_policy(requested: Policy) -> Result<(), Denied> {
    const ALLOW: &str = "raise the limit on real-time priorities (ulimit -r 99, or rtprio in \
                         /etc/security/limits.conf), or give the program CAP_SYS_NICE";
    let set = |policy: libc::c_int| {
        // SAFETY: the parameters are valid for the call; 0 is the calling thread.
        // https://man7.org/linux/man-pages/man2/sched_setscheduler.2.html
        unsafe { libc::syscall(libc::SYS_sched_setscheduler, 0, policy, &raw const requested.param) }
    };
    if set(requested.policy) >= 0 {
        return Ok(());
    }
    let denied = denied("sched_setscheduler", ALLOW);
    let keeps_reset = policy().is_ok_and(|now| now.policy & libc::SCHED_RESET_ON_FORK != 0);
    if keeps_reset && set(requested.policy | libc::SCHED_RESET_ON_FORK) >= 0 { Ok(()) } else { Err(denied) }
}

/// The name of a policy.
pub(crate) fn scheduling(Policy { policy, param }: Policy) -> Scheduling {
    let priority = u8::try_from(param.sched_priority).unwrap_or(0);
    match policy & !libc::SCHED_RESET_ON_FORK {
        libc::SCHED_FIFO => Scheduling::Fifo(priority),
        libc::SCHED_RR => Scheduling::RoundRobin(priority),
        libc::SCHED_BATCH | libc::SCHED_IDLE => Scheduling::Background,
        SCHED_DEADLINE => Scheduling::Deadline,
        _ => Scheduling::Ordinary,
    }
}

/// Linux has no multimedia class.
#[derive(Debug)]
pub(crate) enum Multimedia {}

/// Always denied.
pub(crate) fn hold_multimedia() -> (Option<Multimedia>, Outcome<Scheduling>) {
    let why = Why::Unsupported { what: "multimedia class for a thread" };
    (None, Outcome::Denied(Denied { why, how: "request real-time scheduling or a time slice instead" }))
}

/// The open file is the request: the kernel drops it when the file is closed, even if the process dies.
#[derive(Debug)]
pub(crate) struct CpuLatency {
    file: Option<File>,
}

impl Drop for CpuLatency {
    fn drop(&mut self) {
        let _uncancelled = uncancelled();
        self.file = None;
    }
}

const DEVICE: &str = "/dev/cpu_dma_latency";

/// Limits the wake-up latency of the machine's processors. The request is held even if a lower limit is already in
/// effect, because that one may go away.
pub(crate) fn hold_cpu_latency(latency: Duration) -> (Option<CpuLatency>, Outcome<Duration>) {
    let _uncancelled = uncancelled();
    match try_cpu_latency(latency) {
        Ok((file, outcome)) => (Some(CpuLatency { file: Some(file) }), outcome),
        Err(error) => (None, Outcome::Denied(device_denied(&error))),
    }
}

fn try_cpu_latency(latency: Duration) -> std::io::Result<(File, Outcome<Duration>)> {
    // https://docs.kernel.org/power/pm_qos_interface.html: 32 bits of microseconds in native byte order.
    let mut file = OpenOptions::new().read(true).write(true).open(DEVICE)?;
    let requested_us = i32::try_from(latency.as_micros()).unwrap_or(i32::MAX);
    let was = read_latency(&file)?;
    file.write_all(&requested_us.to_ne_bytes())?;
    let now = read_latency(&file)?;
    Ok((file, outcome(Duration::from_micros(requested_us.unsigned_abs().into()), was, now)))
}

/// The outcome of a request, from the limits before and after it.
fn outcome(requested: Duration, was: Duration, now: Duration) -> Outcome<Duration> {
    if now < was {
        Outcome::Applied { was, now }
    } else if was <= requested {
        Outcome::AlreadyFiner { is: was }
    } else {
        let why = Why::Ignored { call: DEVICE };
        Outcome::Denied(Denied { why, how: "check whether a sandbox or a container handles the device itself" })
    }
}

fn read_latency(file: &File) -> std::io::Result<Duration> {
    /// The kernel's value without any request.
    const UNLIMITED_US: i32 = 2_000_000_000;
    let mut us = [0; 4];
    // Always at offset zero, because a plain read advances to the end of the device.
    file.read_exact_at(&mut us, 0)?;
    match i32::from_ne_bytes(us) {
        UNLIMITED_US.. => Ok(Duration::MAX),
        us => Ok(Duration::from_micros(u64::try_from(us).unwrap_or(0))),
    }
}

fn device_denied(error: &std::io::Error) -> Denied {
    let errno = error.raw_os_error().unwrap_or(0);
    match error.kind() {
        ErrorKind::NotFound => Denied {
            why: Why::Unsupported {
                what: "/dev/cpu_dma_latency (this is a container, or a kernel without CPU idle states)",
            },
            how: "run outside the container, or pass the device into it",
        },
        ErrorKind::PermissionDenied => Denied {
            why: Why::Forbidden { call: DEVICE, errno },
            how: "run as root, or add a udev rule that makes /dev/cpu_dma_latency writable for your group",
        },
        _ => Denied { why: Why::Failed { call: DEVICE, errno }, how: "check the kernel's log" },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_that_changes_nothing_is_already_finer_or_ignored() {
        let us = Duration::from_micros;
        assert_eq!(outcome(us(10), Duration::MAX, us(10)), Outcome::Applied { was: Duration::MAX, now: us(10) });
        assert_eq!(outcome(us(10), us(2), us(2)), Outcome::AlreadyFiner { is: us(2) });
        assert_eq!(outcome(us(10), us(10), us(10)), Outcome::AlreadyFiner { is: us(10) });
        let faked = outcome(us(10), Duration::MAX, Duration::MAX);
        assert_eq!(faked.denied().map(|denied| denied.why), Some(Why::Ignored { call: DEVICE }));
    }
}
