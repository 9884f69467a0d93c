//! macOS 10.12 and later: clocks, waits and time constraints.

use std::time::Duration;

use crate::clock::{Source, Verdict};
use crate::outcome::{Denied, Outcome, Why};
use crate::scheduling::Scheduling;

// SAFETY: as <mach/mach_time.h> declares it, in libSystem.
unsafe extern "C" {
    // https://developer.apple.com/documentation/kernel/1646199-mach_wait_until
    fn mach_wait_until(deadline: u64) -> libc::c_int;
}

// SAFETY: as <pthread/qos.h> declares them, in libSystem since macOS 10.10. Classes are plain numbers, because the
// system may return one that this library doesn't know.
unsafe extern "C" {
    // https://developer.apple.com/library/archive/documentation/Performance/Conceptual/power_efficiency_guidelines_osx/PrioritizeWorkAtTheTaskLevel.html
    fn pthread_get_qos_class_np(thread: libc::pthread_t, class: *mut u32, relative: *mut libc::c_int) -> libc::c_int;
    fn pthread_set_qos_class_self_np(class: u32, relative: libc::c_int) -> libc::c_int;
}

/// Nanoseconds on `CLOCK_UPTIME_RAW`: `mach_absolute_time` in nanoseconds, which stops during sleep.
pub(crate) fn monotonic_ns() -> u64 {
    clock_ns(libc::CLOCK_UPTIME_RAW)
}

/// Nanoseconds on `CLOCK_MONOTONIC_RAW`: `mach_continuous_time` in nanoseconds, which also runs during sleep.
pub(crate) fn continuous_ns() -> u64 {
    clock_ns(libc::CLOCK_MONOTONIC_RAW)
}

/// The CPU time of the calling thread.
pub(crate) fn thread_cpu_ns() -> Option<u64> {
    Some(clock_ns(libc::CLOCK_THREAD_CPUTIME_ID))
}

fn clock_ns(id: libc::clockid_t) -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `now` is a valid timespec to fill. The clocks have existed since macOS 10.12.
    unsafe { libc::clock_gettime(id, &raw mut now) };
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// Nanoseconds per unit of `mach_absolute_time`, as a fraction.
#[allow(deprecated, reason = "the replacement is a separate crate")]
fn timebase() -> (u32, u32) {
    let mut info = libc::mach_timebase_info { numer: 0, denom: 0 };
    // SAFETY: `info` is valid to fill. https://developer.apple.com/documentation/kernel/1646200-mach_timebase_info
    unsafe { libc::mach_timebase_info(&raw mut info) };
    (info.numer.max(1), info.denom.max(1))
}

/// Waits once until `deadline_ns`. The system may coalesce the wake-up with others and so end the wait late.
pub(crate) fn wait_once_until(deadline_ns: u64) {
    let (numer, denom) = timebase();
    // Rounded up, so that the wait doesn't end a fraction of a unit early.
    let deadline = (u128::from(deadline_ns) * u128::from(denom)).div_ceil(u128::from(numer));
    // SAFETY: the call takes a number.
    unsafe { mach_wait_until(u64::try_from(deadline).unwrap_or(u64::MAX)) };
}

/// macOS has a coarse clock, but it costs as much as the usual one.
pub(crate) fn coarse_ns() -> Option<u64> {
    None
}

pub(crate) fn coarse_step_ns() -> Option<u64> {
    None
}

pub(crate) fn counter_is_readable() -> bool {
    true
}

/// On Apple silicon the system keeps time by the generic timer. Nothing is known about the TSC of older machines.
pub(crate) fn kernel_verdict() -> Verdict {
    if super::counter::COUNTER == Some(Source::Cntvct) { Verdict::Counter } else { Verdict::Unknown }
}

/// Threads can't be pinned to a processor.
pub(crate) fn allowed_cpus() -> Option<Vec<usize>> {
    None
}

pub(crate) fn pin_this_thread(_cpu: usize) -> Result<(), Denied> {
    Err(Denied { why: Why::Unsupported { what: "way to pin a thread to a core" }, how: "run on Linux" })
}

const NO_SLACK: Denied = Denied {
    why: Why::Unsupported { what: "timer slack that a thread can read or set" },
    how: "request real-time scheduling instead, whose waits aren't coalesced",
};

pub(crate) fn timer_slack_ns() -> Result<u64, Denied> {
    Err(NO_SLACK)
}

pub(crate) fn set_timer_slack_ns(_slack_ns: u64) -> Result<(), Denied> {
    Err(NO_SLACK)
}

/// macOS has no timer resolution to request.
#[derive(Debug)]
pub(crate) enum Timer {}

pub(crate) fn hold_timer(_period: Duration) -> (Option<Timer>, Outcome<Duration>) {
    let why = Why::Unsupported { what: "timer resolution to change" };
    (None, Outcome::Denied(Denied { why, how: "request real-time scheduling instead, whose waits aren't coalesced" }))
}

