//! Waits whose thread was woken late, waited for a CPU, needed long to return, or was throttled.

use oversleep_record::finding::Severity;
use oversleep_record::observed::Blame;
use oversleep_record::observed::culprit::{Why, policy_words};
use oversleep_record::part::Part;
use oversleep_record::words::counted;
use oversleep_record::{Nanos, ResultFile};

use super::{APPLIES_TO, HOW};
use crate::entry::{Checked, Conclusion, RemedyEntry, Scope};
use crate::finding::{Check, FindingEntry};
use crate::observed::{Cause, Kind, NOBODY, OVERSLEEP, SOME_GROUP, by_cause, delayed_by, is_own, is_unexplained};
use crate::remedies::machine::{FEWER_RUNNABLE_THREADS, RAISE_CPU_QUOTA};
use crate::remedies::observed::{PIN_THREAD, REDUCE_TRACING, RUN_FIRST, SEPARATE_CPUS, SHORTEN_RETURN, SWITCH_SOONER};

pub(super) static FINDINGS: &[FindingEntry] = &[
    FindingEntry {
        id: "OVS-Y013",
        name: "late-by-waking",
        summary: "Much time passes between the timer's callback and waking the thread.",
        applies_to: APPLIES_TO,
        scope: Scope::Observed,
        severity: Severity::Cost,
        meaning: "The callback of the timer wakes the thread. It may have to wait for the lock of a run queue; tracers run in \
                  the middle of it; a hypervisor may take the CPU.",
        how_we_know: HOW,
        what_to_do: "Stop other tracers, and compare with steal time.",
        sources: &["https://docs.kernel.org/trace/events.html"],
        remedies: &[&REDUCE_TRACING],
        check: Check::Causes(|file| step(file, Part::Wake, "waking", "the timer and waking the thread")),
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
        id: "OVS-Y015",
        name: "late-by-run-queue",
        summary: "Threads of the program were ready to run and waited for a CPU, while other tasks ran.",
        applies_to: APPLIES_TO,
        scope: Scope::Observed,
        severity: Severity::Cost,
        meaning: "A woken thread runs at once if a CPU that it may use is idle, or if its policy and priority go before those of \
                  the task that runs. Otherwise it waits until that task's turn is over.",
        how_we_know: "oversleep sees when the thread enters a run queue and when it gets a CPU, and which tasks ran on that CPU \
                      in between, with their policies and priorities.",
        what_to_do: "Keep the task that ran away from the program's CPUs, or let the program's threads go first.",
        sources: &["https://man7.org/linux/man-pages/man7/sched.7.html"],
        remedies: &[&SEPARATE_CPUS, &RUN_FIRST, &SWITCH_SOONER],
        check: Check::Causes(run_queue),
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
        what_to_do: "Raise or remove the quota, lengthen it with a burst, or run fewer threads.",
        sources: &["https://docs.kernel.org/scheduler/sched-bwc.html"],
        remedies: &[&RAISE_CPU_QUOTA, &FEWER_RUNNABLE_THREADS],
        check: Check::Causes(quota),
    },
];

/// What helps where the task that ran goes first, and where it goes after the thread.
const FIRST: &[&RemedyEntry] = &[&SEPARATE_CPUS, &RUN_FIRST];
const ALONE: &[&RemedyEntry] = &[&SEPARATE_CPUS];
const SOONER: &[&RemedyEntry] = &[&SEPARATE_CPUS, &SWITCH_SOONER];

/// A step on the way out of the wait. How long it takes is all that is seen of it.
fn step(file: &ResultFile, part: Part, what: &str, between: &str) -> Checked<Vec<Conclusion>> {
    let kinds = delayed_by(file, part, what)?;
    let cause = Cause::whole(part, &kinds);
    let (who, typical, max) = (&cause.first().identity, cause.first().typical(part), cause.longest);
    Ok(vec![cause.found(format!("{who}: {typical} pass between {between}, {max} at most"))])
}

fn run_queue(file: &ResultFile) -> Checked<Vec<Conclusion>> {
    let kinds = delayed_by(file, Part::Runq, "waiting for a CPU")?;
    let found = by_cause(Part::Runq, &kinds, |kind: &Kind<'_>| {
        let blames = kind.waits.by_blame().into_iter();
        blames.map(|blame| (culprit(blame), blame.total_ns, blame.max_ns, blame)).collect()
    });
    let mut conclusions: Vec<Conclusion> = found.iter().map(|(cause, blame)| behind(file, cause, blame)).collect();
    let seen = |kind: &Kind<'_>| kind.waits.blames.iter().map(|of| of.total_ns).fold(0, u64::saturating_add);
    let alone: Vec<(&Kind<'_>, u64)> = kinds
        .iter()
        .filter(|kind| is_unexplained(kind, Part::Runq, kind.waits.blames.iter().map(|of| of.total_ns)))
        .map(|kind| (kind, seen(kind)))
        .collect();
    if !alone.is_empty() {
        conclusions.push(behind_nobody(&Cause { instance: NOBODY.to_owned(), ..Cause::rest(Part::Runq, alone) }));
    }
    match conclusions.is_empty() {
        true => Err(Conclusion::absent("no task kept these threads waiting for long")),
        false => Ok(conclusions),
    }
}

/// A task with its policy: `burst (SCHED_FIFO, priority 50)`.
fn culprit(blame: &Blame) -> String {
    format!("{} ({})", blame.name, policy_words(blame.policy, blame.prio))
}

