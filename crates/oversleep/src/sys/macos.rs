//! macOS 10.12 and later: clocks, waits and time constraints.

use std::cell::Cell;
use std::time::Duration;

use crate::clock::{Source, Verdict};
use crate::outcome::{Denied, Outcome, Why};
use crate::scheduling::{Constraints, RealTimeRequest, Scheduling};

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

/// Nobody adjusts `CLOCK_UPTIME_RAW`.
pub(crate) fn steady_ns() -> u64 {
    monotonic_ns()
}

/// The system doesn't say which processor a thread runs on.
pub(crate) fn current_cpu() -> Option<u32> {
    None
}

/// The CPU time that the calling thread has used, in nanoseconds.
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

/// Waits once until `deadline_ns` by the clock that also runs during sleep, with a timer of the kernel's event queue:
/// `mach_wait_until` has no such clock. May return early.
pub(crate) fn wait_once_until_continuous(deadline_ns: u64) {
    let (numer, denom) = timebase();
    let deadline = (u128::from(deadline_ns) * u128::from(denom)).div_ceil(u128::from(numer));
    let timer = libc::kevent {
        ident: 1,
        filter: libc::EVFILT_TIMER,
        flags: libc::EV_ADD | libc::EV_ONESHOT,
        fflags: libc::NOTE_ABSOLUTE | libc::NOTE_MACHTIME | libc::NOTE_MACH_CONTINUOUS_TIME | libc::NOTE_CRITICAL,
        data: isize::try_from(deadline).unwrap_or(isize::MAX),
        udata: std::ptr::null_mut(),
    };
    let mut ended = timer;
    // SAFETY: takes nothing. https://keith.github.io/xcode-man-pages/kqueue.2.html
    let queue = unsafe { libc::kqueue() };
    // SAFETY: both events are valid for one element, and no time limit means no limit.
    let count = unsafe { libc::kevent(queue, &raw const timer, 1, &raw mut ended, 1, std::ptr::null()) };
    if count != 1 || ended.flags & libc::EV_ERROR != 0 {
        // A second late after a sleep of the machine, at most.
        let left_ns = deadline_ns.saturating_sub(continuous_ns()).min(1_000_000_000);
        wait_once_until(monotonic_ns().saturating_add(left_ns));
    }
    if queue >= 0 {
        // SAFETY: the queue is ours and isn't used afterwards.
        unsafe { libc::close(queue) };
    }
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

/// The call that sets a latency tier, which is this system's timer slack.
pub(crate) const SET_SLACK: &str = "thread_policy_set(THREAD_LATENCY_QOS_POLICY)";

/// `LATENCY_QOS_TIER_0` and its followers in <mach/thread_policy.h>, and the longest that each postpones a wait
/// (`timer_coalesce_*` in xnu's osfmk/kern/timer_call.c). Tier 5 is like tier 4.
const TIERS: [(libc::integer_t, u64); 5] = [
    (0x00FF_0001, 1_000_000),
    (0x00FF_0002, 5_000_000),
    (0x00FF_0003, 20_000_000),
    (0x00FF_0004, 75_000_000),
    (0x00FF_0005, 10_000_000_000),
];
/// `LATENCY_QOS_TIER_UNSPECIFIED`: the tier of the thread's service class counts, 1 for most. A nanosecond tells it from
/// tier 1, so that either can be restored.
const UNSPECIFIED: (libc::integer_t, u64) = (0, 5_000_001);

/// The coarsest tier that postpones waits for no longer than requested, or the finest of all.
fn tier(requested_ns: u64) -> (libc::integer_t, u64) {
    match requested_ns {
        ns if ns == UNSPECIFIED.1 => UNSPECIFIED,
        ns => TIERS.into_iter().rev().find(|&(_, longest_ns)| longest_ns <= ns).unwrap_or(TIERS[0]),
    }
}

/// The slack in effect once this one is set.
pub(crate) fn granted_slack_ns(requested_ns: u64) -> u64 {
    match tier(requested_ns) {
        UNSPECIFIED => TIERS[1].1,
        (_, longest_ns) => longest_ns,
    }
}

/// The longest that the calling thread's latency tier postpones a wait.
pub(crate) fn timer_slack_ns() -> Result<u64, Denied> {
    let mut policy = libc::thread_latency_qos_policy { thread_latency_qos_tier: 0 };
    let mut words = 1;
    let mut is_default: libc::boolean_t = 0;
    // SAFETY: the policy is valid for its one word, and the port is the calling thread's.
    let result = unsafe {
        libc::thread_policy_get(
            libc::pthread_mach_thread_np(libc::pthread_self()),
            libc::THREAD_LATENCY_QOS_POLICY as _,
            (&raw mut policy).cast(),
            &raw mut words,
            &raw mut is_default,
        )
    };
    if result != libc::KERN_SUCCESS {
        return Err(Denied { why: Why::Failed { call: "thread_policy_get", errno: result }, how: ALLOW });
    }
    let number = policy.thread_latency_qos_tier;
    let known = TIERS.into_iter().find(|&(tier, _)| tier == number);
    Ok(known.unwrap_or(if number & 0xFFFF == 0 { UNSPECIFIED } else { TIERS[4] }).1)
}

thread_local! {
    /// The service class that the calling thread had before it set a latency tier.
    static CLASS_BEFORE_TIER: Cell<Option<ServiceClass>> = const { Cell::new(None) };
}

/// Sets the calling thread's latency tier. That takes the thread out of its service class, so going back to no tier also
/// restores the class.
pub(crate) fn set_timer_slack_ns(slack_ns: u64) -> Result<(), Denied> {
    let requested = tier(slack_ns);
    if requested != UNSPECIFIED
        && let Some(class) = ServiceClass::current()
    {
        CLASS_BEFORE_TIER.set(Some(class));
    }
    let mut policy = libc::thread_latency_qos_policy { thread_latency_qos_tier: requested.0 };
    // SAFETY: the policy is valid for its one word, and the port is the calling thread's.
    let result = unsafe {
        libc::thread_policy_set(
            libc::pthread_mach_thread_np(libc::pthread_self()),
            libc::THREAD_LATENCY_QOS_POLICY as _,
            (&raw mut policy).cast(),
            1,
        )
    };
    if requested == UNSPECIFIED
        && let Some(class) = CLASS_BEFORE_TIER.take()
    {
        class.restore();
    }
    match result {
        libc::KERN_SUCCESS => Ok(()),
        errno => Err(Denied { why: Why::Failed { call: "thread_policy_set", errno }, how: ALLOW }),
    }
}

/// A tier isn't set for each sleep, because that would take the thread out of its service class each time.
pub(crate) fn sleep_slack_ns() -> Result<u64, Denied> {
    let why = Why::Unsupported { what: "timer slack for a single sleep" };
    Err(Denied { why, how: "hold a timer slack in this thread" })
}

/// What would set a slice.
pub(crate) const SET_SLICE: &str = "a time slice";
/// The slice that a sleep would request; it can't be set here.
pub(crate) const FINEST_SLICE_NS: u64 = 100_000;

const NO_SLICE: Denied = Denied {
    why: Why::Unsupported { what: "time slice that a thread can set" },
    how: "request real-time scheduling instead",
};

pub(crate) fn slice_ns() -> Result<u64, Denied> {
    Err(NO_SLICE)
}

/// A sleep finds no slice to replace.
pub(crate) fn shorten_slice_for_sleep(_ns: u64) -> Result<u64, Denied> {
    Err(NO_SLICE)
}

pub(crate) fn set_slice_ns(_ns: u64) -> Result<(), Denied> {
    Err(NO_SLICE)
}

/// No slice was held.
pub(crate) fn restore_slice_ns(_ns: u64) {}

/// macOS has no timer resolution to request.
#[derive(Debug)]
pub(crate) enum Timer {}

pub(crate) fn hold_timer(_period: Duration) -> (Option<Timer>, Outcome<Duration>) {
    let why = Why::Unsupported { what: "timer resolution to change" };
    (None, Outcome::Denied(Denied { why, how: "request real-time scheduling instead, whose waits aren't coalesced" }))
}

/// The call that sets time constraints.
pub(crate) const SET_POLICY: &str = "thread_policy_set(THREAD_TIME_CONSTRAINT_POLICY)";
const ALLOW: &str = "take the process out of the sandbox that forbids thread_policy_set";

/// A thread's time constraints, and its service class.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Policy {
    constraints: Option<libc::thread_time_constraint_policy>,
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

    /// Refused for a thread that set a scheduling policy by pthread, because that leaves the classes for good.
    fn restore(self) {
        // SAFETY: takes numbers.
        unsafe { pthread_set_qos_class_self_np(self.number, self.relative) };
    }
}

