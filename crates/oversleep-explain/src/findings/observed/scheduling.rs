//! Waits whose thread was woken late, needed long to return, or was throttled.

use oversleep_record::ResultFile;
use oversleep_record::finding::Severity;
use oversleep_record::part::Part;

use super::{APPLIES_TO, HOW};
use crate::entry::{Checked, Conclusion, Scope};
use crate::finding::{Check, FindingEntry};
use crate::observed::groups::Quota;
use crate::observed::{Cause, Kind, by_cause, delayed_by};
use crate::remedies::machine::{FEWER_RUNNABLE_THREADS, RAISE_CPU_QUOTA};
use crate::remedies::observed::{PIN_THREAD, REDUCE_TRACING, SHORTEN_RETURN};

pub(super) static FINDINGS: &[FindingEntry] = &[
    FindingEntry {
        id: "OVS-Y013",
        name: "late-by-waking",
        summary: "Much time passes between the timer's callback and waking the thread.",
        applies_to: APPLIES_TO,
        scope: Scope::Observed,
        severity: Severity::Cost,
        meaning: "The callback of the timer wakes the thread. It may have to wait for the lock of a run queue; tracers run in \
                  the middle of it; a hypervisor may take the CPU. None of this takes many milliseconds, but for the last.",
        how_we_know: HOW,
        what_to_do: "Stop other tracers, and compare with steal time.",
        sources: &["https://docs.kernel.org/trace/events.html"],
        remedies: &[&REDUCE_TRACING],
        check: Check::Causes(waking),
    },
    FindingEntry {
        id: "OVS-Y014",
        name: "late-by-remote-waking",
        summary: "Much time passes from waking the thread until it is in a run queue, mostly of another CPU.",
        applies_to: APPLIES_TO,
        scope: Scope::Observed,
        severity: Severity::Cost,
        meaning: "A thread whose timer fires on one CPU and which runs on another is woken across them: by an interrupt of the \
                  other CPU, which has to leave its idle state first, or by taking its lock.",
        how_we_know: HOW,
        what_to_do: "Pin the thread, so that its timer fires where it runs.",
        sources: &["https://man7.org/linux/man-pages/man1/taskset.1.html"],
        remedies: &[&PIN_THREAD],
        check: Check::Causes(|file| step(file, Part::Ipi, "waking across CPUs", "waking the thread and its run queue")),
    },
    FindingEntry {
        id: "OVS-Y016",
        name: "late-by-return",
        summary: "Threads of the program need long from getting a CPU to the end of the call.",
        applies_to: APPLIES_TO,
        scope: Scope::Observed,
        severity: Severity::Cost,
        meaning: "Before a call returns, the kernel checks the descriptors that poll and select wait for, handles page faults, \
                  and runs tracers. With thousands of descriptors this takes milliseconds.",
        how_we_know: HOW,
        what_to_do: "Wait for fewer descriptors or use epoll, and lock the program's memory.",
        sources: &["https://man7.org/linux/man-pages/man7/epoll.7.html"],
        remedies: &[&SHORTEN_RETURN],
        check: Check::Causes(|file| {
            step(file, Part::Ret, "the return from the call", "getting a CPU and the end of the call")
        }),
    },
    FindingEntry {
        id: "OVS-Y017",
        name: "late-by-quota",
        summary: "A CPU quota stopped threads of the program in their waits.",
        applies_to: "programs on Linux in a control group with a CPU quota, followed in the kernel",
        scope: Scope::Observed,
        severity: Severity::Cost,
        meaning: "When the threads of a control group have used up its budget of CPU time, none of them runs until the period \
                  ends, 100 ms by default, whatever it is waiting for. Several busy threads use it up together, early in the \
                  period.",
        how_we_know: "oversleep reads how long the group of each thread was throttled while it was on its way out of the wait.",
        what_to_do: "Raise or remove the quota, allow bursts (cpu.max.burst), or run fewer threads.",
        sources: &["https://docs.kernel.org/scheduler/sched-bwc.html"],
        remedies: &[&RAISE_CPU_QUOTA, &FEWER_RUNNABLE_THREADS],
        check: Check::Causes(quota),
    },
];

/// A step on the way out of the wait. How long it takes is all that is seen of it.
fn step(file: &ResultFile, part: Part, what: &str, between: &str) -> Checked<Vec<Conclusion>> {
    let kinds = delayed_by(file, part, what)?;
    let cause = Cause::whole(part, &kinds);
    let (who, typical, max) = (&cause.first().identity, cause.first().typical(cause.part), cause.longest);
    // What is rarely long is shown by its longest already.
    let most = if typical.starts_with("up to") { String::new() } else { format!(", {max} at most") };
    Ok(vec![cause.found(format!("{who}: {typical} pass between {between}{most}"))])
}

fn waking(file: &ResultFile) -> Checked<Vec<Conclusion>> {
    step(file, Part::Wake, "waking", "the timer and waking the thread")
}

fn quota(file: &ResultFile) -> Checked<Vec<Conclusion>> {
    let kinds = delayed_by(file, Part::Quota, "a CPU quota")?;
    let found = by_cause(Part::Quota, &kinds, |kind: &Kind<'_>| {
        let total = u64::try_from(kind.sum(Part::Quota)).unwrap_or(u64::MAX);
        let of = Quota::of(file, kind.waits.tgid);
        vec![(of.whose(), total, kind.max(Part::Quota).unsigned_abs(), of)]
    });
    let conclusion = |(cause, of): &(Cause<'_, '_>, Quota<'_>)| {
        let (who, max) = (&cause.first().identity, cause.longest);
        let (raise, command) = of.raise();
        cause
            .found(format!("{who} is stopped by its CPU quota{}, for up to {max}", of.amount()))
            .advising(&RAISE_CPU_QUOTA, raise, command)
            .advising(
                &FEWER_RUNNABLE_THREADS,
                "Use fewer threads: together they use up the quota of a period in a fraction of it",
                None,
            )
    };
    Ok(found.iter().map(conclusion).collect())
}
