//! Who is behind a part of the lateness, over all waits.

use std::collections::BTreeSet;

use oversleep_record::ResultFile;
use oversleep_record::observed::culprit::IrqCause;
use oversleep_record::part::Part;

use super::Cause;
use crate::observed::{IDLE_CPUS, Kind, NOBODY, SOME_GROUP, is_own};

/// Stands for all threads of the program.
const OWN: &str = "";

/// Someone or something, and how much of the part it explains.
pub(super) struct Who {
    pub name: String,
    pub total: i128,
}

/// Those who ran while the waits' threads waited for a CPU, or what came before their timer interrupts, by their totals: the
/// one that took most comes first.
pub(super) fn blamed(file: &ResultFile, kinds: &[Kind<'_>], part: Part) -> Vec<Who> {
    let mut all = Vec::new();
    let mut own = BTreeSet::new();
    for kind in kinds {
        if part != Part::Runq {
            kind.waits.irq_blames.iter().for_each(|of| add(&mut all, before(&of.cause), of.total_ns.into()));
            continue;
        }
        for blame in kind.waits.blames.iter().filter(|blame| !blame.is_unknown_cpu()) {
            let name = match &*blame.name {
                _ if kind.is_follower(blame) => "oversleep's own following",
                _ if blame.is_idle_cpu() => IDLE_CPUS,
                name if is_own(file, kind, blame) => {
                    own.insert(name);
                    OWN
                }
                name if name == kind.identity.program => {
                    add(&mut all, format!("another {name}"), blame.total_ns.into());
                    continue;
                }
                name => name,
            };
            add(&mut all, name.to_owned(), blame.total_ns.into());
        }
    }
    if let (Some(name), Some(who)) = (own.first(), all.iter_mut().find(|who| who.name == OWN)) {
        // A thread can't run instead of itself.
        let is_another = kinds.iter().all(|kind| kind.identity.thread != *name);
        who.name = match own.len() {
            1 if is_another => format!("its own thread {name}"),
            _ => "its own threads".to_owned(),
        };
    }
    sorted(all)
}

/// The instances that findings name for a part.
pub(super) fn by_instance(causes: &[Cause], part: Part) -> Vec<Who> {
    let mut all = Vec::new();
    for cause in causes.iter().filter(|cause| cause.part == Some(part)) {
        if let (Some(instance), Some(explained)) = (&cause.finding.instance, cause.finding.explained_ns)
            && ![NOBODY, SOME_GROUP].contains(&instance.as_str())
        {
            add(&mut all, instance.clone(), explained.0.into());
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

fn before(cause: &IrqCause) -> String {
    match cause {
        IrqCause::Interrupt { number, name, .. } if name.is_empty() => format!("interrupt {number}"),
        IrqCause::Interrupt { number, name, .. } => format!("interrupt {number} ({name})"),
        IrqCause::Softirq { name, .. } => format!("softirq {name}"),
        IrqCause::Idle { .. } => "idle CPUs".to_owned(),
        IrqCause::Steal => "the hypervisor".to_owned(),
        IrqCause::Task { .. } => "interrupts that were off, or the hypervisor".to_owned(),
    }
}
