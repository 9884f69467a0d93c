//! Remedies that a program applies in its own language. Each is measured beside what it replaces, in the same run.

use oversleep_record::{ExperimentId, Nanos, ResultFile, Series};

use crate::entry::{RemedyEntry, Scope, Trial};
use crate::figures::{is_gain, p50};
use crate::runtimes::{engines, waits};

/// A request that every kind of rounding changes, and that every run has.
const REQUEST: Nanos = Nanos::from_micros(300);

/// A wait of a runtime that replaces others of it: their names, and that of the better one by system or form.
type Replaces = (&'static str, &'static [&'static str], &'static [&'static str]);

const PARK: Replaces =
    ("java", &["Thread.sleep(ms,ns)", "Thread.sleep", "Object.wait(ms,ns)", "Object.wait"], &["LockSupport.parkNanos"]);
const HELD_SLEEP: Replaces = (
    "java",
    &["LockSupport.parkNanos", "Condition.awaitNanos", "ScheduledExecutorService.schedule", "BlockingQueue.poll"],
    &["Thread.sleep", "Thread.sleep(ms,ns)"],
);
const ATOMICS: Replaces = ("node", &["setTimeout", "setInterval"], &["Atomics.wait"]);
const SLEEP: Replaces =
    ("python", &["asyncio.sleep", "asyncio.wait_for", "select.poll", "select.epoll"], &["time.sleep"]);
const NANOSLEEP: Replaces =
    ("go", &["time.Sleep", "time.Timer", "time.After", "time.Ticker", "context.WithTimeout"], &["syscall.Nanosleep"]);
const TIMER_FD: Replaces = ("c", &["poll", "epoll_wait", "c.poll", "c.epoll_wait"], &["timerfd", "c.timerfd"]);
const RUST_SLEEP: Replaces =
    ("rust", &["thread::park_timeout", "Condvar::wait_timeout", "mpsc::recv_timeout"], &["thread::sleep"]);

/// The two waits of one runtime for one request, where the better one is later than what it replaces by less; of several,
/// those that differ most.
fn both(file: &ResultFile, (runtime, before, after): Replaces) -> Option<(&Series, &Series)> {
    let mut all = waits(file);
    all.retain(|wait| wait.clock_fault.is_none() && wait.runtime.name == runtime);
    let mut pairs = Vec::new();
    for wait in all.iter().filter(|wait| before.contains(&wait.name)) {
        for better in all.iter().filter(|other| after.contains(&other.name) && other.goes_with(wait)) {
            let at = |requested| Some([wait.at(requested)?, better.at(requested)?]);
            let both = std::iter::once(REQUEST).chain(wait.requests()).filter_map(at);
            pairs.extend(both.into_iter().find(|both| both.iter().all(|series| series.has_values())));
        }
    }
    pairs.into_iter().map(|[before, after]| (before, after)).max_by_key(|(before, after)| p50(before).0 - p50(after).0)
}

/// Whether the better wait is better on this machine.
fn gains(file: &ResultFile, replaces: Replaces) -> bool {
    both(file, replaces).is_some_and(|(before, after)| is_gain(p50(before).0, p50(after).0))
}

const fn measured(waits: &'static [&'static str], compare: fn(&ResultFile) -> Option<(&Series, &Series)>) -> Trial {
    Trial::ByExperiment { experiment: ExperimentId::R1, waits, compare }
}

pub(crate) static PARK_NANOS: RemedyEntry = RemedyEntry {
    id: "java-park-nanos",
    scope: Scope::Where(|file| gains(file, PARK)),
    summary: "The wait passes nanoseconds on: 300 µs take 300 µs and the system's own lateness.",
    how: "In Java on Linux and macOS, call LockSupport.parkNanos in a loop that checks the deadline; it may return early by its \
          contract. Since Java 21, Thread.sleep(Duration) keeps the nanoseconds too.",
    example: Some(
        "// Java\nlong deadline = System.nanoTime() + 300_000;\nfor (long left; (left = deadline - System.nanoTime()) > 0; ) {\n    \
         LockSupport.parkNanos(left);\n}",
    ),
    trial: measured(PARK.2, |file| both(file, PARK)),
};

pub(crate) static JAVA_THREAD_SLEEP: RemedyEntry = RemedyEntry {
    id: "java-thread-sleep",
    scope: Scope::Where(|file| gains(file, HELD_SLEEP)),
    summary: "The JDK holds a timer resolution of 1 ms during the wait, so it ends within 2 ms instead of at the next tick.",
    how: "In Java on Windows, call Thread.sleep for a span that is no multiple of 10 ms; the JDK then requests 1 ms itself.",
    example: Some("// Java\nThread.sleep(1);"),
    trial: measured(HELD_SLEEP.2, |file| both(file, HELD_SLEEP)),
};

pub(crate) static RUST_THREAD_SLEEP: RemedyEntry = RemedyEntry {
    id: "rust-thread-sleep",
    scope: Scope::Where(|file| gains(file, RUST_SLEEP)),
    summary: "The wait arms a high-resolution timer, which no tick delays.",
    how: "In Rust on Windows, call std::thread::sleep, which arms a high-resolution timer since Rust 1.75.",
    example: Some("// Rust\nstd::thread::sleep(Duration::from_micros(300));"),
    trial: measured(RUST_SLEEP.2, |file| both(file, RUST_SLEEP)),
};

pub(crate) static ATOMICS_WAIT: RemedyEntry = RemedyEntry {
    id: "node-atomics-wait",
    scope: Scope::Where(|file| gains(file, ATOMICS)),
    summary: "The wait takes a fraction of a millisecond and keeps it.",
    how: "In Node, call Atomics.wait in a worker thread. It blocks the thread, so keep it out of the main one.",
    example: Some(
        "// Node, in a worker\nconst cell = new Int32Array(new SharedArrayBuffer(4))\nAtomics.wait(cell, 0, 0, 0.3) // ms",
    ),
    trial: measured(ATOMICS.2, |file| both(file, ATOMICS)),
};

pub(crate) static TIME_SLEEP: RemedyEntry = RemedyEntry {
    id: "python-time-sleep",
    scope: Scope::Where(|file| gains(file, SLEEP)),
    summary: "The wait leaves the event loop, whose timeout counts in milliseconds.",
    how: "For the waits of asyncio and select in Python: call time.sleep in a thread of its own, and let asyncio await it with \
          asyncio.to_thread (from Python 3.9 on; on Windows, where time.sleep waits for the tick before, from 3.11 on).",
    example: Some("# Python\nawait asyncio.to_thread(time.sleep, 0.0003)"),
    trial: measured(SLEEP.2, |file| both(file, SLEEP)),
};

pub(crate) static SYSCALL_NANOSLEEP: RemedyEntry = RemedyEntry {
    id: "go-syscall-nanosleep",
    scope: Scope::Where(|file| gains(file, NANOSLEEP)),
    summary: "The wait is the system's own and takes nanoseconds.",
    how: "In Go on Unix, call syscall.Nanosleep for short waits that must be exact. It keeps a thread of the system busy \
          waiting, so don't call it from thousands of goroutines.",
    example: Some("// Go\nt := syscall.NsecToTimespec(300_000)\nfor syscall.Nanosleep(&t, &t) == syscall.EINTR {\n}"),
    trial: measured(NANOSLEEP.2, |file| both(file, NANOSLEEP)),
};

pub(crate) static PPOLL_OR_TIMERFD: RemedyEntry = RemedyEntry {
    id: "c-timerfd",
    scope: Scope::Where(|file| gains(file, TIMER_FD)),
    summary: "A timer with nanoseconds wakes the event loop, and ignores the thread's timer slack.",
    how: "In C on Linux, add a timerfd to the descriptors that poll or epoll_wait watches, or call ppoll, which takes \
          nanoseconds.",
    example: Some("/* C */ int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);"),
    trial: measured(TIMER_FD.2, |file| both(file, TIMER_FD)),
};

/// What a modelled machine says of a late call, among its other findings: each has been tried there.
pub(crate) static TRIED_THERE: RemedyEntry = RemedyEntry {
    id: "runtime-tried-there",
    scope: Scope::Where(|file| waits(file).iter().any(|wait| wait.helps().is_some())),
    summary: "The wait ends closer to its time on the machine that was asked: each call and setting was tried on it.",
    how: "For a machine that you haven't got, ask `oversleep ask 'CALL(1ms)' --on MACHINE`: what helps the call there is part of \
          the answer, with what it takes.",
    example: None,
    trial: Trial::Never("the model of that machine has done so, and the sentence has the figures"),
};

pub(crate) static LOWER_ENGINE_PARK: RemedyEntry = RemedyEntry {
    id: "jet-lower-park",
    scope: Scope::Where(|file| file.series.iter().any(|one| one.runtime.as_ref().is_some_and(|it| it.name == "jet"))),
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
