//! Who is behind a part of the lateness, over all waits.

use oversleep_record::observed::culprit::IrqCause;
use oversleep_record::part::Part;

use super::Cause;
use crate::observed::{Kind, NOBODY, OVERSLEEP};

/// Someone or something, and how much of the part it explains.
pub(super) struct Who {
    pub name: String,
    pub total: i128,
}

/// Those who ran while the waits' threads waited for a CPU, or what came before their timer interrupts, by their totals: the
/// one that took most comes first.
pub(super) fn blamed(kinds: &[Kind<'_>], part: Part) -> Vec<Who> {
    let mut all = Vec::new();
    for kind in kinds {
        match part {
            Part::Runq => {
                kind.waits.blames.iter().for_each(|of| add(&mut all, task(kinds, &of.name), of.total_ns.into()))
            }
            _ => kind.waits.irq_blames.iter().for_each(|of| add(&mut all, before(&of.cause), of.total_ns.into())),
        }
    }
    sorted(all)
}

/// The instances that findings name for a part.
pub(super) fn by_instance(causes: &[Cause], part: Part) -> Vec<Who> {
    let mut all = Vec::new();
    for cause in causes.iter().filter(|cause| cause.part == Some(part)) {
        if let (Some(instance), Some(explained)) = (&cause.finding.instance, cause.finding.explained_ns)
            && instance != NOBODY
        {
            let name = if part == Part::Quota { format!("that of {instance}") } else { instance.clone() };
            add(&mut all, name, explained.0.into());
        }
    }
    sorted(all)
}

fn add(all: &mut Vec<Who>, name: String, total: i128) {
    match all.iter_mut().find(|who| who.name == name) {
        Some(who) => who.total = who.total.saturating_add(total),
        None => all.push(Who { name, total }),
    }
}

fn sorted(mut all: Vec<Who>) -> Vec<Who> {
    all.retain(|who| who.total > 0);
    all.sort_by(|a, b| b.total.cmp(&a.total).then_with(|| a.name.cmp(&b.name)));
    all
}

/// A task as a verdict calls it: threads of the program itself are one, and oversleep is no foreign program.
fn task(kinds: &[Kind<'_>], name: &str) -> String {
    let is_own = |kind: &Kind<'_>| kind.identity.thread == name || kind.identity.program == name;
    match name {
        OVERSLEEP => "oversleep itself, which follows these waits".to_owned(),
        _ if kinds.iter().any(is_own) => "the program's own threads".to_owned(),
        name => name.to_owned(),
    }
}

fn before(cause: &IrqCause) -> String {
    match cause {
        IrqCause::Interrupt { number, name, .. } => format!("interrupt {number} ({name})"),
        IrqCause::Softirq { name, .. } => format!("softirq {name}"),
        IrqCause::Idle { .. } => "idle CPUs".to_owned(),
        IrqCause::Task { .. } => "interrupts that were off, or the hypervisor".to_owned(),
    }
}

/// The name of a task, without its policy: `burst` of `burst (SCHED_FIFO, priority 50)`.
pub(super) fn name(instance: &str) -> &str {
    instance.split(" (").next().unwrap_or(instance)
}