/// The size of the policy's structure in words.
const CONSTRAINT_WORDS: libc::mach_msg_type_number_t =
    (size_of::<libc::thread_time_constraint_policy>() / size_of::<libc::integer_t>()) as _;

/// Time constraints that fit the period; the priority has no meaning here.
pub(crate) fn real_time_policy(was: Policy, request: RealTimeRequest) -> Policy {
    let (numer, denom) = timebase();
    let units = |ns: u64| u32::try_from(ns * u64::from(denom) / u64::from(numer)).unwrap_or(u32::MAX);
    let constraints = Constraints::for_period(request.period);
    let constraints = libc::thread_time_constraint_policy {
        period: units(constraints.period_ns),
        computation: units(constraints.computation_ns),
        constraint: units(constraints.constraint_ns),
        preemptible: 1,
    };
    Policy { constraints: Some(constraints), ..was }
}

/// The name of a policy.
pub(crate) fn scheduling(policy: Policy) -> Scheduling {
    if policy.constraints.is_some() { Scheduling::Deadline } else { Scheduling::Ordinary }
}

/// The calling thread's policy.
pub(crate) fn policy() -> Result<Policy, Denied> {
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
    if result != libc::KERN_SUCCESS {
        return Err(Denied { why: Why::Failed { call: "thread_policy_get", errno: result }, how: ALLOW });
    }
    Ok(Policy { constraints: (is_default == 0).then_some(policy), class: ServiceClass::current() })
}

