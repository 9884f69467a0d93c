//! Remedies that a program applies in its own language. Each is measured beside what it replaces, in the same run.

use oversleep_record::{ExperimentId, Nanos, ResultFile, Series};

use crate::entry::{RemedyEntry, Scope, Trial};
use crate::runtimes::{engines, waits};

/// Whether a result has a runtime of that name.
fn has(file: &ResultFile, name: &str) -> bool {
    file.series.iter().any(|series| series.runtime.as_ref().is_some_and(|runtime| runtime.name == name))
}

/// A request that every kind of rounding changes, and that every run has.
const REQUEST: Nanos = Nanos::from_micros(300);

/// Two waits of one runtime for that request, the first that has both.
fn both<'a>(file: &'a ResultFile, runtime: &str, before: &[&str], after: &str) -> Option<(&'a Series, &'a Series)> {
    let mut all = waits(file);
    all.retain(|wait| wait.clock_fault.is_none());
    let mut worse = all.iter().filter(|wait| wait.runtime.name == runtime && before.contains(&wait.name));
    worse.find_map(|wait| {
        let better = all.iter().find(|other| other.runtime == wait.runtime && other.name == after)?;
        let both = [wait, better].map(|wait| wait.at(REQUEST).filter(|series| series.has_values()));
        both[0].zip(both[1])
    })
}

const fn measured(waits: &'static [&'static str], compare: fn(&ResultFile) -> Option<(&Series, &Series)>) -> Trial {
    Trial::ByExperiment { experiment: ExperimentId::R1, waits, compare }
}

pub(crate) static PARK_NANOS: RemedyEntry = RemedyEntry {
    id: "java-park-nanos",
    scope: Scope::Where(|file| has(file, "java")),
    summary: "The wait passes nanoseconds on: 300 µs take 300 µs and the system's own lateness.",
    how: "In Java, call LockSupport.parkNanos in a loop that checks the deadline; it may return early by its contract. Since \
          Java 21, Thread.sleep(Duration) keeps the nanoseconds too.",
    example: Some(
        "// Java\nlong deadline = System.nanoTime() + 300_000;\nfor (long left; (left = deadline - System.nanoTime()) > 0; ) {\n    \
         LockSupport.parkNanos(left);\n}",
    ),
    trial: measured(&["LockSupport.parkNanos"], |file| {
        both(file, "java", &["Thread.sleep(ms,ns)"], "LockSupport.parkNanos")
    }),
};

pub(crate) static ATOMICS_WAIT: RemedyEntry = RemedyEntry {
    id: "node-atomics-wait",
    scope: Scope::Where(|file| has(file, "node")),
    summary: "The wait takes a fraction of a millisecond and keeps it.",
    how: "In Node, call Atomics.wait in a worker thread. It blocks the thread, so keep it out of the main one.",
    example: Some(
        "// Node, in a worker\nconst cell = new Int32Array(new SharedArrayBuffer(4))\nAtomics.wait(cell, 0, 0, 0.3) // ms",
    ),
    trial: measured(&["Atomics.wait"], |file| both(file, "node", &["setTimeout"], "Atomics.wait")),
};

pub(crate) static TIME_SLEEP: RemedyEntry = RemedyEntry {
    id: "python-time-sleep",
    scope: Scope::Where(|file| has(file, "python")),
    summary: "The wait leaves the event loop, whose timeout counts in milliseconds.",
    how: "In Python, call time.sleep in a thread of its own, and let asyncio await it with asyncio.to_thread.",
    example: Some("# Python\nawait asyncio.to_thread(time.sleep, 0.0003)"),
    trial: measured(&["time.sleep"], |file| {
        both(file, "python", &["asyncio.sleep", "asyncio.wait_for", "select.poll", "select.epoll"], "time.sleep")
    }),
};

pub(crate) static SYSCALL_NANOSLEEP: RemedyEntry = RemedyEntry {
    id: "go-syscall-nanosleep",
    scope: Scope::Where(|file| has(file, "go")),
    summary: "The wait is the system's own and takes nanoseconds.",
    how: "In Go on Unix, call syscall.Nanosleep for short waits that must be exact. It keeps a thread of the system busy \
          waiting, so don't call it from thousands of goroutines.",
    example: Some("// Go\nt := syscall.NsecToTimespec(300_000)\nfor syscall.Nanosleep(&t, &t) == syscall.EINTR {\n}"),
    trial: measured(&["syscall.Nanosleep"], |file| {
        both(file, "go", &["time.Sleep", "time.Timer", "time.After", "context.WithTimeout"], "syscall.Nanosleep")
    }),
};

pub(crate) static PPOLL_OR_TIMERFD: RemedyEntry = RemedyEntry {
    id: "c-timerfd",
    scope: Scope::Where(|file| has(file, "c")),
    summary: "A timer with nanoseconds wakes the event loop, and ignores the thread's timer slack.",
    how: "In C on Linux, add a timerfd to the descriptors that poll or epoll_wait watches, or call ppoll, which takes \
          nanoseconds.",
    example: Some("/* C */ int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);"),
    trial: measured(&["timerfd"], |file| both(file, "c", &["poll", "epoll_wait"], "timerfd")),
};

pub(crate) static LOWER_ENGINE_PARK: RemedyEntry = RemedyEntry {
    id: "jet-lower-park",
    scope: Scope::Where(|file| has(file, "jet")),
    summary: "The engine's threads look for items sooner, which takes more CPU time.",
    how: "For Hazelcast Jet, set jet.idle.cooperative.min.microseconds, jet.idle.cooperative.max.microseconds and the same \
          two of jet.idle.noncooperative to 1. On Windows a park takes a tick of the timer however short it is, so hold a \
          timer resolution of 1 ms there as well.",
    example: Some(
        "java -Djet.idle.cooperative.min.microseconds=1 -Djet.idle.cooperative.max.microseconds=1 \\\n     \
         -Djet.idle.noncooperative.min.microseconds=1 -Djet.idle.noncooperative.max.microseconds=1 …",
    ),
    trial: Trial::ByExperiment { experiment: ExperimentId::R5, waits: &["paced"], compare: slowest_engine },
};

/// The latency that other parks shorten most, without them and with them.
fn slowest_engine(file: &ResultFile) -> Option<(&Series, &Series)> {
    let runs = engines::runs(file);
    let paced = runs.iter().filter(|run| !run.is_flat_out());
    let pairs = paced.filter_map(|run| {
        let plain = run.as_it_comes(&runs)?;
        Some((run.gain(&plain)?, plain.series, run.series))
    });
    pairs.max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, before, after)| (before, after))
}
