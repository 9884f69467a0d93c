//! A result to share: what the kernel did, without any names that users chose.
//!
//! It is built from an allow-list. Programs, threads and tasks become numbers, except the kernel's own.

use std::collections::BTreeMap;

use crate::calls::CALLS;
use crate::culprit::{ActivityKind, IrqCause};
use crate::findings;
use crate::group::Group;
use crate::recording::Meta;
use crate::summary::Summary;
use crate::wait::Wait;

/// Times are rounded down to the day, which is enough to tell results apart.
const DAY_S: i64 = 86_400;

/// Numbers for names, in the order of first use.
#[derive(Default)]
struct Aliases(BTreeMap<(&'static str, String), usize>);

impl Aliases {
    fn of(&mut self, kind: &'static str, name: &str) -> String {
        if let Some(name) = kernel_task(name) {
            return name;
        }
        let next = self.0.keys().filter(|(other, _)| *other == kind).count() + 1;
        let number = *self.0.entry((kind, name.to_owned())).or_insert(next);
        format!("{kind} {number}")
    }
}

/// The name of a kernel task, without what a driver or user may have added; `None` for other tasks.
fn kernel_task(name: &str) -> Option<String> {
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if let Some(rest) = name.strip_prefix("kworker/") {
        let place: String =
            rest.chars().take_while(|c| c.is_ascii_digit() || matches!(c, 'u' | 'R' | ':' | 'H')).collect();
        return Some(format!("kworker/{place}"));
    }
    if let Some(rest) = name.strip_prefix("irq/") {
        let number: String = rest.chars().take_while(char::is_ascii_digit).collect();
        return Some(format!("irq/{number}"));
    }
    const NUMBERED: [&str; 6] = ["swapper/", "ksoftirqd/", "migration/", "cpuhp/", "idle_inject/", "rcuc/"];
    const PLAIN: [&str; 8] =
        ["rcu_preempt", "rcu_sched", "kthreadd", "kcompactd0", "kswapd0", "khugepaged", "ksmd", "watchdogd"];
    let is_numbered = NUMBERED.iter().any(|prefix| name.strip_prefix(prefix).is_some_and(is_digits));
    (is_numbered || PLAIN.contains(&name)).then(|| name.to_owned())
}

/// A copy of the result to share, which reads like any result.
pub fn share(summary: &Summary) -> Summary {
    let mut names = Aliases::default();
    let groups = summary.groups.iter().map(|group| of_group(group, &mut names)).collect();
    let programs: Vec<&str> = summary.groups.iter().map(|group| group.key.program.as_str()).collect();
    let worst = summary.worst.iter().map(|wait| of_wait(wait, &programs, &mut names)).collect();
    let mut shared = Summary {
        meta: Meta {
            arch: summary.meta.arch,
            by: summary.meta.by,
            kernel: release(&summary.meta.kernel),
            target: if summary.meta.target.is_empty() { String::new() } else { "a program".to_owned() },
            taken_unix_s: summary.meta.taken_unix_s.map(|taken| taken.saturating_sub(taken.rem_euclid(DAY_S))),
            processes: Vec::new(),
        },
        groups,
        worst,
        findings: Vec::new(),
        ..summary.clone()
    };
    shared.findings = findings::of(&shared);
    shared
}

/// The numbers of a kernel release, without a name that its builder may have added.
fn release(kernel: &str) -> String {
    kernel.chars().take_while(|c| c.is_ascii_digit() || *c == '.').collect::<String>().trim_end_matches('.').to_owned()
}

fn of_group(group: &Group, names: &mut Aliases) -> Group {
    let mut shared = group.clone();
    shared.key.program = names.of("program", &group.key.program);
    // A thread named like its program stays named like it.
    shared.key.thread = thread(&group.key.thread, &group.key.program, names);
    shared.key.call = call(&group.key.call).unwrap_or_else(|| "unknown".to_owned());
    shared.key.timer = group.key.timer.as_deref().and_then(call);
    shared.tgid = 0;
    for blame in &mut shared.blames {
        blame.name = names.of("task", &blame.name);
        blame.tid = 0;
    }
    shared.irq_blames.iter_mut().for_each(|blame| blame.cause = cause(&blame.cause, names));
    shared
}

fn thread(name: &str, program: &str, names: &mut Aliases) -> String {
    if name == program { names.of("program", program) } else { names.of("thread", name) }
}

/// The name of a known call.
fn call(name: &str) -> Option<String> {
    let is_known = name == "timer" || CALLS.iter().any(|call| call.name == name);
    is_known.then(|| name.to_owned())
}

fn cause(cause: &IrqCause, names: &mut Aliases) -> IrqCause {
    match cause {
        // Device names may contain an address.
        IrqCause::Interrupt { number, ran_ns, .. } => {
            IrqCause::Interrupt { number: *number, name: "a device".to_owned(), ran_ns: *ran_ns }
        }
        IrqCause::Task { name, .. } => IrqCause::Task { tid: 0, name: names.of("task", name) },
        IrqCause::Softirq { .. } | IrqCause::Idle { .. } => cause.clone(),
    }
}

/// Moves a wait to a time line of its own, so that it doesn't reveal the machine's uptime.
fn of_wait(wait: &Wait, programs: &[&str], names: &mut Aliases) -> Wait {
    let mut shared = wait.clone();
    shared.call = wait.call.as_deref().and_then(call);
    shared.timer = wait.timer.as_deref().and_then(call);
    let origin = wait.marks.entered.unwrap_or(wait.deadline).min(wait.deadline);
    let moved = |t: &mut u64| *t = t.saturating_sub(origin);
    moved(&mut shared.deadline);
    moved(&mut shared.end);
    let marks = &mut shared.marks;
    for mark in [
        &mut marks.entered,
        &mut marks.soft,
        &mut marks.hard,
        &mut marks.rearmed,
        &mut marks.interrupt,
        &mut marks.fired,
        &mut marks.waking,
        &mut marks.wakeup,
        &mut marks.running,
        &mut marks.returned,
    ] {
        mark.iter_mut().for_each(moved);
    }
    (shared.tgid, shared.tid) = (0, 0);
    let kind = if programs.contains(&wait.thread.as_str()) { "program" } else { "thread" };
    shared.thread = names.of(kind, &wait.thread);
    for culprit in &mut shared.culprits {
        culprit.name = names.of("task", &culprit.name);
        (culprit.tid, culprit.tgid) = (0, 0);
        for turn in &mut culprit.turns {
            moved(&mut turn.from_ns);
            moved(&mut turn.to_ns);
        }
    }
    // The kernel's own functions are public; those of the program and of modules aren't.
    shared.stack.user.clear();
    for frame in &mut shared.stack.kernel {
        if frame.contains(['[', '(']) {
            "a module".clone_into(frame);
        }
    }
    shared.irq_cause = wait.irq_cause.as_ref().map(|found| cause(found, names));
    for activity in &mut shared.before_interrupt {
        if activity.what == ActivityKind::Interrupt {
            "a device".clone_into(&mut activity.name);
        }
        moved(&mut activity.span.from_ns);
        moved(&mut activity.span.to_ns);
    }
    shared
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_kernel_s_own_tasks_keep_their_names() {
        let mut names = Aliases::default();
        for (name, shared) in [
            ("kworker/1:2-secret_wq", "kworker/1:2"),
            ("kworker/u8:3+flush", "kworker/u8:3"),
            ("ksoftirqd/0", "ksoftirqd/0"),
            ("ksoftirqd/bob", "task 1"),
            ("irq/130-enx0012", "irq/130"),
            ("rcu_preempt", "rcu_preempt"),
            ("payroll", "task 2"),
            ("ksoftirqd/bob", "task 1"),
        ] {
            assert_eq!(names.of("task", name), shared);
        }
        assert_eq!(names.of("program", "payroll"), "program 1");
        assert_eq!(release("6.18.0-acme-prod-7"), "6.18.0");
    }
}
