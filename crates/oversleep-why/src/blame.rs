//! What tasks took from waits and periods, each task once.

use oversleep_record::observed::Blame;
use oversleep_record::observed::culprit::{Culprit, Whose};

/// Tasks that are told apart.
const BLAMES_MAX: usize = 64;

/// What a culprit took from one wait.
pub(crate) fn blame(culprit: &Culprit) -> Blame {
    let unknown = culprit.is_on_unknown_cpu().then(|| Blame::UNKNOWN_CPU.to_owned());
    let name = culprit.process.as_ref().filter(|_| culprit.whose != Whose::Own).unwrap_or(&culprit.name);
    Blame {
        name: unknown.unwrap_or_else(|| name.clone()),
        tgid: culprit.tgid,
        tid: culprit.tid,
        policy: culprit.policy,
        prio: culprit.prio,
        why: culprit.why,
        is_pinned: culprit.is_pinned,
        whose: culprit.whose,
        count: 1,
        total_ns: culprit.ran_ns,
        max_ns: culprit.ran_ns,
    }
}

/// Adds what a task took; those with the most time stay.
pub(crate) fn add_blame(blames: &mut Vec<Blame>, added: Blame) {
    let key = |blame: &Blame| (blame.policy, blame.prio, blame.whose == Whose::Own);
    let same = |blame: &&mut Blame| blame.name == added.name && key(blame) == key(&added);
    if let Some(blame) = blames.iter_mut().find(same) {
        blame.count = blame.count.saturating_add(added.count);
        blame.total_ns = blame.total_ns.saturating_add(added.total_ns);
        blame.max_ns = blame.max_ns.max(added.max_ns);
        return;
    }
    if blames.len() >= BLAMES_MAX {
        blames.sort_by_key(|blame| std::cmp::Reverse(blame.total_ns));
        blames.truncate(BLAMES_MAX / 2);
    }
    blames.push(added);
}
