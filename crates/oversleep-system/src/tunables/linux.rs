//! What a measurement may change on Linux.

use oversleep_record::Nanos;

use super::COMMON;
use crate::catalogue::{entry, man7};
use crate::tunable::{Scope, TunableInfo, Word};

/// The tunables of Linux, in the order of its registry.
pub const LINUX: &[TunableInfo] = &[
    entry! { COMMON: "slack" => "prctl(PR_SET_TIMERSLACK)",
    expected: "a span from 1ns up (0 would restore the thread's default)", example: "1ns",
    inherited_by: Some("threads and programs"), sets_resolution: true,
    // From none to a whole request of 1 ms and beyond; the second is the kernel's default.
    compared: &[Nanos(1), Nanos(50_000), Nanos(200_000), Nanos(1_000_000), Nanos(5_000_000)], since: "Linux 2.6.28",
    page: man7!("2/PR_SET_TIMERSLACK.2const"),
    "How much later than requested the kernel may end this thread's timed waits, so that it can serve several \
     timers at once. The default is 50 µs; a thread under a real-time policy has none. poll and select use the \
     larger of the slack and a share of their timeout." },
    entry! { COMMON: "policy" => "sched_setattr",
    expected: "other, batch (nice -20 to 19), idle, fifo or rr (priority 1 to 99), as in fifo:80 or other:5",
    example: "fifo:80", inherited_by: Some("threads and programs"),
    words: &[Word::ranging("other", -20, 19), Word::ranging("batch", -20, 19), Word::alone("idle"),
        Word::ranging("fifo", 1, 99), Word::ranging("rr", 1, 99)], since: "Linux 3.14",
    page: man7!("2/sched_setattr.2"),
    "How the scheduler treats this thread. fifo and rr run before all others and have no timer slack; other, batch \
     and idle share the rest by nice value. Without privileges, you can only raise nice and can't leave idle \
     again, so the kernel may refuse to restore the policy: measure on a thread that ends afterwards." },
    entry! { COMMON: "pin" => "sched_setaffinity", expected: "one or more CPU numbers", example: "0",
    inherited_by: Some("threads and programs"), since: "Linux 2.6", page: man7!("2/sched_setaffinity.2"),
    "Keeps this thread on the given CPUs. It doesn't migrate, uses one core's caches and idle states, and can't \
     move away from other work there." },
    entry! { COMMON: "slice" => "sched_setattr(sched_runtime)", expected: "a span from 100us to 100ms", example: "100us",
    inherited_by: Some("threads and programs"), is_modelled: false, since: "Linux 6.12",
    page: "https://docs.kernel.org/scheduler/sched-eevdf.html",
    "For how long this thread runs at a time while others want its CPU. With a shorter slice it has an earlier \
     deadline, so it runs sooner after it wakes up, for a shorter time. Real-time policies have none." },
    entry! { COMMON: "lock-memory" => "mlockall(MCL_CURRENT | MCL_FUTURE)", expected: "on or off", example: "on",
    scope: Scope::Process, since: "Linux 2.0", page: man7!("2/mlockall.2"),
    "Keeps all memory of this process resident, so that no measurement waits for a page from disk. Children don't \
     inherit the lock." },
    entry! { COMMON: "dma-latency" => "write to /dev/cpu_dma_latency, held open",
    expected: "whole microseconds from 0us to 2000s", example: "0us", scope: Scope::MachineWhileHeld,
    since: "Linux 2.6.25", page: "https://docs.kernel.org/power/pm_qos_interface.html",
    "Forbids idle states that take longer than this to leave, on all CPUs, while it is held. Zero makes idle CPUs \
     poll: wake-ups are fastest, and the machine draws power as if it were busy." },
];
