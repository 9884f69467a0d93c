//! Waits whose thread was woken late, needed long to return, or was throttled.

use oversleep_record::ResultFile;
use oversleep_record::finding::Severity;
use oversleep_record::observed::Named;
use oversleep_record::part::Part;

use super::{APPLIES_TO, HOW};
use crate::entry::{Checked, Conclusion, RemedyEntry, Scope};
use crate::finding::{Check, FindingEntry};
use crate::observed::{Cause, Kind, RARE_MIN_NS, SOME_GROUP, by_cause, delayed_by, group_of};
use crate::remedies::machine::{FEWER_RUNNABLE_THREADS, RAISE_CPU_QUOTA};
use crate::remedies::observed::{FIND_WHO_STOPS_IT, PIN_THREAD, REDUCE_TRACING, SHORTEN_RETURN};

pub(super) static FINDINGS: &[FindingEntry] = &[
    FindingEntry {
        id: "OVS-Y013",
        name: "late-by-waking",
        summary: "Much time passes between the timer's callback and waking the thread.",
        applies_to: APPLIES_TO,
        scope: Scope::Observed,
        severity: Severity::Cost,
        meaning: "The callback of the timer wakes the thread. It may have to wait for the lock of a run queue; tracers run in \
                  the middle of it; a hypervisor may take the CPU. None of this takes many milliseconds, but for the last. The timer \
                  of a thread whose group the version 1 freezer has stopped can't wake it, which isn't told from a late waking: it \
                  is woken when it is thawed.",
        how_we_know: HOW,
        what_to_do: "Stop other tracers, and compare with steal time.",
        sources: &["https://docs.kernel.org/trace/events.html"],
        remedies: &[&FIND_WHO_STOPS_IT, &REDUCE_TRACING],
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
        what_to_do: "Raise or remove the quota, lengthen it with a burst, or run fewer threads.",
        sources: &["https://docs.kernel.org/scheduler/sched-bwc.html"],
        remedies: &[&RAISE_CPU_QUOTA, &FEWER_RUNNABLE_THREADS],
        check: Check::Causes(quota),
    },
];

/// A step on the way out of the wait. How long it takes is all that is seen of it.
fn step(file: &ResultFile, part: Part, what: &str, between: &str) -> Checked<Vec<Conclusion>> {
    let kinds = delayed_by(file, part, what)?;
    Ok(vec![found(&Cause::whole(part, &kinds), between)])
}

fn found(cause: &Cause<'_, '_>, between: &str) -> Conclusion {
    let (who, typical, max) = (&cause.first().identity, cause.first().typical(cause.part), cause.longest);
    // What is rarely long is shown by its longest already.
    let most = if typical.starts_with("up to") { String::new() } else { format!(", {max} at most") };
    cause.found(format!("{who}: {typical} pass between {between}{most}"))
}

fn waking(file: &ResultFile) -> Checked<Vec<Conclusion>> {
    let kinds = delayed_by(file, Part::Wake, "waking")?;
    let cause = Cause::whole(Part::Wake, &kinds);
    let found = found(&cause, "the timer and waking the thread");
    let own = process_of(file, cause.first()).and_then(|process| process.freezer.as_deref());
    Ok(vec![match own.filter(|_| cause.longest.0 >= RARE_MIN_NS) {
        Some(group) => found.cured_by(FROZEN).advising(
            &FIND_WHO_STOPS_IT,
            format!(
                "See whether something freezes {group} now and then (freezer.state): a frozen thread is woken only when it is \
                 thawed"
            ),
            Some(format!("# command\ncat /sys/fs/cgroup/freezer{group}/freezer.state")),
        ),
        None => found.cured_by(UNFROZEN),
    }])
}

/// What helps a thread that is woken late, where its group can be frozen and where it can't.
const FROZEN: &[&RemedyEntry] = &[&FIND_WHO_STOPS_IT, &REDUCE_TRACING];
const UNFROZEN: &[&RemedyEntry] = &[&REDUCE_TRACING];

/// A process of these threads.
fn process_of<'a>(file: &'a ResultFile, kind: &Kind<'_>) -> Option<&'a Named> {
    let mut processes = file.observation.iter().flat_map(|observation| &observation.processes);
    processes.find(|process| process.tgid == kind.waits.tgid)
}

fn quota(file: &ResultFile) -> Checked<Vec<Conclusion>> {
    let kinds = delayed_by(file, Part::Quota, "a CPU quota")?;
    let group = |kind: &Kind<'_>| group_of(file, kind.waits.tgid);
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

#[cfg(test)]
mod tests {
    use oversleep_record::observed::Observation;
    use oversleep_record::part::Parts;
    use oversleep_record::testing::Sheet;

    use super::*;
    use crate::observed::testing::waits;

    #[test]
    fn a_thread_that_is_woken_very_late_may_have_been_frozen_if_its_group_can_be() {
        let advised = |wake: i64, freezer: Option<&str>| {
            let mut series = waits(1, 12, Parts { wake, ..Parts::default() });
            series.observed.as_mut().expect("it was observed").tgid = 7;
            let own = Named { tgid: 7, freezer: freezer.map(str::to_owned), ..Named::default() };
            let mut file = Sheet::linux().file;
            let observation = Observation { processes: vec![own], ..Observation::default() };
            (file.series, file.observation) = (vec![series], Some(observation));
            let found = crate::findings(&file).into_iter().find(|one| one.id == "OVS-Y013").expect("it is checked");
            found.advice.iter().map(|advice| advice.remedy.clone()).collect::<Vec<_>>()
        };
        assert_eq!(advised(120_000_000, Some("/docker/a")), ["find-who-stops-it", "reduce-tracing"]);
        assert_eq!(advised(120_000_000, None), ["reduce-tracing"]);
        assert_eq!(advised(20_000, Some("/docker/a")), ["reduce-tracing"]);
    }
}
