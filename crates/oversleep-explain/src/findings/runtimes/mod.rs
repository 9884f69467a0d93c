//! Findings about language runtimes: how each rounds a request, what zero means, whether its clock can be trusted.

mod engine;
mod instruments;
mod requests;
mod tricks;

use oversleep_record::ExperimentId;
use oversleep_record::finding::Severity;

use crate::entry::{Conclusion, Scope};
use crate::finding::{Check, FindingEntry};
use crate::remedies::runtimes::{
    ATOMICS_WAIT, JAVA_THREAD_SLEEP, PARK_NANOS, PPOLL_OR_TIMERFD, RUST_THREAD_SLEEP, SYSCALL_NANOSLEEP, TIME_SLEEP,
    TRIED_THERE,
};
use crate::runtimes::rule::Rule;
use instruments::{busy, clock_rate};
use requests::{early, of_rule, ticks, zero};
use tricks::tricks;

/// Results with waits or clocks of language runtimes.
pub(crate) const RUNTIMES: Scope = Scope::Where(|file| {
    file.series.iter().any(|series| series.runtime.is_some() && series.experiment != ExperimentId::TRIAL)
});

const ANY: &str = "every system; the runtimes that oversleep has probes for, and programs that speak its protocol";
const HOW: &str = "oversleep requests durations on, just below and between whole milliseconds, and compares what was measured \
                   with what each rule would give. The rule that leaves the most constant rest is told, if no other comes \
                   near it.";

pub(super) static FAMILIES: &[&[FindingEntry]] = &[FINDINGS, engine::FINDINGS];

/// The common fields of most of them.
const OF_RUNTIMES: FindingEntry = FindingEntry {
    id: "",
    name: "",
    summary: "",
    applies_to: ANY,
    scope: RUNTIMES,
    severity: Severity::Cost,
    meaning: "",
    how_we_know: HOW,
    what_to_do: "",
    sources: &[],
    remedies: &[],
    check: Check::Rule(|_| Err(Conclusion::lacks("it has no rule"))),
};

const ROUNDING: [Rule; 4] =
    [Rule::RoundsUp, Rule::RoundsUpToGrid, Rule::RoundsToNearest, Rule::RoundsToNearestAtLeastOne];

