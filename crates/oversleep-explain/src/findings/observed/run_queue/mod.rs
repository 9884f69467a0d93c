//! Waits whose thread was ready to run and had no CPU: because of its own policy or group, or because of the tasks that ran.

use oversleep_record::finding::Severity;
use oversleep_record::observed::Blame;
use oversleep_record::observed::culprit::{WINDOWS_POLICY, Whose, Why, policy_words};
use oversleep_record::part::Part;
use oversleep_record::words::counted;
use oversleep_record::{FactName, Nanos, ResultFile};

mod kept;
mod windows;

use super::APPLIES_TO;
use super::commands::{is_of_android, move_processes, move_threads, raise_threads};
use super::own_share::{NICE_0, Own, SCHED_IDLE, advice, name};
use super::real_time::{FAIR, RESERVED, is_in_reserved_time, leave_time};
use super::sessions::{Apart, go_last};
use crate::entry::{Checked, Conclusion, RemedyEntry, Scope};
use crate::finding::{Check, FindingEntry};
use crate::observed::{
    Cause, IDLE_CPUS, Kind, NOBODY, OVERSLEEP, UNKNOWN_CPUS, by_cause, delayed_by, has_ended, is_own, is_unexplained,
    kinds,
};
use crate::read::is_recording;
use crate::remedies::linux::FORBID_DEEP_IDLE;
use crate::remedies::machine::LIFT_REAL_TIME_THROTTLING;
use crate::remedies::observed::{
    FOLLOW_LESS, RAISE_GROUP_WEIGHT, RESTORE_PRIORITY, RUN_FIRST, SEPARATE_CPUS, SWITCH_SOONER,
};
use kept::Kept;
use windows::behind_on_windows;

pub(super) static FINDINGS: &[FindingEntry] = &[FindingEntry {
    id: "OVS-Y015",
    name: "late-by-run-queue",
    summary: "Threads of the program were ready to run and waited for a CPU, while other tasks ran.",
    applies_to: APPLIES_TO,
    scope: Scope::Observed,
    severity: Severity::Cost,
    meaning: "A woken thread runs at once if a CPU that it may use is idle, or if its policy and priority go before those of \
                  the task that runs. Otherwise it waits until that task's turn is over. A thread of a low policy, or with a \
                  nice value above 0, waits behind every ordinary task. So does one whose control group has a low cpu.weight: its \
                  threads share what the group gets beside other groups, whatever their nice values. Without control \
                  groups, Linux makes such a group of each session (autogroup): a nice value, and SCHED_IDLE, then count only \
                  among the tasks of one session.",
    how_we_know: "oversleep sees when the thread enters a run queue and when it gets a CPU, and which tasks ran on that CPU \
                      in between, with their policies and priorities. It reads the shares of the groups of both when the wait \
                      ends.",
    what_to_do: "Keep the task that ran away from the program's CPUs, or let the program's threads go first.",
    sources: &["https://man7.org/linux/man-pages/man7/sched.7.html"],
    remedies: &[
        &RESTORE_PRIORITY,
        &RAISE_GROUP_WEIGHT,
        &SEPARATE_CPUS,
        &RUN_FIRST,
        &SWITCH_SOONER,
        &LIFT_REAL_TIME_THROTTLING,
        &FOLLOW_LESS,
        &FORBID_DEEP_IDLE,
    ],
    check: Check::Causes(run_queue),
}];

/// What helps where the task that ran goes first, where it goes after the thread, and where the thread itself goes last.
const FIRST: &[&RemedyEntry] = &[&SEPARATE_CPUS, &RUN_FIRST];
const ALONE: &[&RemedyEntry] = &[&SEPARATE_CPUS];
const SOONER: &[&RemedyEntry] = &[&SEPARATE_CPUS, &SWITCH_SOONER];
const OWN: &[&RemedyEntry] = &[&RESTORE_PRIORITY, &SEPARATE_CPUS];
const GROUP: &[&RemedyEntry] = &[&RAISE_GROUP_WEIGHT, &SEPARATE_CPUS];
const TIME_LEFT: &[&RemedyEntry] = &[&LIFT_REAL_TIME_THROTTLING, &SEPARATE_CPUS];
const LESS: &[&RemedyEntry] = &[&FOLLOW_LESS];
const AWAKE: &[&RemedyEntry] = &[&FORBID_DEEP_IDLE];

/// Why nobody is named who ran.
const MOVED: &str = "waits for a CPU and moves to another one meanwhile; when is not recorded (sched:sched_migrate_task), so \
                     nobody is named who ran";
/// The most tasks that a sentence names.
const NAMED_MAX: usize = 3;

