//! What a measurement may change on macOS.

use super::COMMON;
use crate::catalogue::{archive, entry, man};
use crate::tunable::{Scope, TunableInfo, Word};

const AFFINITY: &str = archive!("releasenotes/Performance/RN-AffinityAPI/index.html");

/// The tunables of macOS, in the order of its registry.
pub const MACOS: &[TunableInfo] = &[
    entry! { COMMON: "latency" => "thread_policy_set(THREAD_LATENCY_QOS_POLICY)",
    expected: "tier-0 to tier-5, or unspecified", example: "tier-0",
    words: &[Word::alone("unspecified"), Word::alone("tier-0"), Word::alone("tier-1"), Word::alone("tier-2"),
        Word::alone("tier-3"), Word::alone("tier-4"), Word::alone("tier-5")], sets_resolution: true,
    since: "OS X 10.10",
    page: archive!("documentation/Performance/Conceptual/power_efficiency_guidelines_osx/Timers.html"),
    "How much later than requested the kernel may end this thread's timed waits. By default that is an eighth of \
     the request up to 1 ms in tier 0, a quarter up to 5 ms in tier 1, half up to 20 ms in tier 2, four times the \
     request up to 75 ms in tier 3, and up to 10 s in tiers 4 and 5. A setting takes the thread out of its service \
     class, whose tier would count too." },
    entry! { COMMON: "qos" => "pthread_set_qos_class_self_np",
    expected: "user-interactive, user-initiated, default, utility or background (relative priority 0 to -15), as \
         in utility:-1", example: "user-interactive",
    words: &[Word::ranging("user-interactive", -15, 0), Word::ranging("user-initiated", -15, 0),
        Word::ranging("default", -15, 0), Word::ranging("utility", -15, 0), Word::ranging("background", -15, 0)],
    since: "OS X 10.10",
    page: archive!("documentation/Performance/Conceptual/power_efficiency_guidelines_osx/PrioritizeWorkAtTheTaskLevel.html"),
    "How urgently the user waits for this thread. The class decides the thread's priority, how much its timers are \
     coalesced (user-interactive least, utility and background most) and, on machines with two kinds of cores, \
     where it runs (background on the efficient ones)." },
    entry! { COMMON: "policy" => "thread_policy_set(THREAD_TIME_CONSTRAINT_POLICY), pthread_setschedparam",
    expected: "time-constraint, or other, rr or fifo (priority 15 to 47), as in fifo:47",
    example: "time-constraint",
    words: &[Word::ranging("other", 15, 47), Word::ranging("rr", 15, 47), Word::ranging("fifo", 15, 47),
        Word::alone("time-constraint")], since: "Mac OS X 10.0", page: archive!("technotes/tn2169/_index.html"),
    "How the scheduler treats this thread. time-constraint is the real-time policy (1 ms of work in every 5 ms, as \
     for audio): its waits aren't coalesced, and it needs no privilege. fifo and rr only fix the priority, and \
     their waits are still coalesced. Each takes the thread out of its service class; fifo, rr and other take it \
     out for good, so set it only on a thread that is about to end." },
    entry! { COMMON: "pin" => "none", expected: "one or more CPU numbers", example: "0", is_modelled: false,
    since: "no version of macOS", page: AFFINITY,
    "Not available: macOS has no call that keeps a thread on a CPU. The tunable qos moves threads between kinds of \
     cores, and affinity makes threads share a cache on Intel Macs." },
    entry! { COMMON: "affinity" => "thread_policy_set(THREAD_AFFINITY_POLICY)",
    expected: "tag with a number above 0, as in tag:1", example: "tag:1",
    words: &[Word::ranging("tag", 1, i32::MAX)], is_modelled: false, since: "Mac OS X 10.5, Intel", page: AFFINITY,
    "A hint: threads with the same tag should share a cache, threads with different tags should not. It names no \
     CPU and keeps no thread in place. Apple silicon doesn't accept it." },
    entry! { COMMON: "lock-memory" => "mlockall(MCL_CURRENT | MCL_FUTURE)", expected: "on or off", example: "on",
    scope: Scope::Process, since: "no version of macOS so far",
    page: man!("2/mlock.2"),
    "Keeps all memory of this process resident. macOS declares the call but answers that it isn't implemented: a \
     process can lock single ranges, not all of its memory." },
];