static FINDINGS: &[FindingEntry] = &[
    FindingEntry {
        id: "OVS-R001",
        name: "runtime-truncates",
        summary: "Some waits of language runtimes drop what is less than a millisecond: a shorter request does not wait.",
        meaning: "A call that takes an integer of milliseconds, or converts a finer type to one, turns 1.5 ms into 1 ms and \
                  300 µs into 0. A loop that should sleep between polls then spins, and a program that must not be early is.",
        what_to_do: "Use a call of the same runtime that passes nanoseconds on; the table shows which are exact here.",
        sources: &["https://docs.oracle.com/en/java/javase/21/docs/api/java.base/java/lang/Thread.html#sleep(long)"],
        remedies: &[&PARK_NANOS, &ATOMICS_WAIT, &TRIED_THERE],
        check: Check::Rule(|file| of_rule(file, &[Rule::Truncates, Rule::TruncatesToAtLeastOne])),
        ..OF_RUNTIMES
    },
    FindingEntry {
        id: "OVS-R002",
        name: "runtime-rounds-up",
        summary: "Some waits of language runtimes round a request up to whole milliseconds.",
        meaning: "An event loop that waits in poll or epoll_wait passes whole milliseconds, rounded up so as never to be \
                  early: 300 µs take 1 ms and more. The timers of Go while it is idle, of asyncio and of tokio end so, and \
                  Thread.sleep of Java before 21 rounds by itself.",
        what_to_do: "Where a finer wait matters, leave the event loop for it: a blocking call that takes nanoseconds, on a \
                     thread of its own.",
        sources: &[
            "https://man7.org/linux/man-pages/man2/epoll_wait.2.html",
            "https://bugs.openjdk.org/browse/JDK-8306463",
        ],
        remedies: &[&PARK_NANOS, &TIME_SLEEP, &SYSCALL_NANOSLEEP, &PPOLL_OR_TIMERFD, &TRIED_THERE],
        check: Check::Rule(|file| of_rule(file, &ROUNDING)),
        ..OF_RUNTIMES
    },
    FindingEntry {
        id: "OVS-R201",
        name: "runtime-waits-for-tick",
        summary: "Some waits of language runtimes end at the next timer interrupt, however short the request is.",
        applies_to: "Windows",
        meaning: "A runtime that waits in Sleep, WaitForSingleObject or a completion port ends at a timer interrupt, every \
                  15.6 ms unless the process requests a finer resolution. Which calls do, and which runtimes request a \
                  resolution by themselves, differs between calls and versions of one runtime.",
        how_we_know: "The lateness of each wait is compared with that of the same runtime's other waits, for the same \
                      request.",
        what_to_do: "Use another call of the same runtime where one is better on this machine; the table shows each. \
                     Otherwise hold a resolution of 1 ms while short waits are needed.",
        sources: &["https://learn.microsoft.com/windows/win32/api/timeapi/nf-timeapi-timebeginperiod"],
        remedies: &[&JAVA_THREAD_SLEEP, &RUST_THREAD_SLEEP, &TRIED_THERE],
        check: Check::Rule(ticks),
        ..OF_RUNTIMES
    },
    FindingEntry {
        id: "OVS-R003",
        name: "runtime-ends-early",
        summary: "Some waits of language runtimes end before the duration they were given has passed.",
        meaning: "A deadline in whole milliseconds of a clock lies anywhere within the next millisecond, so the wait is \
                  shorter by the phase at which it was requested. A timer of an event loop counts from the time that the \
                  loop last read, which is earlier than the call.",
        how_we_know: "Each wait is timed from just before the call. Waits count as early that end more than 1 µs before what \
                      the call was given. A timer with a period is judged by its deadlines: after a late one, a shorter \
                      interval is right.",
        what_to_do: "Read a monotonic clock after the wait, and wait again for what is left.",
        check: Check::Rule(early),
        ..OF_RUNTIMES
    },
    FindingEntry {
        id: "OVS-R004",
        name: "zero-waits-forever",
        summary: "With some calls a request of zero means forever, or disarms the timer.",
        severity: Severity::Note,
        meaning: "A request that is computed (deadline − now) comes down to zero when the deadline has passed, and a request \
                  below a millisecond does so where the call counts in milliseconds. Object.wait(0) then waits for a \
                  notification, and a timer that is set to zero never fires.",
        how_we_know: "Each call is given ever shorter requests, zero last. One that has not returned 400 ms after it was due \
                      is ended.",
        what_to_do: "Check for a deadline that has passed before you wait, and round a request up to the call's unit.",
        sources: &["https://man7.org/linux/man-pages/man2/timerfd_create.2.html"],
        check: Check::Rule(zero),
        ..OF_RUNTIMES
    },
    FindingEntry {
        id: "OVS-R005",
        name: "runtime-clock-rate",
        summary: "A program's clock runs slow or fast, goes back, or moves in too large steps, so its durations are wrong.",
        severity: Severity::Fault,
        meaning: "A counter that is divided by the wrong frequency, a clock of CPU time, or a tick that is lost now and then \
                  makes an instrument that looks plausible. One published measurement was taken with a clock that ran 10 to \
                  13 % slow.",
        how_we_know: "Every program states its clock when it begins and when it ends. oversleep compares that span with its \
                      own clock. Timestamps that follow each other show the clock's steps, and whether it goes back.",
        what_to_do: "Measure with the runtime's monotonic clock, and check it against another one over a second.",
        check: Check::Rule(clock_rate),
        ..OF_RUNTIMES
    },
    FindingEntry {
        id: "OVS-R006",
        name: "runtime-busy",
        summary: "What else runs in a runtime changes how late its waits end.",
        applies_to: "runtimes that share one lock, one event loop or one scheduler among their threads",
        meaning: "A thread of Python that wakes up waits for the interpreter's lock, up to a switch interval of 5 ms per \
                  computing thread. Go's scheduler looks at its timers itself while goroutines run, so a wait is exact then, \
                  until a goroutine keeps its processor; idle, it waits in the kernel with whole milliseconds.",
        how_we_know: "The same call is measured in an idle program and in one where another thread or task computes.",
        what_to_do: "Keep computing threads out of the process that waits, or lower sys.setswitchinterval in Python.",
        sources: &["https://docs.python.org/3/library/sys.html#sys.setswitchinterval"],
        check: Check::Rule(busy),
        ..OF_RUNTIMES
    },
    FindingEntry {
        id: "OVS-R007",
        name: "resolution-tricks",
        summary: "Published tricks for Java raise the timer resolution on Windows, and change nothing where there is none.",
        applies_to: "Java on every system",
        scope: Scope::Where(|file| file.experiment(ExperimentId::B11).next().is_some()),
        severity: Severity::Note,
        meaning: "A daemon thread in an endless Thread.sleep and an opened MIDI device hold a timer resolution of 1 ms on \
                  Windows, in the process of the JVM. So they still work there since version 2004, where a resolution reaches \
                  only the process that requests it, and no longer help other processes. The option ForceTimeHighResolution \
                  holds none: HotSpot looks at it when jvm.dll is loaded, before it reads its options. Linux and macOS have \
                  no such resolution.",
        how_we_know: "LockSupport.parkNanos is measured for 1 ms as it is and with each trick, in alternating processes.",
        what_to_do: "Leave them out where they change nothing. On Windows, hold a resolution in the process that waits, or use \
                     a high-resolution timer.",
        sources: &[
            "https://randomascii.wordpress.com/2020/10/04/windows-timer-resolution-the-great-rule-change/",
            "https://www.javamex.com/tutorials/threads/sleep_issues.shtml",
            "https://github.com/openjdk/jdk/blob/0016902e6b848eefba6da866845fe99d7fee2b32/src/hotspot/os/windows/os_windows.cpp",
            "https://github.com/eclipse-openj9/openj9/issues/23343",
        ],
        check: Check::Rule(tricks),
        ..OF_RUNTIMES
    },
];

#[cfg(test)]
mod tests;