fn run_queue(file: &ResultFile) -> Checked<Vec<Conclusion>> {
    let kinds = delayed_by(file, Part::Runq, "waiting for a CPU")?;
    // Where a thread goes last by its own policy or group, that is the cause, whoever went first.
    let (low, kinds): (Vec<Kind<'_>>, Vec<Kind<'_>>) =
        kinds.into_iter().partition(|kind| Own::of(file, kind).is_some());
    let low = by_cause(Part::Runq, &low, |kind: &Kind<'_>| {
        let total = u64::try_from(kind.sum(Part::Runq)).unwrap_or(u64::MAX);
        Own::of(file, kind)
            .map(|own| (own.instance(), total, kind.max(Part::Runq).unsigned_abs(), own))
            .into_iter()
            .collect()
    });
    let mut conclusions: Vec<Conclusion> = low.iter().map(|(cause, own)| behind_all(file, cause, own)).collect();
    let found = by_cause(Part::Runq, &kinds, |kind: &Kind<'_>| {
        let blames = kind.waits.by_blame().into_iter();
        blames.map(|blame| (culprit(kind, blame), blame.total_ns, blame.max_ns, blame)).collect()
    });
    conclusions.extend(found.iter().map(|(cause, blame)| behind(file, cause, blame)));
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
fn culprit(kind: &Kind<'_>, blame: &Blame) -> String {
    let policy = policy_words(blame.policy, blame.prio);
    let is_namesake = blame.whose != Whose::Own && blame.name == kind.identity.program && blame.tgid != 0;
    match kind.is_follower(blame) {
        true => OVERSLEEP.to_owned(),
        false if blame.is_idle_cpu() => IDLE_CPUS.to_owned(),
        false if blame.is_unknown_cpu() => UNKNOWN_CPUS.to_owned(),
        false if is_namesake => format!("another {} (process {}, {policy})", blame.name, blame.tgid),
        false => format!("{} ({policy})", blame.name),
    }
}

/// Threads that go last by their own policy or group.
fn behind_all(file: &ResultFile, cause: &Cause<'_, '_>, own: &Own<'_>) -> Conclusion {
    let (kind, max) = (cause.first(), cause.longest);
    let total = Nanos(i64::try_from(cause.total_ns).unwrap_or(i64::MAX));
    let blames: Vec<&Blame> = kind.waits.by_blame();
    let names: Vec<String> = blames.iter().take(NAMED_MAX).map(|blame| culprit(kind, blame)).collect();
    let rest = if blames.len() > NAMED_MAX { " and others" } else { "" };
    let found = cause.found(format!(
        "{} waits for a CPU because {}: {total} in all, {max} at most, while {}{rest} ran",
        kind.identity,
        own.because(kind),
        names.join(", ")
    ));
    let alone = "Or give this thread a CPU of its own (taskset, cpuset): then nobody goes first";
    let found = match own {
        Own::Policy(_) => restored(file, kind, found),
        Own::Group(weight) => {
            let (advice, command) = advice(weight);
            let found = found.rests_first_on("its own group", name(weight));
            found.cured_by(GROUP).advising(&RAISE_GROUP_WEIGHT, advice, Some(command))
        }
    };
    found.advising(&SEPARATE_CPUS, alone, None)
}

/// The conclusion with its remedy, for threads with such a policy.
fn restored(file: &ResultFile, kind: &Kind<'_>, found: Conclusion) -> Conclusion {
    let is_idle = matches!(kind.waits.policy, Some((SCHED_IDLE, _)));
    let found =
        found.rests_first_on("its own policy", policy_words(kind.waits.policy.map_or(0, |own| own.0), prio(kind)));
    let pid = pid(kind);
    let advice = match (has_ended(file), is_idle) {
        (true, true) => {
            "Start the program without SCHED_IDLE: no chrt -i, and no CPUSchedulingPolicy=idle in its unit".to_owned()
        }
        (true, false) if is_of_android(file) => {
            "Let it run at nice 0: an app sets that with android.os.Process.setThreadPriority".to_owned()
        }
        (true, false) => "Start the program at nice 0: without nice, and without Nice= in its unit".to_owned(),
        (false, true) => {
            format!("Give it an ordinary policy, and find what starts it with SCHED_IDLE: chrt -a -o -p 0 {pid}")
        }
        (false, false) => format!(
            "Give it an ordinary nice value, and find what starts it with another: renice -n 0 -p {pid} (needs CAP_SYS_NICE)"
        ),
    };
    let command = match (has_ended(file), is_idle) {
        (true, _) => None,
        (false, true) => Some(format!("# command\nchrt -a -o -p 0 {pid}")),
        (false, false) => Some(format!("# command\nrenice -n 0 -p {pid}")),
    };
    found.cured_by(OWN).advising(&RESTORE_PRIORITY, advice, command)
}

