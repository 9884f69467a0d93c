//! Waits of one kind together: one program, thread name, call and request.

use std::collections::BTreeMap;

use oversleep_record::Distribution;
use serde::{Deserialize, Serialize};

use crate::culprit::{Culprit, IrqCause, Why};
use crate::part::Part;
use crate::wait::{Outcome, Request, Wait};

/// What waits of one group have in common.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Key {
    /// The program's name.
    pub program: String,
    /// The thread's name.
    pub thread: String,
    /// The call, `unknown` where it wasn't seen.
    pub call: String,
    /// The call that set the timer, where that isn't the wait itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timer: Option<String>,
    /// How the request was stated.
    pub request: Request,
    /// The request to two digits; `None` where it wasn't seen or requests differ too much.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requested_ns: Option<u64>,
}

impl Key {
    /// The group of a wait of that program.
    pub fn of(wait: &Wait, program: &str) -> Key {
        Key {
            program: program.to_owned(),
            thread: wait.thread.clone(),
            call: wait.call.clone().unwrap_or_else(|| "unknown".to_owned()),
            timer: wait.timer.clone(),
            request: wait.request,
            requested_ns: wait.requested_ns.map(two_digits),
        }
    }
}

impl Group {
    /// Whether a wait of that program is of this group.
    pub fn is_of(&self, wait: &Wait, program: &str) -> bool {
        let key = &self.key;
        key.program == program
            && key.thread == wait.thread
            && key.call == wait.call.as_deref().unwrap_or("unknown")
            && key.timer == wait.timer
            && key.request == wait.request
            && key.requested_ns == wait.requested_ns.map(two_digits)
    }
}

/// Rounded to two digits: what varies below that is the same request.
fn two_digits(ns: u64) -> u64 {
    let mut unit = 1u64;
    while ns / unit >= 100 {
        unit *= 10;
    }
    ns.saturating_add(unit / 2) / unit * unit
}

/// What one task took from the waits of a group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Blame {
    /// Its name.
    pub name: String,
    /// One of its threads.
    pub tid: u32,
    /// Its policy, as the kernel numbers it.
    pub policy: u32,
    /// Its priority as the kernel orders it: smaller goes first.
    pub prio: i32,
    /// Why it was allowed to run.
    pub why: Why,
    /// It may use one CPU only.
    pub is_pinned: bool,
    /// How many waits it kept waiting.
    pub count: u64,
    /// For how long in all.
    pub total_ns: u64,
    /// For how long at most.
    pub max_ns: u64,
}

/// What made timer interrupts late.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct IrqBlame {
    /// The cause of the longest.
    pub cause: IrqCause,
    /// How many waits it delayed.
    pub count: u64,
    /// For how long in all.
    pub total_ns: u64,
    /// For how long at most.
    pub max_ns: u64,
}

/// Tasks and interrupts named in one group; those with the most time stay.
const BLAMES_MAX: usize = 64;

/// Waits of one kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Group {
    /// What they have in common.
    pub key: Key,
    /// Waits that ended by their timer, each with all its parts.
    pub count: u64,
    /// Of these, waits with nothing unattributed.
    pub attributed_count: u64,
    /// Waits that ended for another reason.
    pub otherwise: BTreeMap<Outcome, u64>,
    /// Lateness of those that ended by their timer, in ns.
    pub lateness: Distribution,
    /// Each part of it, in ns; parts that were always 0 are missing.
    pub parts: BTreeMap<Part, Distribution>,
    /// Total of each part.
    pub total_ns: BTreeMap<Part, i64>,
    /// How late the calls themselves were made, where the deadline had passed already, in ns.
    pub called_late: Distribution,
    /// Who ran instead.
    pub blames: Vec<Blame>,
    /// What came before the timer interrupt.
    pub irq_blames: Vec<IrqBlame>,
    /// The threads' policy and priority, as last seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<(u32, i32)>,
    /// How long timer slack allowed their timers to expire late at most, if the timers themselves were not seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slack_bound_ns: Option<u64>,
    /// Waits around which the hypervisor took time.
    pub steal_count: u64,
    /// A process of the group.
    pub tgid: u32,
}

impl Group {
    /// An empty group.
    pub fn new(key: Key, tgid: u32) -> Group {
        Group {
            key,
            count: 0,
            attributed_count: 0,
            otherwise: BTreeMap::new(),
            // There may be hundreds of groups with a dozen of them each.
            lateness: Distribution::growing(),
            parts: BTreeMap::new(),
            total_ns: BTreeMap::new(),
            called_late: Distribution::growing(),
            blames: Vec::new(),
            irq_blames: Vec::new(),
            policy: None,
            slack_bound_ns: None,
            steal_count: 0,
            tgid,
        }
    }

    /// Adds a wait.
    pub fn add(&mut self, wait: &Wait) {
        if wait.outcome != Outcome::Timer {
            *self.otherwise.entry(wait.outcome).or_default() += 1;
            return;
        }
        self.count += 1;
        self.attributed_count += u64::from(wait.is_attributed());
        self.steal_count += u64::from(wait.steal_ns != 0);
        self.lateness.record(wait.lateness_ns);
        // Both have the same parts in the same order.
        for ((&part, values), total) in self.parts.iter_mut().zip(self.total_ns.values_mut()) {
            let ns = wait.parts.get(part);
            values.record(ns);
            *total = total.saturating_add(ns);
        }
        for (part, ns) in wait.parts.iter().filter(|&(_, ns)| ns != 0) {
            if !self.parts.contains_key(&part) {
                // A part that appears later was 0 before.
                let mut values = Distribution::growing();
                values.record_times(0, self.count - 1);
                values.record(ns);
                self.parts.insert(part, values);
                self.total_ns.insert(part, ns);
            }
        }
        if wait.called_late_ns != 0 {
            self.called_late.record(crate::wait::signed(wait.called_late_ns));
        }
        self.policy = wait.policy.zip(wait.prio).or(self.policy);
        self.slack_bound_ns = self.slack_bound_ns.max(wait.slack_bound_ns);
        for culprit in &wait.culprits {
            self.blame(culprit);
        }
        if let Some(cause) = &wait.irq_cause {
            self.blame_irq(cause, wait.parts.irq.max(0) as u64);
        }
    }