/// Sets the calling thread's policy. Without constraints that is the standard one, in the service class that the thread
/// had.
pub(crate) fn set_policy(policy: Policy) -> Result<(), Denied> {
    let mut constraints = policy.constraints;
    // The standard policy has no words, so nothing is read from its pointer.
    let (flavor, words, count) = match &mut constraints {
        Some(constraints) => (libc::THREAD_TIME_CONSTRAINT_POLICY, (&raw mut *constraints).cast(), CONSTRAINT_WORDS),
        None => (libc::THREAD_STANDARD_POLICY, std::ptr::NonNull::<libc::integer_t>::dangling().as_ptr(), 0),
    };
    // SAFETY: the policy is valid for its number of words, and the port is the calling thread's.
    // https://developer.apple.com/library/archive/documentation/Darwin/Conceptual/KernelProgramming/scheduler/scheduler.html
    let result = unsafe {
        let port = libc::pthread_mach_thread_np(libc::pthread_self());
        libc::thread_policy_set(port, flavor as _, words, count)
    };
    if result != libc::KERN_SUCCESS {
        return Err(Denied { why: Why::Failed { call: "thread_policy_set", errno: result }, how: ALLOW });
    }
    if constraints.is_none()
        && let Some(class) = policy.class
    {
        class.restore();
    }
    Ok(())
}

/// macOS has no multimedia class.
#[derive(Debug)]
pub(crate) enum Multimedia {}

pub(crate) fn hold_multimedia() -> (Option<Multimedia>, Outcome<Scheduling>) {
    let why = Why::Unsupported { what: "multimedia class for a thread" };
    (None, Outcome::Denied(Denied { why, how: "request real-time scheduling instead" }))
}

/// macOS lets no process influence idle states.
#[derive(Debug)]
pub(crate) enum CpuLatency {}

pub(crate) fn hold_cpu_latency(_latency: Duration) -> (Option<CpuLatency>, Outcome<Duration>) {
    let why = Why::Unsupported { what: "limit on wake-up latency that a process can set" };
    (None, Outcome::Denied(Denied { why, how: "request real-time scheduling instead" }))
}