/// Whether all these threads may use one CPU only, on a machine with more.
fn is_confined(file: &ResultFile, cause: &Cause<'_, '_>) -> bool {
    let cpus = file.environment.integer(FactName::CpuCount);
    cpus.is_none_or(|cpus| cpus > 1) && cause.kinds.iter().all(|kind| kind.waits.cpus_allowed == Some(1))
}

fn prio(kind: &Kind<'_>) -> i32 {
    kind.waits.policy.map_or(NICE_0, |(_, prio)| prio)
}

/// The program that a cause delays most, by its name if there are others.
fn program(file: &ResultFile, cause: &Cause<'_, '_>) -> String {
    let first = &cause.first().identity.program;
    match kinds(file).iter().all(|kind| kind.identity.program == *first) {
        true => "this program".to_owned(),
        false => first.clone(),
    }
}

/// A process of these threads, for a command.
fn pid(kind: &Kind<'_>) -> String {
    // It is nobody's in a copy for others.
    if kind.waits.tgid == 0 { "PID".to_owned() } else { kind.waits.tgid.to_string() }
}

fn behind(file: &ResultFile, cause: &Cause<'_, '_>, blame: &Blame) -> Conclusion {
    let (own, all) = (Kept::of(&cause.kinds[..1], &cause.instance), Kept::of(&cause.kinds, &cause.instance));
    let name = &blame.name;
    if blame.is_idle_cpu() {
        return behind_idle(file, cause, &own, &all);
    }
    if blame.is_unknown_cpu() {
        let found = cause.found(format!("{} {MOVED}: {own}", cause.first().identity)).and(all.in_all(cause));
        return found.matters(Severity::Note).cured_by(&[]);
    }
    let pinned = if blame.is_pinned { ", pinned to this CPU" } else { "" };
    let apart = Apart::of(file, cause.first().waits.tgid, blame);
    let is_lower = blame.policy == SCHED_IDLE || blame.prio > NICE_0;
    let is_reserved = is_in_reserved_time(cause.first().waits, blame);
    let is_confined = is_confined(file, cause);
    let only = if is_confined { " on the only CPU that it may use" } else { "" };
    let when = if is_reserved { format!(", {RESERVED}") } else { String::new() };
    let place = apart.filter(|_| is_lower).map(|apart| {
        let what = if blame.policy == SCHED_IDLE { "policy" } else { "nice value" };
        format!(", whose {what} counts only within its own {}", apart.within())
    });
    let found = cause
        .found(format!(
            "{} waits for a CPU while {} runs{only}{}{when}: {own}",
            cause.first().identity,
            cause.instance,
            place.unwrap_or_default(),
        ))
        .and(all.in_all(cause))
        .rests_first_on(
            format!("{name} ({}{pinned})", policy_words(blame.policy, blame.prio)),
            format!("kept {} from a CPU, for {} in all", counted(all.count, "wait"), all.total()),
        );
    let stolen: u64 = cause.kinds.iter().map(|kind| kind.waits.steal_count).fold(0, u64::saturating_add);
    let found = match stolen {
        0 => found,
        count => found
            .rests_on("steal", format!("the hypervisor took time from these CPUs around {}", counted(count, "wait"))),
    };
    if cause.first().is_follower(blame) {
        return found.matters(Severity::Note).cured_by(LESS).advising(
            &FOLLOW_LESS,
            "This is the cost of following the program, and isn't there without oversleep. Run oversleep on another CPU, or \
             follow fewer processes",
            Some("# command, with the number of the CPU\ntaskset -c N oversleep why -p PID".to_owned()),
        );
    }
    if blame.policy == WINDOWS_POLICY {
        let program = program(file, cause);
        return behind_on_windows(file, found, blame, is_own(file, cause.first(), blame), &program);
    }
    if is_own(file, cause.first(), blame) {
        let (sentence, command) = match blame.is_pinned {
            _ if is_confined => (
                "Let the program use more CPUs: its threads share one (taskset, CPUAffinity= in its unit, its cpuset)"
                    .to_owned(),
                "# command, with the numbers of the CPUs\ntaskset -a -p -c N-M PID",
            ),
            true => (
                format!(
                    "Give {} another CPU than {name}, a thread of the program itself that is pinned to one",
                    cause.first().identity.thread
                ),
                "# command, with the number of the CPU and the id of the thread\ntaskset -cp N TID",
            ),
            false => (
                "Give the program more CPUs, or let fewer of its threads run at once: these are its own".to_owned(),
                "# command, with the numbers of the CPUs\ntaskset -c N-M ./app",
            ),
        };
        let command = match (is_recording(file), blame.is_pinned && !is_confined) {
            (false, _) => Some(command.to_owned()),
            (true, true) => move_threads(file, &cause.first().identity.thread),
            (true, false) => move_processes(file, &cause.first().identity.program),
        };
        return found.cured_by(ALONE).advising(&SEPARATE_CPUS, sentence, command);
    }
    if is_reserved {
        return found.cured_by(TIME_LEFT).advising(&LIFT_REAL_TIME_THROTTLING, leave_time(name), None);
    }
    let is_kernel = blame.whose == Whose::Kernel;
    let program = program(file, cause);
    let pin = match (is_kernel, blame.is_pinned) {
        _ if is_confined => format!(
            "Let {} use more than one CPU (taskset, CPUAffinity= in its unit, its cpuset), or keep {name} away from that one",
            cause.first().identity.thread
        ),
        (true, _) => format!(
            "Move {program} to another CPU (taskset -c): {name} is a thread of the kernel and stays where it is"
        ),
        (false, true) => format!("Pin {program} to another CPU (taskset -c): {name} is pinned to that one"),
        (false, false) => format!("Keep {name} away from {program}'s CPUs: taskset or a cpuset for either of them"),
    };
    let is_moved = !is_confined && !is_kernel && !blame.is_pinned;
    let found = found.advising(&SEPARATE_CPUS, pin, move_processes(file, name).filter(|_| is_moved));
    let priority = 99 - i64::from(blame.prio);
    let above = (priority + 1).clamp(1, 99);
    // A program that runs gets its policy from chrt -p; one that has ended is started with it.
    let (ended, pid) = (has_ended(file), pid(cause.first()));
    let first = |above: i64| match (is_recording(file), ended) {
        _ if is_of_android(file) => "an app sets that with android.os.Process.setThreadPriority".to_owned(),
        (true, _) => format!("chrt -f {above}"),
        (false, true) => format!("chrt -f {above} ./app"),
        (false, false) => format!("chrt -a -f -p {above} {pid}"),
    };
    let command = |above: i64| match is_recording(file) {
        true => raise_threads(file, &cause.first().identity.thread, above),
        false => Some(format!("# command\n{}", first(above))),
    };
    match blame.why {
        // Of two groups, neither has to give way at once.
        Why::NotYetPreempted if apart.is_none() => found.cured_by(SOONER),
        _ if blame.prio < 0 => found.cured_by(FIRST).advising(
            &RUN_FIRST,
            format!("Give {name} less run time, or another CPU: it goes before every other policy"),
            None,
        ),
        Why::HigherPolicy | Why::HigherPriority if blame.prio < FAIR => {
            let or = if is_kernel { String::new() } else { format!(", or {name} less") };
            found.cured_by(FIRST).advising(
                &RUN_FIRST,
                format!("Or give this thread more than priority {priority} ({}){or}", first(above)),
                command(above),
            )
        }
        Why::HigherPolicy | Why::HigherPriority | Why::TurnNotOver | Why::NotYetPreempted => {
            let or = match is_kernel {
                true => String::new(),
                false => format!(", or {}", go_last(file, cause.first().waits.tgid, blame)),
            };
            let needs = if is_of_android(file) { "" } else { " (needs CAP_SYS_NICE)" };
            found.cured_by(FIRST).advising(
                &RUN_FIRST,
                format!("Or let this thread go first: {}{needs}{or}", first(1)),
                command(1),
            )
        }
    }
}