fn behind(file: &ResultFile, cause: &Cause<'_, '_>, blame: &Blame) -> Conclusion {
    let blames =
        cause.kinds.iter().flat_map(|kind| &kind.waits.blames).filter(|other| culprit(other) == cause.instance);
    let (mut count, mut max) = (0_u64, 0);
    blames.for_each(|blame| (count, max) = (count.saturating_add(blame.count), blame.max_ns.max(max)));
    let (name, max) = (&blame.name, Nanos(i64::try_from(max).unwrap_or(i64::MAX)));
    let total = Nanos(i64::try_from(cause.total_ns).unwrap_or(i64::MAX));
    let pinned = if blame.is_pinned { ", pinned to this CPU" } else { "" };
    let found = cause
        .found(format!(
            "{} waits for a CPU while {} runs: {total} in {}, {max} at most",
            cause.first().identity,
            cause.instance,
            counted(count, "wait")
        ))
        .rests_first_on(
            format!("{name} ({}{pinned})", policy_words(blame.policy, blame.prio)),
            format!("kept {} from a CPU, for {total} in all", counted(count, "wait")),
        );
    let stolen: u64 = cause.kinds.iter().map(|kind| kind.waits.steal_count).fold(0, u64::saturating_add);
    let found = match stolen {
        0 => found,
        count => found
            .rests_on("steal", format!("the hypervisor took time from these CPUs around {}", counted(count, "wait"))),
    };
    if blame.name == OVERSLEEP {
        return found.and("; that is oversleep, which follows these waits").cured_by(&[]);
    }
    if is_own(file, cause.first(), &blame.name) {
        let (sentence, command) = match blame.is_pinned {
            true => (
                format!(
                    "Give this thread another CPU than {name}, a thread of the program itself that is pinned to one"
                ),
                "# command, with the number of the CPU and the id of the thread\ntaskset -cp N TID",
            ),
            false => (
                "Give the program more CPUs, or let fewer of its threads run at once: these are its own".to_owned(),
                "# command, with the numbers of the CPUs\ntaskset -c N-M ./app",
            ),
        };
        return found.cured_by(ALONE).advising(&SEPARATE_CPUS, sentence, Some(command.to_owned()));
    }
    let pin = match blame.is_pinned {
        true => format!("Pin this program to another CPU (taskset -c): {name} is pinned to that one"),
        false => format!("Keep {name} away from this program's CPUs: taskset or a cpuset for either of them"),
    };
    let found = found.advising(&SEPARATE_CPUS, pin, None);
    let priority = 99 - i64::from(blame.prio);
    match blame.why {
        Why::NotYetPreempted => found.cured_by(SOONER),
        Why::HigherPolicy | Why::HigherPriority if blame.prio < 0 => found.cured_by(FIRST).advising(
            &RUN_FIRST,
            format!("Give {name} less run time, or another CPU: it goes before every other policy"),
            None,
        ),
        Why::HigherPolicy | Why::HigherPriority => found.cured_by(FIRST).advising(
            &RUN_FIRST,
            format!(
                "Or give this thread more than priority {priority} (chrt -f {}), or {name} less",
                (priority + 1).clamp(1, 99)
            ),
            Some(format!("# command\nchrt --fifo {} ./app", (priority + 1).clamp(1, 99))),
        ),
        Why::TurnNotOver => found.cured_by(FIRST).advising(
            &RUN_FIRST,
            format!("Or let this thread go first: chrt -f 1 PID (needs CAP_SYS_NICE), or nice -n 19 for {name}"),
            Some("# command\nchrt --fifo 1 ./app".to_owned()),
        ),
    }
}

/// Threads that waited for a CPU, with nobody seen on it.
fn behind_nobody(cause: &Cause<'_, '_>) -> Conclusion {
    let (kind, max) = (cause.first(), cause.longest);
    let why = match kind.waits.slack_bound_ns {
        Some(_) => "who ran instead was not seen",
        None => "less than half of it while another task was seen to run",
    };
    let found = cause.found(format!("{} waits for a CPU, for up to {max}: {why}", kind.identity));
    found.cured_by(FIRST).advising(&SEPARATE_CPUS, "Give the thread a CPU of its own (taskset, cpuset)", None)
}

fn quota(file: &ResultFile) -> Checked<Vec<Conclusion>> {
    let kinds = delayed_by(file, Part::Quota, "a CPU quota")?;
    let group = |kind: &Kind<'_>| {
        let processes = file.observation.iter().flat_map(|observation| &observation.processes);
        let own = processes.into_iter().find(|process| process.tgid == kind.waits.tgid);
        own.and_then(|process| process.cgroup.clone())
    };
    let found = by_cause(Part::Quota, &kinds, |kind: &Kind<'_>| {
        let total = u64::try_from(kind.sum(Part::Quota)).unwrap_or(u64::MAX);
        let group = group(kind);
        let name = group.clone().unwrap_or_else(|| SOME_GROUP.to_owned());
        vec![(name, total, kind.max(Part::Quota).unsigned_abs(), group)]
    });
    let conclusion = |(cause, _): &(Cause<'_, '_>, Option<String>)| {
        let (who, max, group) = (&cause.first().identity, cause.longest, &cause.instance);
        cause
            .found(format!("{who} is stopped by its CPU quota, for up to {max}"))
            .advising(
                &RAISE_CPU_QUOTA,
                format!("Raise the quota of {group} (cpu.max, or cpu.cfs_quota_us), or lengthen it with cpu.max.burst"),
                None,
            )
            .advising(
                &FEWER_RUNNABLE_THREADS,
                "Use fewer threads: together they use up the quota of a period in a fraction of it",
                None,
            )
    };
    Ok(found.iter().map(conclusion).collect())
}