/// Time constraints of the calling thread, removed on drop.
#[derive(Debug)]
pub(crate) struct RealTime {
    /// Setting any policy takes the thread out of its service class for good (`thread_policy_set` in xnu's
    /// osfmk/kern/thread_policy.c), so the class must be restored too.
    class: Option<ServiceClass>,
}

/// A service class with its relative priority, 0 to −15.
#[derive(Clone, Copy, Debug)]
struct ServiceClass {
    number: u32,
    relative: libc::c_int,
}

impl ServiceClass {
    /// `QOS_CLASS_UNSPECIFIED`: the thread is in none.
    const NONE: u32 = 0;

    /// The calling thread's class, if it is in one.
    fn current() -> Option<ServiceClass> {
        let mut class = ServiceClass { number: ServiceClass::NONE, relative: 0 };
        // SAFETY: the calling thread exists, and both numbers are writable.
        let error =
            unsafe { pthread_get_qos_class_np(libc::pthread_self(), &raw mut class.number, &raw mut class.relative) };
        (error == 0 && class.number != ServiceClass::NONE).then_some(class)
    }
}

/// The size of the policy's structure in words.
const CONSTRAINT_WORDS: libc::mach_msg_type_number_t =
    (size_of::<libc::thread_time_constraint_policy>() / size_of::<libc::integer_t>()) as _;

/// Sets a time-constraint policy for the calling thread; `priority` has no meaning here. As for audio, 1 ms of
/// computation within 2.5 ms in each period of 5 ms.
pub(crate) fn hold_real_time(_priority: u8) -> (Option<RealTime>, Outcome<Scheduling>) {
    const ALLOW: &str = "take the process out of the sandbox that forbids thread_policy_set";
    if has_constraints() {
        return (None, Outcome::AlreadyFiner { is: Scheduling::Deadline });
    }
    let (numer, denom) = timebase();
    let units = |us: u64| (us * 1_000 * u64::from(denom) / u64::from(numer)) as u32;
    let mut policy = libc::thread_time_constraint_policy {
        period: units(5_000),
        computation: units(1_000),
        constraint: units(2_500),
        preemptible: 1,
    };
    let class = ServiceClass::current();
    // SAFETY: the policy is valid for its number of words, and the port is the calling thread's.
    // https://developer.apple.com/library/archive/documentation/Darwin/Conceptual/KernelProgramming/scheduler/scheduler.html
    let result = unsafe {
        libc::thread_policy_set(
            libc::pthread_mach_thread_np(libc::pthread_self()),
            libc::THREAD_TIME_CONSTRAINT_POLICY as _,
            (&raw mut policy).cast(),
            CONSTRAINT_WORDS,
        )
    };
    let denied = |why| Outcome::Denied(Denied { why, how: ALLOW });
    if result != libc::KERN_SUCCESS {
        return (None, denied(Why::Failed { call: "thread_policy_set", errno: result }));
    }
    let held = RealTime { class };
    if !has_constraints() {
        // Dropping `held` restores whatever did change.
        return (None, denied(Why::Ignored { call: "thread_policy_set" }));
    }
    (Some(held), Outcome::Applied { was: Scheduling::Ordinary, now: Scheduling::Deadline })
}

fn has_constraints() -> bool {
    let mut policy = libc::thread_time_constraint_policy { period: 0, computation: 0, constraint: 0, preemptible: 0 };
    let mut words = CONSTRAINT_WORDS;
    let mut is_default: libc::boolean_t = 0;
    // SAFETY: the policy is valid for its number of words, and the port is the calling thread's.
    let result = unsafe {
        libc::thread_policy_get(
            libc::pthread_mach_thread_np(libc::pthread_self()),
            libc::THREAD_TIME_CONSTRAINT_POLICY as _,
            (&raw mut policy).cast(),
            &raw mut words,
            &raw mut is_default,
        )
    };
    result == libc::KERN_SUCCESS && is_default == 0
}

impl Drop for RealTime {
    fn drop(&mut self) {
        let mut standard: libc::integer_t = 0;
        // SAFETY: the guard never leaves its thread. The standard policy has no words, so the pointer isn't read.
        unsafe {
            libc::thread_policy_set(
                libc::pthread_mach_thread_np(libc::pthread_self()),
                libc::THREAD_STANDARD_POLICY as _,
                &raw mut standard,
                0,
            )
        };
        if let Some(ServiceClass { number, relative }) = self.class {
            // Refused for a thread that set a scheduling policy by pthread, because that leaves the classes for good.
            // SAFETY: takes numbers.
            unsafe { pthread_set_qos_class_self_np(number, relative) };
        }
    }
}

/// macOS lets no process influence idle states.
#[derive(Debug)]
pub(crate) enum CpuLatency {}

pub(crate) fn hold_cpu_latency(_latency: Duration) -> (Option<CpuLatency>, Outcome<Duration>) {
    let why = Why::Unsupported { what: "limit on wake-up latency that a process can set" };
    (None, Outcome::Denied(Denied { why, how: "request real-time scheduling instead" }))
}