/// Behind nobody: the CPU idled.
fn behind_idle(file: &ResultFile, cause: &Cause<'_, '_>, own: &Kept, all: &Kept) -> Conclusion {
    let found =
        cause.found(format!("{} waits until its CPU, which idled, has woken up: {own}", cause.first().identity));
    let found = found.and(all.in_all(cause));
    let who = if is_of_android(file) { "as root (an app can't), " } else { "" };
    let awake = format!(
        "Keep CPUs out of deep idle states: {who}hold /dev/cpu_dma_latency open with the longest latency that you accept, which \
         costs power"
    );
    found.cured_by(AWAKE).advising(&FORBID_DEEP_IDLE, awake, None)
}

/// Threads that waited for a CPU, with nobody seen on it.
fn behind_nobody(cause: &Cause<'_, '_>) -> Conclusion {
    let (kind, max) = (cause.first(), cause.longest);
    let why = match kind.waits.slack_bound_ns {
        Some(_) => "who ran instead was not seen",
        None => "less than half of it while another task was seen to run",
    };
    let found = cause.found(format!("{} waits for a CPU, for up to {max}: {why}", kind.identity));
    let by = match kind.waits.policy {
        Some((WINDOWS_POLICY, _)) => "SetThreadAffinityMask",
        _ => "taskset, cpuset",
    };
    found.cured_by(FIRST).advising(&SEPARATE_CPUS, format!("Give the thread a CPU of its own ({by})"), None)
}

#[cfg(test)]
mod tests;