    fn blame(&mut self, culprit: &Culprit) {
        let same = |blame: &&mut Blame| {
            (&blame.name, blame.policy, blame.prio) == (&culprit.name, culprit.policy, culprit.prio)
        };
        if let Some(blame) = self.blames.iter_mut().find(same) {
            blame.count += 1;
            blame.total_ns = blame.total_ns.saturating_add(culprit.ran_ns);
            blame.max_ns = blame.max_ns.max(culprit.ran_ns);
            return;
        }
        if self.blames.len() >= BLAMES_MAX {
            self.blames.sort_by_key(|blame| std::cmp::Reverse(blame.total_ns));
            self.blames.truncate(BLAMES_MAX / 2);
        }
        self.blames.push(Blame {
            name: culprit.name.clone(),
            tid: culprit.tid,
            policy: culprit.policy,
            prio: culprit.prio,
            why: culprit.why,
            is_pinned: culprit.is_pinned,
            count: 1,
            total_ns: culprit.ran_ns,
            max_ns: culprit.ran_ns,
        });
    }

    fn blame_irq(&mut self, cause: &IrqCause, ns: u64) {
        if let Some(blame) = self.irq_blames.iter_mut().find(|blame| is_same(&blame.cause, cause)) {
            blame.count += 1;
            blame.total_ns = blame.total_ns.saturating_add(ns);
            if ns > blame.max_ns {
                (blame.max_ns, blame.cause) = (ns, cause.clone());
            }
            return;
        }
        if self.irq_blames.len() >= BLAMES_MAX {
            self.irq_blames.sort_by_key(|blame| std::cmp::Reverse(blame.total_ns));
            self.irq_blames.truncate(BLAMES_MAX / 2);
        }
        self.irq_blames.push(IrqBlame { cause: cause.clone(), count: 1, total_ns: ns, max_ns: ns });
    }

    /// A part's share of all lateness that is above zero.
    pub fn share(&self, part: Part) -> f64 {
        let above = |part| self.total_ns.get(part).copied().unwrap_or(0).max(0) as f64;
        let all: f64 = Part::ALL.iter().map(above).sum();
        if all == 0.0 { 0.0 } else { above(&part) / all }
    }

    /// The median of a part.
    pub fn p50(&self, part: Part) -> i64 {
        self.parts.get(&part).and_then(Distribution::p50).unwrap_or(0)
    }

    /// The p99 of a part.
    pub fn p99(&self, part: Part) -> i64 {
        self.parts.get(&part).and_then(Distribution::p99).unwrap_or(0)
    }

    /// Waits that ended for another reason than their timer.
    pub fn otherwise_count(&self) -> u64 {
        self.otherwise.values().fold(0, |sum, &count| sum.saturating_add(count))
    }

    /// The task that took most.
    pub fn worst_blame(&self) -> Option<&Blame> {
        self.blames.iter().max_by_key(|blame| blame.total_ns)
    }

    /// What delayed the timer interrupt most.
    pub fn worst_irq(&self) -> Option<&IrqBlame> {
        self.irq_blames.iter().max_by_key(|blame| blame.total_ns)
    }
}

fn is_same(one: &IrqCause, other: &IrqCause) -> bool {
    match (one, other) {
        (IrqCause::Interrupt { number: a, .. }, IrqCause::Interrupt { number: b, .. }) => a == b,
        (IrqCause::Softirq { name: a, .. }, IrqCause::Softirq { name: b, .. }) => a == b,
        (IrqCause::Idle { state: a }, IrqCause::Idle { state: b }) => a == b,
        (IrqCause::Task { name: a, .. }, IrqCause::Task { name: b, .. }) => a == b,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use crate::culprit::IrqCause;

    #[test]
    fn causes_are_the_same_by_what_they_are_not_by_how_long_they_took() {
        let causes = |n: u32, name: &str| {
            let (name, ran_ns) = (name.to_owned(), u64::from(n));
            [
                IrqCause::Interrupt { number: n, name: name.clone(), ran_ns },
                IrqCause::Softirq { name: name.clone(), ran_ns },
                IrqCause::Idle { state: n },
                IrqCause::Task { tid: n, name },
            ]
        };
        let same = |one: &[IrqCause; 4], other: &[IrqCause; 4]| -> [[bool; 4]; 4] {
            std::array::from_fn(|a| std::array::from_fn(|b| super::is_same(&one[a], &other[b])))
        };
        let alike = |kinds: [bool; 4]| -> [[bool; 4]; 4] {
            std::array::from_fn(|a| std::array::from_fn(|b| a == b && kinds[a]))
        };
        assert_eq!(same(&causes(1, "a"), &causes(1, "a")), alike([true; 4]));
        assert_eq!(same(&causes(1, "a"), &causes(2, "a")), alike([false, true, false, true]));
        assert_eq!(same(&causes(1, "a"), &causes(1, "b")), alike([true, false, true, false]));
    }

    #[test]
    fn requests_are_the_same_to_two_digits() {
        assert_eq!([997_834, 1_234_567, 99, 50_000, 0].map(super::two_digits), [1_000_000, 1_200_000, 99, 50_000, 0]);
    }
}
